"""Motions by name: planned once, tracked by any launch, with what they ask of the planner."""

import shutil

import numpy as np
import pytest

from controller.motions import MotionPlan, key_path
from controller.references import load_reference, save_reference
from robots.robot_file import ROBOTS, own_robots
from saltation.hilqr import Violation
from saltation.hilqr.constrained import ConstrainedSolution
from saltus.common.errors import BadRequest
from saltus.common.files import data_folder
from saltus.configuration.launch import load_launch, make_config
from saltus.configuration.motions import motion_names
from saltus.launch import references as motions
from saltus.sweep.running import _row
from saltus.sweep.trials import make_trials
from sim_bridge.suites import read_suite
from tests.a1 import A1
from tests.refusals import refusal


def plan_with(status, message=""):
    """The key path of a jump as a plan that ended with a status."""
    _, motion = motions.read_motion("jump-up")
    solution = ConstrainedSolution(
        status, None, None, np.zeros((0, 0)), Violation(0.0, 0, ""), 0, 0, message,  # type: ignore[arg-type]
    )  # fmt: skip
    return MotionPlan(key_path(motion, A1, motions.PERIOD), solution)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "saltus" / "motions"


@pytest.mark.parametrize("name", motion_names())
def test_every_motion_can_be_read_and_launched(name):
    stem, motion = motions.read_motion(name)
    assert stem == name and motion.duration > 1.0
    assert make_config({"reference": name}, "file").reference == name


def test_a_robot_may_have_a_motion_of_its_own(tmp_path):
    leap = motions.read_motion("leap")
    (tmp_path / "motions").mkdir()
    shutil.copy(data_folder("config/motions") / "leap.yaml", tmp_path / "motions/backflip.yaml")
    assert motions.read_motion("backflip", str(tmp_path)) == ("backflip", leap[1])
    assert motions.read_motion("leap", str(tmp_path)) == leap
    for file in ROBOTS.glob("*/motions/*.yaml"):
        assert motions.read_motion(file.stem, file.parents[1].name)[1].duration > 1.0


def test_a_motion_is_planned_once(cache, monkeypatch):
    monkeypatch.setattr(motions, "make_plan", lambda *_: plan_with("settled"))
    path = motions.planned_motion("jump-up", "a1")
    assert path.parent == cache and load_reference(path, motions.PERIOD).size == 147
    monkeypatch.setattr(motions, "make_plan", lambda *_: pytest.fail("planned again"))
    assert motions.planned_motion("jump-up", "a1") == path


@pytest.mark.parametrize("robot", own_robots())
def test_a_motion_that_a_robot_cannot_do_is_refused_with_the_file_for_its_own(
    cache, monkeypatch, robot
):
    monkeypatch.setattr(motions, "make_plan", lambda *_: plan_with("infeasible", "at knot 7"))
    config = make_config({"reference": "leap", "robot": robot}, "file")
    line = refusal(BadRequest, motions.reference_file, config.reference, config.robot)
    assert all(word in line for word in ("at knot 7", str(ROBOTS / robot / "motions/leap.yaml")))
    assert not cache.exists()


def test_what_a_motion_asks_of_the_planner_lies_below_the_launch():
    scale = motions.read_motion("rear-up")[1].hilqr["cost"]["terminal_scale"]
    assert make_config({"reference": "rear-up"}, "file").hilqr.cost.terminal_scale == scale
    own = make_config(
        {"reference": "rear-up", "hilqr": {"knots": 40, "cost": {"terminal_scale": 7.0}}}, "file"
    )
    assert own.hilqr.cost.terminal_scale == 7.0 and own.hilqr.knots == 40
    assert load_launch("backflip", ["reference=rear-up"]).hilqr.cost.terminal_scale == scale
    assert scale != make_config({}, "file").hilqr.cost.terminal_scale


def test_the_trunk_may_tilt_as_its_reference_does(tmp_path):
    _, motion = motions.read_motion("backflip")
    save_reference(key_path(motion, A1, motions.PERIOD), tmp_path / "flip.npz")
    config = make_config({"reference": str(tmp_path / "flip.npz")}, "file")
    allowance = motions.tilt_allowance(config)
    assert allowance(0.8) > 3.0 and allowance(2.0) < 1e-3
    assert motions.tilt_allowance(make_config({}, "file"))(0.8) == 0.0


def test_two_legs_are_not_enough_for_a_moment():
    trials = make_trials(read_suite(data_folder("config") / "jumps.yaml"), "hilqr", "paused", "")
    trial = trials[-1]
    assert trial.pass_two_legs == 3.0

    def row(fell, seconds):
        summary = {"two_legs_s": seconds, "max_lateral_deviation_m": 0.0}
        return _row(trial, summary, fell, dict.fromkeys(("p50", "p99")), {}, {})

    assert row(False, 3.5)["passed"] is True
    assert row(False, 2.9)["passed"] is False
    assert row(True, 3.5)["passed"] is False
