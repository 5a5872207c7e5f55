"""Paths checked anew: what is violated is named, with its waypoint."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.convergent.evaluation import Uncertainty, evaluate
from controller.convergent.hill_path import HillPath, HillProblem
from controller.convergent.path_check import divergent, step_divergence, violation

places = st.tuples(st.floats(-2.0, 2.0), st.floats(0.0, 2.5)).map(np.array)
START, GOAL = np.array([-0.9, 0.4]), np.array([-0.2, 0.7])


def straight(start=START, goal=GOAL, waypoints=30, p=1.0):
    return HillPath("ok", np.linspace(start, goal, waypoints), np.full(waypoints - 1, p))


def moved(path, waypoint, by):
    positions = path.positions.copy()
    positions[waypoint] += by
    return path._replace(positions=positions)


def test_a_path_that_keeps_all_is_let_through():
    assert violation(HillProblem(START, GOAL), straight()) == ""
    assert violation(HillProblem(START, GOAL + 0.0499), straight()) == ""
    alone = HillPath("ok", START[None], np.zeros(0))
    for convergence in ("none", "average", "maximum"):
        assert violation(HillProblem(START, START, convergence), alone) == ""


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


@pytest.mark.parametrize(("convergence", "name"), [("average", "D_a"), ("maximum", "D_m")])
def test_the_most_divergent_step_is_named(convergence, name):
    path = straight()
    problem = HillProblem(START, GOAL, convergence)
    rate = step_divergence(problem, path)[0 if name == "D_a" else 1]
    assert np.max(rate) > 0.0 > np.min(step_divergence(problem, path)[0])
    worst = int(np.argmax(rate))
    number = {"D_a": "2.23", "D_m": "2.22"}[name]
    expected = f"{name} < 0 ({number}) at waypoint {worst}: it is {rate[worst]:.1e} per step"
    assert violation(problem, path) == expected


@given(start=places, goal=places, p=st.floats(0.0, 2.0))
def test_a_way_and_its_reverse_do_not_both_converge(start, goal, p):
    """At a waypoint between evenly spaced ones both have the same D_a but for the sign."""
    found = [
        violation(HillProblem(*ends, "average"), straight(*ends, 9, p))
        for ends in ((start, goal), (goal, start))
    ]
    assert any(found) or np.max(np.abs(goal - start)) < 1e-6


def test_steps_without_length_have_no_sign():
    """D_a and D_m are 0 there, which is not below zero, and nothing grows."""
    path = straight([0.05, 1.2], [0.05, 1.3], 8, 0.0)
    problem = HillProblem(path.positions[0], path.positions[-1], "average")
    back = violation(problem, path)
    if back:  # the other way converges
        path = straight([0.05, 1.3], [0.05, 1.2], 8, 0.0)
        problem = HillProblem(path.positions[0], path.positions[-1], "average")
    assert violation(problem, path) == ""
    positions = np.insert(path.positions, 3, path.positions[3], axis=0)
    waiting = HillPath("ok", positions, np.zeros(len(positions) - 1))
    assert step_divergence(problem, waiting)[0][3] == 0.0
    assert violation(problem, waiting) == ""


def test_the_end_of_a_step_is_the_beginning_of_the_next_on_a_straight_way():
    path, problem = straight(), HillProblem(START, GOAL, "average")
    begin, end = (step_divergence(problem, path, at_ends)[0] for at_ends in (False, True))
    np.testing.assert_allclose(end[:-1], begin[1:], atol=1e-12)
    worst = int(np.argmax(end))
    assert divergent(problem, path, True).startswith(f"D_a < 0 (2.23) at waypoint {worst + 1}: ")


def test_divergence_of_steps_adds_up_to_the_area():
    """The sum of 2 D_a tends to log E_a with the length of the steps, at order one."""
    problem, small, off = HillProblem(START, GOAL), Uncertainty(40, 1e-4), []
    exact = np.log(evaluate(problem, straight(), small).area_ratio)
    for waypoints in (51, 101, 201):
        path = straight(waypoints=waypoints)
        off.append(2.0 * np.sum(step_divergence(problem, path)[0]) - exact)
    np.testing.assert_allclose(np.divide(off[:-1], off[1:]), 2.0, rtol=0.05)
