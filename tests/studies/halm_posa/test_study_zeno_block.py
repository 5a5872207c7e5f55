"""The rocking block's infinitely many impacts: simulation, closed form, and the inclusion (53)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from studies.halm_posa import zeno_block
from studies.halm_posa.systems.rocking_block import FRICTION, corners
from studies.halm_posa.zeno_block import (
    RATE_RATIO,
    accumulation,
    rock,
    trajectory,
)
from studies.runner import PRINTED
from studies.study import StudyOptions


@pytest.fixture(scope="module")
def rocked():
    return rock(1.0, 30)


def test_the_closed_form_is_the_papers():
    assert approx(0.7, abs=1e-15) == RATE_RATIO  # (68)
    (printed,) = PRINTED["zeno-block"]
    time, s = accumulation(1.0)
    assert time == approx(printed["time"], abs=0.005) and s == approx(printed["s"], abs=0.05)


def test_the_held_corner_stays_and_friction_can_hold_it(rocked):
    impacts, run = rocked
    for event in run.events:
        assert np.abs(corners(event.state_before[:3])[:, 1]).max() < 1e-10
    assert max(impact["friction_used"] for impact in impacts) < FRICTION


def test_trajectory_is_a_solution_of_the_inclusion(rocked):
    impacts, run = rocked
    found = trajectory(run, samples=200)
    assert np.all(np.diff(found.s) >= 0.0) and np.all(np.diff(found.t) >= 0.0)
    # x(s) is continuous: no state jumps where s does not run, until the block is put to rest
    jumps = np.abs(np.diff(found.rate))[:-1]
    assert jumps[:-1][np.diff(found.s)[:-2] < 1e-12].max() < 1e-9
    assert jumps[-1] == abs(impacts[-1]["rate"])
    # time and impulses share s: the rates are a convex combination (52)
    assert_allclose(found.time_rate + found.impulse_rates.sum(axis=1), 1.0, rtol=1e-12)
    assert found.time_rate.min() >= 0.0 and found.impulse_rates.min() >= 0.0
    # and the rates are those of the samples
    ds = np.diff(found.s)
    middle = 0.5 * (found.time_rate[1:] + found.time_rate[:-1])
    assert_allclose((middle * ds)[ds > 0.0], np.diff(found.t)[ds > 0.0], atol=1e-6)


def test_the_study_meets_its_criteria_where_it_has_enough_impacts():
    result = zeno_block.run.run(StudyOptions(), 24)
    *cycles, total = result.rows
    assert [row["half_cycle"] for row in cycles] == list(range(1, 25))
    assert "".join(row["corner"] for row in cycles) == "BA" * 12
    assert all(row["time_error"] < 1e-6 and row["s_error"] < 1e-6 for row in cycles)
    assert all(each.met for each in result.criteria)
    assert total["half_cycle"] == "accumulation"
    assert set(result.figures) == {"figure-8"}
    assert not all(each.met for each in zeno_block.run.run(StudyOptions(), 3).criteria)
