"""Keys without effect: why, and which keys somebody is warned of."""

import pytest

from saltus.common.files import data_folder
from saltus.configuration.keys import (
    RULES,
    keys_of,
    keys_without_effect,
    reason_without_effect,
    values_of,
)
from saltus.configuration.launch import configure, load_launch, read_launch
from saltus.configuration.motions import motion_names
from saltus.configuration.planners import PLANNERS
from saltus.sweep.trials import make_trials
from sim_bridge.suites import parse_suite, read_suite
from tests.tables import table

LAUNCHES = sorted(path.stem for path in data_folder("launch").glob("*.yaml"))
SUITES = sorted(data_folder("config").glob("*.yaml"))
FILE = "runs/walk.npz"  # a recorded reference, which nobody reads here

# A launch with its settings, a key without effect there, why, and where the key has one.
CASES = table(f"""
    emulator => tracker.kp_max => connection emulator => sim
    sim mode=realtime drive.source=client => command.velocity_x => drive.source is client => sim
    sim reference={FILE} => command.velocity_x => takes no speed => sim
    sim => drive.walk.forward => drive.source is none => drive
    a1 drive.source=remote => sources.keys.left => is remote \
        => sim mode=realtime drive.source=client
    sim => realtime.priority => mode is paused => a1
    sim planner=convex_mpc => rollout => planner is convex_mpc => sim
    sim mode=realtime => hilqr.paused.iterations => mode is realtime => sim
    sim => hilqr.variant => is rollout => sim hilqr.derivatives=rigid
    sim => convex_mpc.knots => planner is hilqr => sim reference_from=convex_mpc
    sim mode=realtime reference_from=convex_mpc => convex_mpc.time_limit => planner is hilqr \
        => sim mode=realtime planner=convex_mpc
    sim estimator=invariant => salted.huber => estimator is invariant => sim
    sim => warp.device => rollout is mujoco => sim rollout=warp
    a1 => simulation.friction => connection is real => a1-emulated
    sim => hardware.safety.tilt_max => connection is simulated => a1
    sim bus.transport=tcp => bus.folder => bus.transport is tcp => sim
""")


@pytest.fixture(autouse=True)
def recorded_reference(tmp_path, monkeypatch):
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).touch()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("here, key, why, there", CASES)
def test_a_key_has_no_effect_in_one_launch_and_one_in_another(here, key, why, there):
    one, other = (load_launch(name, settings) for name, *settings in (here.split(), there.split()))
    assert why in reason_without_effect(key, one)
    assert reason_without_effect(key, other) == ""


def test_a_key_that_somebody_sets_in_a_file_or_on_the_command_line_is_warned_of(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("hilqr: {paused: {iterations: 5}}\nwarp: {device: cpu}\n")
    settings = read_launch(str(file), ["bus.host=127.0.0.1"], "realtime")
    found = keys_without_effect(configure(settings), settings)
    assert found == {
        "hilqr.paused.iterations": "mode is realtime", "warp.device": "rollout is mujoco",
        "bus.host": "bus.transport is ipc",
    }  # fmt: skip


@pytest.mark.parametrize("option", [{"drive": "client"}, {"planner": "instant_qp"}])
def test_a_file_is_not_blamed_for_what_the_command_line_chose(tmp_path, option):
    file = tmp_path / "mine.yaml"
    walk = "reference_from: convex_mpc" if "planner" in option else "command: {velocity_x: 0.2}"
    file.write_text(f"reference: walk\n{walk}\n")
    settings = read_launch(str(file), **option)
    assert keys_without_effect(configure(settings), settings) == {}


@pytest.mark.parametrize("name", LAUNCHES)
def test_launch_files_hold_no_key_without_effect(name):
    settings = read_launch(name)
    assert keys_without_effect(configure(settings), settings) == {}
    assert any(settings.source(key) == "file" for key in values_of(configure(settings)))


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_suites_hold_no_key_without_effect(path):
    groups = read_suite(path)
    motions = {group.reference for group in groups} & set(motion_names())
    for planner in ("hilqr",) if motions else PLANNERS:  # motions come with its options
        trials = make_trials(groups, planner, "paused", str(path))
        assert trials and not any(trial.without_effect for trial in trials)


def test_a_sweep_knows_which_settings_no_trial_uses():
    suite = "reference: stand\nduration: 1.0\ntrials: [{kind: none}]"
    settings = ["hilqr.knots=20", "warp.device=cpu"]
    found = [
        make_trials(parse_suite(suite), planner, "paused", "suite", settings)[0].without_effect
        for planner in ("hilqr", "convex_mpc")
    ]
    assert [*found[0]] == ["warp.device"] and [*found[1]] == ["hilqr.knots", "warp.device"]


def test_every_rule_names_keys_that_there_are():
    names = [key.key for key in keys_of()]
    for keys, _ in RULES:
        for each in keys:
            assert any(f"{name}.".startswith(f"{each}.") for name in names), each
