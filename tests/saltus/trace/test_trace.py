"""Traces: written whole, read back, and taken from a run in lock step."""

from dataclasses import fields

import numpy as np
from numpy.testing import assert_allclose
from pytest import approx

from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from saltus.launch.trace import Trace, TraceRecorder, load_trace, save_trace
from tests.refusals import refusal
from tests.saltus.report.fake_sweep import fake_trace

PUSH = "perturbations=[{kind: base_velocity, at: 0.042, value: [0, 0.4, 0]}]"


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
    trace = fake_trace("hilqr", 1.0, 1.5, fell=False)
    save_trace(trace, path)
    assert_equal(load_trace(path), trace, 1e-7)
    assert path.stat().st_size < 60_000
    assert [file.name for file in path.parent.iterdir()] == ["hilqr-3.npz"]


def test_trace_that_cannot_be_written_leaves_the_old_one(tmp_path, room_for):
    path = tmp_path / "t.npz"
    trace = fake_trace("hilqr", 1.0, 1.5, fell=False)
    save_trace(trace, path)
    with room_for(5000):
        refusal(OSError, save_trace, fake_trace("hilqr", 1.0, 1.0, fell=True), path)
    assert_equal(load_trace(path), trace, 1e-7)
    assert [file.name for file in tmp_path.iterdir()] == ["t.npz"]


def test_the_first_plan_and_search_that_could_know_of_a_push_are_kept():
    config = load_launch("stand", [PUSH], duration=0.12)
    run, recorder = LockStep(config), TraceRecorder(config)
    run.run(recorder.add)
    trace = recorder.trace(run.solve_ms)
    assert_allclose(trace.time, 0.01 * np.arange(12), atol=1e-12)
    assert trace.events == [0.042]
    assert trace.plan_time == approx(0.05)  # the plan at 0.04 could not know
    assert trace.costs.shape[1] == len(trace.step_sizes) == len(config.hilqr.paused.step_sizes) + 1
    assert trace.statuses == {"ok": 12} and trace.commands == {"ok": 120}
    assert len(trace.solve_ms) == 12
