"""`saltus bench estimators`: recordings that are kept, rows and ratio."""

import json

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_array_equal
from pytest import approx

from robots.terrain import height_at
from saltus.bench import estimators
from saltus.bench import streams as recordings
from saltus.bench.estimators import error_ratio, replay
from saltus.bench.streams import (
    SOURCES,
    Stream,
    path_of,
    read_recording,
    record,
    record_and_keep,
    streams,
)
from saltus.cli.main import run as command_line
from saltus.common.errors import BadRequest
from saltus.configuration.launch import AT_ORIGIN, LaunchConfig, load_launch
from saltus.configuration.planners import ESTIMATORS
from saltus.launch import assembly
from saltus.launch.lock_step import LockStep
from saltus.sweep import running
from tests.refusals import refusal
from tests.saltus.programs import python

PUSH = "perturbations=[{kind: base_velocity, at: 0.2, value: [0, 0.5, 0]}]"
TERRAIN = ["slope", "step", "stairs", "boxes", "patch"]
SHORT = load_launch(
    "stand",
    [PUSH, "hilqr.paused.threads=1", "planner=instant_qp", "estimator=leg_odometry", AT_ORIGIN],
    duration=0.5,
)


def make_filter(name):
    return assembly.make_estimator(replace(LaunchConfig(), estimator=name))


@pytest.fixture(scope="module")
def recording():
    return record(SHORT)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own, and nothing to compile."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(recordings, "ensure_compiled", lambda config: None)
    return tmp_path / "saltus" / "streams"


def test_streams_on_terrain_are_recorded_once_and_measured_with_and_without_its_height():
    found = {stream.name: stream for stream in streams()}
    for name in ("walk", "trot", *TERRAIN):
        known, unknown = found[name], found[f"{name}_unknown"]
        assert known.paths == unknown.paths
        assert known.launch_of("salted").knows_ground
        assert not unknown.launch_of("salted").knows_ground
        if name in TERRAIN:
            assert known.runs[0].terrain != "flat" and known.runs[0].reference == "trot"
    other = {stream.name: stream for stream in streams("robot=go2")}
    for name, stream in other.items():
        assert {run.robot for run in stream.runs} == {"go2"}
        assert not {*stream.paths} & {*found[name].paths}
    slope = assembly.known_ground(found["slope"].launch_of("invariant"))
    assert height_at(slope, 2.0, 0.0) == approx(1.6 * np.tan(0.1745))
    assert np.isnan(assembly.known_ground(found["slope_unknown"].launch_of("invariant")).floor)


def test_a_recording_is_what_the_sensors_said_and_what_was_true(recording):
    run = LockStep(SHORT)
    assert recording.readings.shape == (500, 52) and not recording.fell[0]
    for k, message in enumerate(recording.messages()):
        assert message == run.simulation.reading(), k
        truth = run.step().truth
        assert_array_equal(recording.q[k], truth.q)
        assert_array_equal(recording.v[k], truth.v)
        assert_array_equal(recording.contact[k], truth.contact)


def test_a_stream_reads_back_and_replaces_only_its_own_past(recording, cache, monkeypatch):
    monkeypatch.setattr(recordings, "record", lambda config: recording)
    stream, other = Stream("stand", (SHORT, SHORT)), Stream("stand_off", (SHORT,))
    for path in (*stream.paths, *other.paths):
        record_and_keep(SHORT, path)
    for a, b in zip(read_recording(stream.paths[0]), recording, strict=True):
        assert_array_equal(a, b)
    monkeypatch.setattr(recordings, "code_version", lambda sources: "other code")
    new = stream.paths[0]
    record_and_keep(SHORT, new)
    names = [path.name.rpartition("-")[0] for path in cache.iterdir()]
    assert sorted(names) == ["a1-stand-0", "a1-stand-1", "a1-stand_off-0"]
    assert new in cache.iterdir()


def test_the_name_of_a_recording_changes_with_what_it_depends_on_alone():
    path = path_of(SHORT, "x")
    unused = replace(SHORT, hilqr=replace(SHORT.hilqr, knots=20))  # Instant QP walks
    assert path_of(unused, "x") == path
    friction = replace(SHORT, simulation=replace(SHORT.simulation, friction=0.3))
    others = [friction, replace(SHORT, planner="convex_mpc"), replace(SHORT, duration=0.4)]
    assert len({path, *(path_of(config, "x") for config in others)}) == 4


def test_sources_name_every_module_that_moves_the_robot():
    """All that planner, tracker, robot and leg odometry import is part of a recording's name."""
    loaded = (
        "import sys, controller.hilqr_planner, controller.tracker, sim_bridge.simulated_robot, "
        "sim_bridge.rollouts.threaded, estimator.leg_odometry; "
        "print(*(m.__file__ for m in sys.modules.values() if getattr(m, '__file__', None)))"
    )
    done = python("-c", loaded)
    root = recordings.Path(estimators.__file__).parents[2]
    covered = {str(path) for pattern in SOURCES for path in root.glob(pattern)}
    packages = ["saltation", "runtime", "robots", "estimator", "controller", "sim_bridge"]
    ours = [name for name in done.stdout.split()
            if name.startswith(tuple(f"{root}/{package}/" for package in packages))]  # fmt: skip
    assert len(ours) > 40
    assert [name for name in ours if name not in covered] == []


def test_a_filter_gives_the_estimates_of_the_loop_and_starts_anew_each_time(recording):
    run, estimator = LockStep(SHORT), make_filter("leg_odometry")
    loop = [run.step().estimate for _ in range(500)]
    for _ in range(2):
        track = replay(estimator, recording)
        velocity = [estimate.v[:3] for estimate in loop] - recording.v[:, :3]
        assert_array_equal(track.velocity, velocity)
        assert_array_equal(track.height, [estimate.q[2] for estimate in loop] - recording.q[:, 2])
        assert track.resets == 0 and (track.seconds > 0.0).all()


@pytest.mark.slow
def test_rows_and_command_line(cache, monkeypatch, capsys):
    """One stream of two runs through every filter; the second time nothing is recorded."""
    tiny = Stream("push_0.5", (SHORT, replace(SHORT, duration=0.4)))
    monkeypatch.setattr(estimators, "streams", lambda: [tiny])
    monkeypatch.setattr(running, "cores", lambda: 1)
    assert command_line(["bench", "estimators", "--json"]) == 0
    captured = capsys.readouterr()
    (line,) = captured.out.splitlines()
    printed = json.loads(line)
    assert printed["bench"] == "estimators" and set(printed) == {"bench", "rows", "ratio"}
    assert [(row["stream"], row["filter"]) for row in printed["rows"]] == [
        ("push_0.5", name) for name in ESTIMATORS
    ]
    for row in printed["rows"]:
        assert 0.0 < row["velocity_rmse_m_s"] < 0.3 and row["tilt_rmse_rad"] < 0.02
        assert row["velocity_rmse_after_touchdown_m_s"] is None or row["drift_percent"] >= 0.0
        assert row["height_drift_percent"] >= 0.0
        assert 0.0 < row["update_us_p50"] <= row["update_us_p99"] and row["update_cpu_us_p99"] > 0.0
        assert row["nees_mean"] > 0.0 and 0.0 <= row["nees_inside_percent"] <= 100.0
        assert isinstance(row["consistent"], bool) and row["resets"] == 0
    assert captured.err.count("recording 2 runs") == 1
    assert command_line(["bench", "estimators"]) == 0
    again = capsys.readouterr()
    assert "recording" not in again.err and "push 0.5, leg odometry" in again.out


def test_the_ratio_is_the_larger_of_walk_and_trot():
    errors = {
        ("walk", "salted"): 0.6,
        ("walk", "leg_odometry"): 1.0,
        ("trot", "salted"): 1.4,
        ("trot", "leg_odometry"): 2.0,
        ("push", "salted"): 5.0,
    }
    rows = [{"stream": stream, "filter": name, "velocity_rmse_m_s": error}
            for (stream, name), error in errors.items()]  # fmt: skip
    assert error_ratio(rows) == approx(0.7) and error_ratio(rows[:3]) is None


def test_a_damaged_recording_is_one_line(cache):
    cache.mkdir(parents=True)
    (cache / "half.npz").write_bytes(b"half")
    assert "half.npz" in refusal(BadRequest, read_recording, cache / "half.npz")


def test_settings_are_for_launches_alone(capsys):
    for arguments in (["planner", "--set", "robot=go2"], ["estimators", "--set", "robot=none"]):
        assert command_line(["bench", *arguments]) == 2
        assert capsys.readouterr().err.count("\n") == 1
