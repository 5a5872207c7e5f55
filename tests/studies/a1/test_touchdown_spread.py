"""How far the outcomes of a touchdown lie apart."""

import numpy as np
import pytest

from robots.conventions import FOOT_NAMES
from robots.impact_problem import contact_problem
from saltus.metrics.touchdowns import Touchdowns
from studies.a1.a1_touchdown import cosines_of, outcomes_of, spread_of
from tests.a1 import A1

STAND = np.concatenate(([0.0, 0.0, A1.stand_height, 0.0, 0.0, 0.0, 1.0], A1.stand))
DROP = np.concatenate(([0.3, 0.1, -0.5, 0.8, -0.6, 0.2], np.zeros(12)))


def touchdown(landing, standing=(), v=DROP) -> Touchdowns:
    masks = ([[float(foot in feet) for foot in FOOT_NAMES]] for feet in (landing, standing))
    return Touchdowns(np.zeros(1), STAND[None], v[None], *(np.array(mask) for mask in masks))


def measure(landing, standing=(), v=DROP, samples=64):
    found = touchdown(landing, standing, v)
    outcomes = outcomes_of(A1, found, 0, samples)
    return outcomes, spread_of(outcomes, v, found.landing[0])


def test_every_outcome_has_ended_and_none_gained_energy():
    outcomes, spread = measure(FOOT_NAMES)
    problem = outcomes.problem
    assert outcomes.ended == 1.0 and len(outcomes.v_plus) == 64
    assert (outcomes.v_plus @ problem.J_n.T).min() > -1e-8
    energies = [problem.kinetic_energy(v) for v in outcomes.v_plus]
    assert max(energies) < problem.kinetic_energy(DROP) and outcomes.energy_growth < 1e-9
    assert 0.0 < spread["rms_m_s"] < spread["spread_m_s"] and 0.0 < spread["spread_kinetic"] < 1.0


def test_s_is_the_normals_cosine_in_the_kinetic_metric():
    problem = contact_problem(A1, STAND, ("RL", "FR", "FL"))
    found = cosines_of(problem)
    assert list(found) == [("FR", "FL"), ("FR", "RL"), ("FL", "RL")]  # named in the feet's order
    u, v = problem.J_n[1], problem.J_n[0]
    inverse = np.linalg.inv(problem.M)
    s = u @ inverse @ v / np.sqrt((u @ inverse @ u) * (v @ inverse @ v))
    assert found["FR", "RL"] == pytest.approx(s, rel=1e-9)


def test_the_cosine_of_a_touchdown_is_of_a_foot_that_lands():
    _, pair = measure(("FR",), ("FL", "RL"))
    assert abs(pair["s"]) == pytest.approx(
        max(abs(s) for feet, s in pair["pairs"].items() if "FR" in feet)
    )
    _, alone = measure(("FR",))
    assert np.isnan(alone["s"]) and not alone["pairs"]


def test_one_foot_has_one_outcome_and_four_have_many():
    """A single impact is nearly one path, whatever its steps."""
    (_, one), (_, four) = measure(("FR",)), measure(FOOT_NAMES)
    assert four["spread_m_s"] > 0.02 * four["jump_m_s"]
    assert one["spread_m_s"] < 0.1 * four["spread_m_s"]
