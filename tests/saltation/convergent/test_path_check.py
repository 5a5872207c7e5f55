"""Paths checked anew: what is violated is named, with its waypoint."""

import numpy as np
import pytest

from saltation.convergent.hill_path import HillPath, HillProblem
from saltation.convergent.path_check import step_divergence, violation

START, GOAL = np.array([-0.9, 0.4]), np.array([-0.2, 0.7])


def straight():
    return HillPath("ok", np.linspace(START, GOAL, 30), np.ones(29))


def moved(path, waypoint, by):
    positions = path.positions.copy()
    positions[waypoint] += by
    return path._replace(positions=positions)


def test_what_is_missed_most_is_named_with_its_waypoint():
    problem, path = HillProblem(START, GOAL), straight()
    assert violation(problem, moved(path, 7, [0.0, -1.0])).startswith("y on the map: missed by")
    assert violation(problem, moved(path, 7, [-3.0, 0.0])).endswith("at waypoint 7")
    assert violation(problem, moved(path, 0, [0.0, 0.01])).startswith("start: missed by 1.0e-02")
    assert (
        violation(problem, moved(path, -1, [0.06, 0.0])) == "goal: missed by 1.0e-02 at waypoint 29"
    )
    assert "x on the map: missed by inf" in violation(problem, moved(path, 7, [np.nan, 0.0]))
    assert violation(problem, moved(path, 0, [0.0, 1e-7])).startswith("start: missed by 1.0e-07")
    assert violation(problem, moved(path, 0, [0.0, 1e-12])) == ""  # rounding
    powers = path.powers.copy()
    powers[11] = 2.5
    found = violation(problem, path._replace(powers=powers))
    assert found == "power: missed by 5.0e-01 at waypoint 11"


@pytest.mark.parametrize("convergence, name", [("average", "D_a"), ("maximum", "D_m")])
def test_the_most_divergent_step_is_named(convergence, name):
    path = straight()
    problem = HillProblem(START, GOAL, convergence)
    rate = step_divergence(problem, path)[0 if name == "D_a" else 1]
    assert np.max(rate) > 0.0 > np.min(step_divergence(problem, path)[0])
    worst = int(np.argmax(rate))
    number = {"D_a": "2.23", "D_m": "2.22"}[name]
    expected = f"{name} < 0 ({number}) at waypoint {worst}: it is {rate[worst]:.1e} per step"
    assert violation(problem, path) == expected
