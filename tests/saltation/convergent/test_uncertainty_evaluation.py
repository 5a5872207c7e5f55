"""Circles of points that obey one robot's commands: closed forms, and the thesis's (2.4)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from saltation.convergent import power_controller
from saltation.convergent.compiled_hill import compiled_hill
from saltation.convergent.evaluation import TOLERANCE, Uncertainty, evaluate, trace
from saltation.convergent.hill import SINE_HILL, Hill
from saltation.convergent.hill_path import HillPath, HillProblem, checked, no_path
from saltation.convergent.uncertainty_kernel import command, felt

powers = st.floats(0.0, 2.0)
places = st.tuples(st.floats(-2.0, 2.0), st.floats(0.0, 2.5)).map(np.array)


def bowl(x, y):
    return 0.5 * (x * x + y * y), x, y, 1.0, 0.0, 1.0


BOWL = Hill("bowl", bowl, (-2.0, 2.0), (0.0, 2.5))


def path_of(positions, powers):
    positions = np.array(positions, dtype=float)
    return HillPath("ok", positions, np.broadcast_to(powers, len(positions) - 1).astype(float))


def problem_of(path, hill=SINE_HILL):
    return HillProblem(path.positions[0], path.positions[-1], hill=hill)


@given(here=places, there=places, v=places, p=powers)
def test_points_do_what_the_power_controller_does(here, there, v, p):
    """(2.6) with the theta and alpha that were chosen at the nominal."""
    v = v - [0.0, 1.25]
    hill = compiled_hill(SINE_HILL)
    found = felt(hill, command(hill, *here, *v), p, *there)
    _, *nominal = SINE_HILL.at(*here)[:3]
    theta, alpha = power_controller.heading(*nominal, *v, p)
    _, *gradient = SINE_HILL.at(*there)[:3]
    expected = power_controller.velocity(*gradient, theta, alpha, p)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-13)


@given(start=places, end=places, radius=st.floats(0.01, 1.0))
def test_in_a_bowl_points_turn_and_grow_with_the_nominal(start, end, radius):
    """With p = 0, x' = M x: as complex numbers, M = v / x, so all are x(t) / x(0) times theirs."""
    start, end = start + [0.0, 0.5], end + [0.0, 0.5]  # not through the bottom
    path = path_of([start, end], 0.0)
    uncertainty = Uncertainty(7, radius)
    found = evaluate(problem_of(path, BOWL), path, uncertainty)
    ratio = complex(*end) / complex(*start)
    assert found.status == "ok"
    assert_allclose(found.area_ratio, abs(ratio) ** 2, rtol=TOLERANCE)
    assert_allclose(found.distance_ratio, abs(ratio), rtol=TOLERANCE)
    before = (start + uncertainty.circle(problem_of(path))) @ [1.0, 1j]
    assert_allclose(found.end_points @ [1.0, 1j], ratio * before, atol=1e-5)


def test_ends_that_give_no_ratio_say_why():
    problem = HillProblem([1.0, 1.0], [-1.0, -1.0], hill=BOWL)
    lost = evaluate(problem, no_path("infeasible", "average convergence at waypoint 3"))
    assert lost.status == "no_path" and "waypoint 3" in lost.message
    assert trace(problem, no_path("infeasible", "")).shape == (0, 40, 2)
    level = evaluate(problem, path_of([[1.0, 1.0], [0.0, 0.0], [-1.0, -1.0]], 1.0))
    assert level.status == "not_finite" and "level" in level.message
    assert np.isnan(level.area_ratio)
    close = evaluate(problem, path_of([[1.0, 1e-7], [-1.0, 1e-7]], 1.0))
    assert close.status == "inaccurate" and "still change" in close.message


@pytest.mark.parametrize("positions, powers", [
    (np.zeros((5, 2)), np.zeros(3)), (np.zeros((5, 3)), np.zeros(4)), (np.zeros((0, 2)), []),
    (np.full((5, 2), np.nan), np.zeros(4)), ("here", np.zeros(4)),
])  # fmt: skip
def test_paths_that_are_none_are_refused(positions, powers):
    """The kernel would read and write past their ends."""
    with pytest.raises(ValueError, match="path: "):
        checked(HillPath("ok", positions, np.array(powers)))
