"""Traces: written whole, read back, and the same from lock step and from a recording of it."""

import json
from dataclasses import fields

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from runtime import topics
from runtime.messages import Push, encode
from runtime.recording import Recorder
from runtime.topics import (
    GROUND_TRUTH,
    LINE_SEARCH,
    MOTOR_COMMAND,
    PLAN,
    ROBOT_STATUS,
    STATE_ESTIMATE,
)
from saltus.common.errors import BadRequest
from saltus.configuration.launch import load_launch, write_config
from saltus.launch.lock_step import LockStep
from saltus.launch.trace import Trace, TraceRecorder, load_trace, save_trace, trace_of_run
from saltus.report.reading import read_run
from tests.a1 import robot_status

PUSH = "perturbations=[{kind: base_velocity, at: 0.042, value: [0, 0.4, 0]}]"


def made_up(rng):
    return Trace(
        time=0.01 * np.arange(600), q=rng.normal(size=(600, 19)),
        contact=rng.integers(0, 2, (600, 4)).astype(float),
        planned=rng.integers(0, 2, (600, 4)).astype(float),
        plan_time=1.23, plan_period=0.01, plan_contacts=rng.integers(0, 2, (50, 4)).astype(float),
        plan_q=rng.normal(size=(51, 19)), step_sizes=np.array([1.0, 0.7, 0.0]),
        costs=np.array([[1.5, np.inf, 2.5]]), solve_ms=rng.uniform(size=600),
        statuses={"ok": 599, "failed": 1}, commands={"ok": 6000}, events=[1.225],
    )  # fmt: skip


def assert_equal(one, other, tolerance):
    for member in fields(Trace):
        a, b = getattr(one, member.name), getattr(other, member.name)
        if isinstance(a, np.ndarray):
            assert_allclose(a, b, rtol=tolerance, err_msg=member.name)
            assert a.dtype == np.float64
        else:
            np.testing.assert_equal(a, b, err_msg=member.name)


def test_trace_is_small_and_reads_back(tmp_path):
    path = tmp_path / "traces" / "hilqr-3.npz"
    trace = made_up(np.random.default_rng(1))
    save_trace(trace, path)
    assert_equal(load_trace(path), trace, 1e-7)
    assert path.stat().st_size < 60_000
    assert [file.name for file in path.parent.iterdir()] == ["hilqr-3.npz"]


def test_trace_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "t.npz"
    trace = made_up(np.random.default_rng(2))
    save_trace(trace, path)

    def full(file, **_):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="disk full"):
        save_trace(made_up(np.random.default_rng(3)), path)
    assert_equal(load_trace(path), trace, 1e-7)
    assert [file.name for file in tmp_path.iterdir()] == ["t.npz"]


def test_recording_of_a_run_gives_the_trace_of_lock_step(tmp_path):
    config = load_launch("stand", [PUSH], duration=0.12)
    run, recorder = LockStep(config), TraceRecorder(config)
    write_config(config, tmp_path / "launch.yaml")
    with Recorder(tmp_path / "run.mcap") as file:

        def record(tick):
            recorder.add(tick)
            messages = zip(
                (GROUND_TRUTH, MOTOR_COMMAND, PLAN, LINE_SEARCH),
                (tick.truth, tick.command, tick.plan, tick.search), strict=True,
            )  # fmt: skip
            for topic, message in messages:
                if message is not None:
                    file.write(topic, encode(message), 0)

        run.run(record)
    trace = recorder.trace()
    assert_equal(trace_of_run(tmp_path), trace, 0.0)
    assert_allclose(trace.time, 0.01 * np.arange(12), atol=1e-12)
    assert trace.events == [0.042]
    assert trace.plan_time == approx(0.05)  # the plan at 0.04 could not know
    assert trace.costs.shape[1] == len(trace.step_sizes) == len(config.hilqr.paused.step_sizes) + 1
    assert trace.statuses == {"ok": 12} and sum(trace.commands.values()) == 120
    assert len(recorder.trace(run.solve_ms).solve_ms) == 12


def test_commands_count_while_the_robot_lives(tmp_path):
    """By the clock the tracker is there before the first state and after the last one."""
    config = load_launch("stand", [PUSH], duration=0.02)
    write_config(config, tmp_path / "launch.yaml")
    with Recorder(tmp_path / "run.mcap") as file:

        def record(tick):
            file.write(GROUND_TRUTH, encode(tick.truth), 0)
            for shift in (-1.0, 0.0, 1.0):
                moved = replace(tick.command, time=tick.command.time + shift)
                file.write(MOTOR_COMMAND, encode(moved), 0)

        LockStep(config).run(record)
    assert trace_of_run(tmp_path).commands == {"ok": 20}


def test_pushes_by_hand_are_events_of_a_recording(tmp_path):
    """Each once; one before the robot is there is none."""
    config = load_launch("stand", duration=0.06)
    write_config(config, tmp_path / "launch.yaml")
    with Recorder(tmp_path / "run.mcap") as file:

        def push(sequence):
            blow = Push(sequence=sequence, time=7.0e4, body="base", velocity=np.ones(3))
            file.write(topics.PUSH, encode(blow), 0)

        def record(tick):
            file.write(GROUND_TRUTH, encode(tick.truth), 0)
            if tick.plan is not None:
                file.write(PLAN, encode(tick.plan), 0)
            if tick.truth.tick in (23, 24, 41):
                push(1 if tick.truth.tick < 40 else 2)

        push(9)
        LockStep(config).run(record)
    trace = trace_of_run(tmp_path)
    assert trace.events == approx([0.023, 0.041])
    assert trace.plan_time == approx(0.03)  # the first that could know
    subject = read_run(tmp_path)
    assert subject.trials[0].row["kind"] == "by_hand"
    assert subject.conditions.of(subject.trials[0].row).words == "by hand"


def _record_emulated(folder, ticks):
    """An A1 that lies for 0.3 s, runs through `ticks` at tick 6000 of its clock, and sits down."""
    config = load_launch("a1-emulated")
    write_config(config, folder / "launch.yaml")
    emulator = {"pushes": [[6042, [0.0, 0.4, 0.0]]]}
    (folder / "summary.json").write_text(
        json.dumps({"processes": {"emulator": emulator}, "simulated_s": 0.12, "distance_m": 0.0})
    )

    def moved(message, ticks):
        return replace(message, tick=message.tick + ticks, time=message.time + 500.0 + 1e-3 * ticks)

    def status(tick, state):
        return encode(robot_status(state, tick, time=500.0 + 1e-3 * tick))

    with Recorder(folder / "run.mcap") as file:
        for early in range(5700, 6000, 10):
            file.write(GROUND_TRUTH, encode(moved(ticks[0].truth, early)), 0)
            file.write(MOTOR_COMMAND, encode(moved(ticks[0].command, early)), 0)
        file.write(ROBOT_STATUS, status(6000, "running"), 0)
        for tick in ticks:
            for topic, message in ((GROUND_TRUTH, tick.truth), (STATE_ESTIMATE, tick.estimate),
                                   (MOTOR_COMMAND, tick.command), (PLAN, tick.plan),
                                   (LINE_SEARCH, tick.search)):  # fmt: skip
                if message is not None:
                    file.write(topic, encode(moved(message, 6000)), 0)
        end = 6000 + len(ticks)
        for late in range(end, end + 100):
            sitting = replace(ticks[-1].command, status="stand_down", tick=0)
            file.write(MOTOR_COMMAND, encode(moved(sitting, late)), 0)
        file.write(ROBOT_STATUS, status(end, "sit_down"), 0)


def test_an_a1_begins_when_it_runs_and_was_pushed_when_its_emulator_says(tmp_path):
    """Whatever its clock says: the trace is that of the same run of a simulated robot."""
    config = load_launch("sim", [PUSH], duration=0.12)
    ticks, recorder = [], TraceRecorder(config)
    LockStep(config).run(lambda tick: (recorder.add(tick), ticks.append(tick)))
    _record_emulated(tmp_path, ticks)
    trace, alike = trace_of_run(tmp_path), recorder.trace()
    assert_allclose(trace.time, alike.time, atol=1e-9)
    assert_array_equal(trace.q, alike.q)
    assert_array_equal(trace.planned, alike.planned)
    assert trace.events == approx([0.042]) and trace.commands == alike.commands
    assert trace.plan_time == approx(alike.plan_time)
    subject = read_run(tmp_path)
    row = subject.trials[0].row
    assert (row["kind"], row["value"]) == ("base_velocity", [0.0, 0.4, 0.0])
    assert row["at"] == approx(0.042)


def test_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(BadRequest, match="no recorded run"):
        trace_of_run(tmp_path)
    write_config(load_launch("stand"), tmp_path / "launch.yaml")
    with pytest.raises(BadRequest, match="no recorded run"):
        trace_of_run(tmp_path)
    (tmp_path / "run.mcap").write_text("something else, long enough to have a magic")
    with pytest.raises(BadRequest, match="another version"):
        trace_of_run(tmp_path)
