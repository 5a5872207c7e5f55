"""Launch files: every one loads, overrides are typed, and what is written reads back."""

import numpy as np
import pytest
from msgspec.structs import replace

from saltus.common.errors import BadRequest
from saltus.common.files import data_folder
from saltus.configuration.launch import (
    AT_ORIGIN,
    LaunchConfig,
    changed,
    load_launch,
    make_config,
    write_config,
)
from saltus.configuration.options import read_mapping
from saltus.configuration.planners import ESTIMATORS
from saltus.launch import assembly
from saltus.launch.planners import planning
from tests.refusals import refusal
from tests.tables import table

LAUNCH_FILES = sorted(path.stem for path in data_folder("launch").glob("*.yaml"))


def test_overrides_win_over_the_file_and_options_over_overrides():
    settings = ["duration=3", "command.velocity_x=0.1", "hilqr.realtime.iterations=4"]
    config = load_launch("sim", settings, "realtime", 2.0)
    assert (config.duration, config.mode) == (2.0, "realtime")
    assert config.command.velocity_x == 0.1
    assert config.hilqr.realtime.iterations == 4
    assert config.hilqr.knots == LaunchConfig().hilqr.knots


@pytest.mark.parametrize("settings, duration", [
    ([], 3600.0), (["duration=3"], 3.0), (["connection=emulated"], load_launch("sim").duration),
])  # fmt: skip
def test_a_simulated_robot_with_a_driver_runs_in_real_time_for_an_hour(settings, duration):
    driven = load_launch("sim", settings, drive="client")
    assert (driven.mode, driven.duration, driven.is_driven) == ("realtime", duration, True)
    assert load_launch("sim", settings, duration=2.0, drive="client").duration == 2.0


def test_one_key_of_a_section_leaves_the_others_as_they_are_without_it():
    def stepping(*overrides):
        return load_launch("push", overrides).instant_qp.stepping

    assert stepping("instant_qp.stepping.kp=100") == replace(stepping(), kp=100.0)


@pytest.mark.parametrize("name", LAUNCH_FILES)
def test_written_configuration_reads_back(tmp_path, name):
    config = load_launch(name, ["hilqr.knots=30", "leg_odometry.huber=3.0"])
    path = tmp_path / "launch.yaml"
    write_config(config, path)
    assert make_config(read_mapping(path), str(path)) == config
    assert (config.mode == "paused") == (config.connection == "simulated") and config.duration > 0.0


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_is_built_from_its_own_section(name):
    config = load_launch("sim", [f"estimator={name}"])
    estimator = assembly.make_estimator(config)
    options = getattr(config, name)
    assert vars(estimator)["options"] is options
    reading = assembly.make_simulation(config).reading()
    assert estimator.update(reading).status in ("ok", "starting")
    covariance = estimator.velocity_covariance
    assert covariance.shape == (3, 3) and (np.linalg.eigvalsh(covariance) > 0.0).all()


@pytest.mark.parametrize("options, beginning", table("""
    --set hilqr.knots=1 => --set hilqr.knots=1: hilqr.knots is 1; give 2 to 500
    --set 'hilqr={knots: 1}' => --set hilqr={knots: 1}: hilqr.knots is 1
    --set hilqr.knotz=3 => --set hilqr.knotz=3: unknown key
    --set simulation.friction=low => --set simulation.friction=low:
    --set simulation.start.posture=up \
        => --set simulation.start.posture=up: simulation.start.posture is 'up'
    --set 'perturbations=[{kind: kick}]' => --set perturbations=[{kind: kick}]:
    --set 'estimator={huber: 3}' => --set estimator={huber: 3}: estimator is the name
    --set hilqr.cost.input_loaded=1 => --set hilqr.cost.input_loaded=1:
    --duration -1 => --duration: duration is -1
    --set command=3 => --set command=3:
    --set duration=3 --duration -1 => --duration: duration is -1
    --planner magic => --planner: planner is 'magic'; accepted: hilqr
    --set reference=leep => --set reference=leep: no reference 'leep'; did you mean leap;
    --set timing.solve=0.01 --mode realtime => --set timing.solve=0.01: timing is for
    --set connection=real => --set connection=real: connection real cannot be paused
    --set connection=real --mode paused => --mode: connection real cannot be paused
    --drive remote => --drive: drive.source remote needs a real
"""))  # fmt: skip
def test_a_message_begins_with_who_set_the_value(refuses, options, beginning):
    assert refuses("launch sim " + options, "").startswith("saltus: " + beginning)


@pytest.mark.parametrize("key, meant", [
    ("hilqr.iterations", "did you mean hilqr.paused.iterations or hilqr.realtime.iterations"),
    ("hilqr.time_limit", "did you mean hilqr.realtime.time_limit"),
    ("friction_", "accepted: planner"),
])  # fmt: skip
def test_an_unknown_key_is_looked_for_in_the_sections_below(key, meant):
    line = refusal(BadRequest, load_launch, "sim", [f"{key}=1"])
    assert meant in line and ("did you mean" in line) == ("did you mean" in meant)


def test_a_launch_file_s_keys_are_set_by_its_name():
    """Keys that it does not have stay, and a later assignment wins."""
    config = load_launch("push", ["hilqr.knots=40", "@thesis", "hilqr.paused.iterations=4"])
    assert config.estimator == "leg_odometry" and config.hilqr.derivatives == "rigid"
    assert (config.hilqr.knots, config.hilqr.paused.iterations) == (40, 4)
    assert config.perturbations == load_launch("push").perturbations
    assert "did you mean thesis" in refusal(BadRequest, load_launch, "push", ["@thsis"])


@pytest.mark.parametrize(
    "before, after",
    [(["robot=a1"], ["robot=go2"]), (["robot=go2"], ["robot=a1"]),
     (["reference=backflip", "command.velocity_x=0"], ["reference=stand", "command.velocity_x=0"])],
)  # fmt: skip
def test_a_changed_launch_is_that_of_the_changed_keys(before, after):
    """Options of the robot and of the motion before it make way, those of the user stay."""
    own = [AT_ORIGIN, "hilqr.cost.joint_velocity=0.05", "view.port=9000"]
    key, _, value = after[0].partition("=")
    launch = changed(load_launch("sim", before + own), **{key: value})
    assert launch == load_launch("sim", after + own)


@pytest.mark.parametrize("mode", ["paused", "realtime"])
def test_the_planner_gets_the_search_of_its_mode(mode):
    settings = ["hilqr.paused.iterations=7", "hilqr.realtime.iterations=5"]
    options = planning(load_launch("sim", settings, mode))
    assert options.search.iterations == {"paused": 7, "realtime": 5}[mode]
    assert options.knots == LaunchConfig().hilqr.knots
