"""The study of touchdowns, on touchdowns that are made up and on short runs."""

import numpy as np
import pytest
import yaml
from pytest import approx

from robots.conventions import FOOT_NAMES
from saltation.impacts.surface_cosines import surface_cosines
from studies.a1 import a1_touchdown
from studies.a1.a1_touchdown import Touchdowns, measure, outcomes_of, spread_of
from studies.study import StudyOptions
from tests.a1 import A1, STAND

DROP = np.concatenate(([0.3, 0.1, -0.5, 0.8, -0.6, 0.2], np.zeros(12)))


def touchdowns(*landings, standing=None, v=None):
    """Feet that come down at 0.5 m/s; those that stand are named, or all others."""
    count = len(landings)
    if v is None:
        v = np.zeros(18)
        v[2], v[3] = -0.5, 0.2
    landing = np.array([[float(foot in feet) for foot in FOOT_NAMES] for feet in landings])
    on_ground = 1.0 - landing
    if standing is not None:
        on_ground = np.array([[float(foot in standing) for foot in FOOT_NAMES]] * count)
    q, v = np.tile(STAND, (count, 1)), np.tile(v, (count, 1))
    return Touchdowns(np.arange(float(count)), q, v, landing, on_ground)


def dropped(landing, standing=()):
    found = touchdowns(landing, standing=standing, v=DROP)
    outcomes = outcomes_of(A1, found, 0, 64)
    return outcomes, spread_of(outcomes, DROP, found.landing[0])


def test_every_outcome_has_ended_and_none_gained_energy():
    outcomes, spread = dropped(FOOT_NAMES)
    problem = outcomes.problem
    assert outcomes.ended == 1.0 and len(outcomes.v_plus) == 64
    assert (outcomes.v_plus @ problem.J_n.T).min() > -1e-8
    assert max(map(problem.kinetic_energy, outcomes.v_plus)) < problem.kinetic_energy(DROP)
    assert outcomes.energy_growth < 1e-9 < spread["spread_m_s"]
    assert 0.0 < spread["spread_kinetic"] < 1.0


def test_s_is_of_a_foot_that_lands_and_one_foot_has_nearly_one_outcome():
    outcomes, pair = dropped(("FR",), ("FL", "RL"))
    problem = outcomes.problem
    cosines = surface_cosines(problem.M, problem.J_n)[problem.contacts.index("FR")]
    assert abs(pair["s"]) == approx(np.sort(np.abs(cosines))[-2])  # the largest is its own, 1
    (_, one), (_, four) = dropped(("FR",)), dropped(FOOT_NAMES)
    assert np.isnan(one["s"])
    assert four["spread_m_s"] > 0.02 * four["jump_m_s"]
    assert one["spread_m_s"] < 0.1 * four["spread_m_s"]


@pytest.fixture(scope="module")
def found():
    runs = yaml.safe_load("""
        walk: [[FR], [RL]]
        trot: [[FR, RL]]
        bound: [[FR, FL], [RR, RL], [FR]]
    """)
    return [each for gait, landings in runs.items()
            for each in measure(A1, gait, touchdowns(*landings), 32, StudyOptions())]  # fmt: skip


def test_a_row_for_each_gait_and_kind_of_touchdown(found):
    rows = a1_touchdown.rows_of(found)
    kinds = [f"{row['gait']}: {row['landing']} {row['touchdowns']}" for row in rows]
    assert kinds == [
        "walk: one foot 2", "trot: diagonal pair 1", "bound: front pair 1", "bound: one foot 1",
        "bound: rear pair 1",
    ]  # fmt: skip
    assert all(row["ended"] == 1.0 and row["energy_growth"] < 1e-9 for row in rows)
    assert all(0.0 < abs(row["s"]) < 0.5 for row in rows)
    assert all(0.0 < row["spread_m_s"] <= row["spread_max_m_s"] < row["jump_m_s"] for row in rows)
