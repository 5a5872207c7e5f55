"""How far the outcomes of a touchdown lie apart."""

import numpy as np
import pytest

from robots.conventions import FOOT_NAMES
from robots.impact_problem import contact_problem
from robots.pinocchio_model import load_pinocchio
from saltus.metrics.touchdown_spread import (
    cosines_of,
    largest_distance,
    ordered_outcomes,
    outcomes_of,
    spread_of,
    stopping_impulse,
)
from saltus.metrics.touchdowns import Touchdowns
from tests.a1 import A1

MODEL = load_pinocchio(A1)
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
    assert 0.0 < spread.rms < spread.base and 0.0 < spread.kinetic < 1.0


def test_outcomes_scale_with_the_velocity():
    """Impacts know no scale of speed: base and jump do, the kinetic measure does not."""
    (_, one), (_, twice) = (measure(("FR", "RL"), v=c * DROP) for c in (1.0, 2.0))
    for name in ("base", "rms", "jump", "approach"):
        assert getattr(twice, name) == pytest.approx(2.0 * getattr(one, name), rel=1e-6)
    assert twice.kinetic == pytest.approx(one.kinetic, rel=1e-6)
    assert twice.cosine == pytest.approx(one.cosine)


def test_feet_that_go_up_have_one_outcome():
    outcomes, spread = measure(FOOT_NAMES, v=-DROP * (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, *[0.0] * 12))
    assert len(outcomes.v_plus) == 1 and outcomes.ended == 1.0
    assert spread.base == spread.rms == spread.jump == spread.approach == 0.0


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
    assert abs(pair.cosine) == pytest.approx(
        max(abs(s) for feet, s in pair.pairs.items() if "FR" in feet)
    )
    _, alone = measure(("FR",))
    assert np.isnan(alone.cosine) and not alone.pairs


def test_one_foot_has_one_outcome_and_four_have_many():
    """A single impact is nearly one path, whatever its steps."""
    (_, one), (_, four) = measure(("FR",)), measure(FOOT_NAMES)
    assert four.base > 0.02 * four.jump
    assert one.base < 0.1 * four.base


def test_the_stopping_impulse_stops_the_foot_that_needs_most():
    problem = contact_problem(A1, STAND, FOOT_NAMES)
    impulse = stopping_impulse(problem, DROP)
    after = [problem.J_n[i] @ (DROP + np.linalg.solve(problem.M, problem.J_n[i] * impulse))
             for i in range(4)]  # fmt: skip
    assert min(after) == pytest.approx(0.0, abs=1e-12)


def test_impacts_one_after_another_lie_near_the_samples():
    outcomes, _ = measure(("FR", "FL"), samples=512)
    ordered = ordered_outcomes(outcomes.problem, DROP)
    assert ordered.shape == (2, 18) and largest_distance(ordered) > 0.0
    size = outcomes.problem.kinetic_norm(DROP)
    for v_plus in ordered:
        distances = [outcomes.problem.kinetic_norm(v_plus - v) for v in outcomes.v_plus]
        assert min(distances) < 0.02 * size


@pytest.mark.parametrize("count", [1, 2, 300])
def test_the_largest_distance_is_that_of_all_pairs(count):
    points = np.random.default_rng(count).normal(size=(count, 3))
    expected = max(np.linalg.norm(points - point, axis=1).max() for point in points)
    assert largest_distance(points) == pytest.approx(expected)


def test_no_foot_is_refused_by_name():
    with pytest.raises(ValueError, match="A1 on no foot"):
        outcomes_of(A1, touchdown(()), 0, 8)
