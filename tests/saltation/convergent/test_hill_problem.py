"""What a person may ask of a planner on a hill; all else is refused in one line."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from saltation.convergent.hill import SINE_HILL, Hill
from saltation.convergent.hill_path import HillProblem
from saltation.convergent.hill_trajectory import HillTrajectory
from saltation.convergent.hill_transcription import TrajectoryOptions
from saltation.convergent.rrt import plan_rrt, plan_rrt_star


def saddle(x, y):
    return x * x - y * y, 2.0 * x, -2.0 * y, 2.0, 0.0, -2.0


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"start": [np.nan, 1.0]}, "start .*: give two finite numbers"),
        ({"start": [1.0, 2.0, 3.0]}, "start .*: give two finite numbers"),
        ({"start": "ab"}, "start ab: give two finite numbers"),
        ({"goal": [1j, 1.0]}, "goal .*: give two finite numbers"),
        ({"powers": (1.0,)}, r"powers .*: give \(lowest, highest\)"),
        ({"powers": (0.0, 1.0, 2.0)}, r"powers .*: give \(lowest, highest\)"),
        ({"powers": (2.0, 0.0)}, r"powers .*: give \(lowest, highest\)"),
        ({"powers": None}, r"powers None: give \(lowest, highest\)"),
        ({"eta": 0.0}, "eta 0.0: "),
        ({"convergence": "Average"}, "'Average'.* none, average, maximum"),
        ({"hill": saddle}, "hill .*: give a Hill"),
    ],
)
def test_mistakes_are_told(wrong, said):
    with pytest.raises(ValueError, match=said) as told:
        HillProblem(**({"start": [0.0, 1.0], "goal": [1.0, 1.0]} | wrong))
    assert "\n" not in str(told.value)


def test_nobody_starts_on_level_ground():
    """The saddle's middle: the power controller turns a gradient that is not there."""
    hill = Hill("saddle", saddle, (-1.0, 1.0), (-1.0, 1.0))
    level, beside = (HillProblem(start, [0.5, 0.5], hill=hill) for start in ([0, 0], [1e-9, 0]))
    topt = HillTrajectory(options=TrajectoryOptions(waypoints=10), hill=hill)
    for plan in (plan_rrt, plan_rrt_star, topt.solve):
        path = plan(level)
        assert path.status == "infeasible" and len(path.positions) == 0
        assert "the ground is level at the start (0, 0)" in path.message
    assert (
        beside.outside() is None and HillProblem([0, 1], [1, 1], hill=SINE_HILL).outside() is None
    )


OPTIONS = TrajectoryOptions(waypoints=10)
SMALL = HillTrajectory(options=OPTIONS)
NEAR = HillProblem([1.5, 1.4], [1.4, 1.6])


def test_a_planner_and_a_problem_can_be_sent_to_another_process():
    planner, problem = pickle.loads(pickle.dumps((SMALL, NEAR)))
    other = pickle.loads(pickle.dumps(NEAR))
    path = SMALL.solve(NEAR)
    for made in (planner.solve(problem), planner.solve(NEAR), SMALL.solve(other)):
        assert_array_equal(made.positions, path.positions)
