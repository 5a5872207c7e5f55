"""The report of driven robots: velocities from a path, the picture, the measures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from controller.driving.commands import Goal
from controller.gaits import GAITS
from saltus.launch.trace import Trace, goal_row, load_trace, save_trace
from saltus.metrics.run import DRIVING_MEASURES
from saltus.report.figures import base_motion
from saltus.report.page import write_report
from tests.saltus.report.fake_sweep import change_rows, make_sweep

TITLE = "Commanded and true velocity"


def curve(forward, left, turn):
    """A robot that turns while it goes on, obeying two goals."""
    time = np.arange(0.0, 8.0, 0.01)
    yaw, q = turn * time, np.zeros((len(time), 19))
    q[:, 0] = (forward * np.sin(yaw) - left * (1.0 - np.cos(yaw))) / turn
    q[:, 1] = (forward * (1.0 - np.cos(yaw)) + left * np.sin(yaw)) / turn
    q[:, 2], q[:, 5], q[:, 6] = 0.3, np.sin(yaw / 2), np.cos(yaw / 2)
    goals = [goal_row(0.0, Goal(9.0)), goal_row(0.5, Goal(forward, left, turn, None, "trot"))]
    return Trace(time, q, np.ones((len(time), 4)), np.ones((len(time), 4)), goals=np.array(goals),
                 events=[2.0, 4.0])  # fmt: skip


def test_a_goal_to_stand_is_one_of_no_velocity():
    assert goal_row(0.5, Goal(1.0, 1.0, 1.0)) == [0.5, 0.0, 0.0, 0.0, 0.0]
    assert list(GAITS)[int(goal_row(0.5, Goal(0.1, gait="bound"))[4])] == "bound"


def test_goals_are_kept_in_traces(tmp_path):
    trace, path = curve(0.5, 0.1, 1.0), tmp_path / "trace.npz"
    save_trace(trace, path)
    assert load_trace(path).goals.tolist() == trace.goals.tolist()


@pytest.mark.parametrize("traced", [True, False])
def test_page_of_a_driven_sweep(tmp_path, traced):
    folder = make_sweep(tmp_path / "sweep", suite="drive", traces=False, planners=("hilqr",))
    measures = dict(zip(DRIVING_MEASURES, (0.0123, 0.0456, 0.78, 1.5, 12.25), strict=True))
    changes = {"kind": "none", "at": None, "value": None, "max_lateral_deviation_m": None}
    change_rows(folder, lambda rows: [row | changes | measures for row in rows])
    if traced:
        save_trace(curve(0.5, 0.1, 1.0), folder / "traces" / "hilqr-0.npz")
    written = write_report(folder)
    text = written.path.read_text()
    assert TITLE in text and "Sideways, over time" not in text
    assert "0.012" in text and "0.046" in text and "undisturbed" in text
    assert ("Commanded and true velocity over time" in text) is traced
    assert "to the side" not in written.verdict


def test_motion_of_a_curve_is_the_same_at_every_heading():
    motion = base_motion(curve(0.5, 0.1, 1.0))
    assert_allclose(motion[1:-1], np.tile([0.5, 0.1, 1.0], (798, 1)), atol=1e-4)
