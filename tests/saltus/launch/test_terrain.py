"""Terrain in launches and suites: what is refused, what is driven, and a walk on a slope."""

import numpy as np
import pytest
from pytest import approx

from robots.terrain import height_at
from saltus.common.errors import BadRequest
from saltus.common.files import data_folder
from saltus.configuration.launch import make_config
from saltus.launch import assembly
from saltus.launch.lock_step import LockStep
from saltus.sweep.running import run_paused
from saltus.sweep.summary import summarise
from saltus.sweep.trials import make_trials
from sim_bridge.suites import parse_suite, read_suite
from tests.refusals import refusal
from tests.tables import yaml_table

SLOPE = {"kind": "slope", "angle": 0.1745, "length": 20.0, "at": [-10.0, 0.0]}


def config(**keys):
    return make_config({"reference": "trot", "terrain": [SLOPE], **keys}, "file")


@pytest.mark.parametrize("keys, word", yaml_table("""
    simulation: {engine: remote} => simulation.engine
    simulation: {floor_slope: 0.1} => slope
    {rollout: isaacgym, terrain_belief: estimated} => terrain_belief
    terrain: [{kind: hill}] => hill
    terrain: [{kind: slope, length: 20, at: [-10, 0], angle: 1.2}] => angle
    terrain: rough => terrain
    terrain_belief: guessed => guessed
"""))  # fmt: skip
def test_terrain_that_a_part_lacks_is_refused_in_a_line(keys, word):
    assert word in refusal(BadRequest, config, **keys)


def test_ground_that_cannot_be_is_refused_before_anything_starts():
    wrong = config(terrain=[{"kind": "heightfield", "file": "missing.npy"}])
    assert "missing.npy" in refusal(BadRequest, assembly.check, wrong)


def test_the_belief_decides_what_planner_and_estimator_know():
    known = assembly.known_ground(config(terrain_belief="known"))
    assert height_at(known, 1.0, 0.0) == approx(np.tan(0.1745))
    for belief in ("estimated", "flat"):
        unknown = assembly.known_ground(config(terrain_belief=belief))
        assert np.isnan(height_at(unknown, 1.0, 0.0))
    assert assembly.known_ground(make_config({}, "file")) is None
    assert assembly.known_ground(make_config({"terrain_belief": "flat"}, "file")) is None


def test_every_ground_of_the_terrain_suite_can_be_made():
    trials = make_trials(read_suite(data_folder("config") / "terrain.yaml"), "hilqr", "paused", "")
    assert len(trials) == 16 * 2 * 22 and all(trial.pass_distance for trial in trials)
    for trial in trials[::16]:
        assembly.check(trial.config)
    seeds = [assembly.make_ground(trial.config) for trial in trials if "boxes" in trial.group][:2]
    assert seeds[1] is not None
    assert not np.array_equal(seeds[0].centre, seeds[1].centre)


@pytest.fixture(scope="module")
def walk():
    """A second of trot, uphill."""
    run = LockStep(config(command={"velocity_x": 0.3}, duration=1.0, mode="paused"))
    run.run()
    return run


def test_the_robot_climbs_a_slope_that_it_knows(walk):
    q = walk.config.simulation.start.pose.to_local(walk.simulation.truth().q)
    assert not walk.metrics.fell and q[0] > 0.1
    height = q[2] - np.tan(0.1745) * q[0]
    assert height == approx(0.3, abs=0.03)
    assert walk.metrics.summary()["displacement_m"] > 0.15


def test_a_trial_passes_beyond_its_distance():
    (group,) = parse_suite(
        "{reference: stand, duration: 0.1, pass_distance: 0.5, trials: [{kind: none}]}"
    )
    (trial,) = make_trials((group,), "hilqr", "paused", "suite")
    row = run_paused(trial).row
    assert row["passed"] is False and row["fell"] is False and row["displacement_m"] < 0.1
    assert summarise([row])[0]["success"] == 0
    near = trial._replace(pass_distance=-1.0)
    assert run_paused(near).row["passed"] is True
