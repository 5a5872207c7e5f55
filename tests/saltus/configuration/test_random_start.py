"""Where a simulated robot starts when nobody says so: drawn from the seed, whatever else is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from saltus.common.files import data_folder
from saltus.configuration.launch import AT_ORIGIN, load_launch
from saltus.sweep.trials import make_trials
from sim_bridge.options import SimulationOptions, StartOptions
from sim_bridge.simulated_robot import SimulatedRobot
from sim_bridge.suites import read_suite
from tests.a1 import A1

PRINTED = ("table-6.1", "table-6.2", "table-backflip")  # suites that begin at the origin
SUITES = sorted(path.stem for path in data_folder("config").glob("*.yaml"))


@given(st.integers(0, 2**32 - 1), st.integers(0, 10_000))
def test_equal_seeds_draw_equal_starts_and_others_draw_others(seed, trial):
    start = StartOptions("folded").drawn(seed, trial)
    assert start == StartOptions("folded").drawn(seed, trial) and start.posture == "folded"
    others = StartOptions("folded").drawn(seed + 1, trial), StartOptions().drawn(seed, trial + 1)
    assert all(other.position != start.position for other in others)
    assert start.drawn(1, 2) == start  # what is given stays
    assert StartOptions(heading=0.0).drawn(seed, trial).pose[:2] == start.position


def test_starts_are_anywhere():
    poses = np.array([StartOptions().drawn(seed, 0).pose for seed in range(400)])
    share = np.abs(poses).max(axis=0) / (1000.0, 1000.0, np.pi)
    assert ((share > 0.95) & (share <= 1.0)).all()
    assert (np.abs(poses.mean(axis=0)) < (100.0, 100.0, 0.35)).all()


@pytest.mark.parametrize("launch", ["sim", "stand", "stairs", "a1-emulated", "emulator"])
def test_a_launch_starts_where_its_seed_draws_it(launch):
    poses = {load_launch(launch, [f"simulation.seed={s}"]).simulation.start.pose for s in (0, 0, 1)}
    assert len(poses) == 2 and all(all(pose) for pose in poses)
    heading = load_launch(launch, ["simulation.start.heading=1.57"]).simulation.start
    assert heading.pose.yaw == 1.57 and any(heading.pose[:2])


def test_nobody_places_a_real_robot():
    assert load_launch("a1").simulation.start == StartOptions()


@pytest.mark.parametrize("suite", SUITES)
def test_suites_start_anywhere_but_for_those_that_reproduce_printed_numbers(suite):
    groups = read_suite(data_folder("config") / f"{suite}.yaml")

    def poses(*settings, planner="hilqr"):
        trials = make_trials(groups, planner, "paused", suite, settings)
        for trial in trials:
            start = trial.config.simulation.start
            assert trial.labels["start"]["heading"] == start.heading
        return [trial.config.simulation.start.pose for trial in trials]

    free = "simulation.start={heading: null, position: null}"
    random = poses(free)
    assert len(set(random)) == len(random) and poses(free, planner="mppi") == random
    assert not any(map(any, poses(AT_ORIGIN)))
    assert poses() == (poses(AT_ORIGIN) if suite in PRINTED else random)


def test_noise_does_not_depend_on_the_start():
    starts = StartOptions(), StartOptions().drawn(3, 0)
    here, there = (
        SimulatedRobot(A1, SimulationOptions(seed=5, start=start)).reading() for start in starts
    )
    for field in ("joint_position", "angular_velocity_imu", "linear_acceleration_imu"):
        assert_array_equal(getattr(here, field), getattr(there, field))
