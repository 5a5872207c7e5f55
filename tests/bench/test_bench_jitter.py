"""`saltus bench jitter`: the loop in C, turns, and what is said of both loops."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from saltus.bench.jitter import bench, c_loop
from saltus.bench.jitter.bench import (
    C_AS_LONG,
    C_LOOP,
    SETTLE,
    TICK,
    TRACKER,
    WAKE_UP,
    NotedClock,
    _measure,
    _ratios,
    _rows,
)
from saltus.bench.jitter.c_loop import compile_loop, find_compiler, run_loop, steps_for
from saltus.common.errors import BadRequest

MS = 1e-3


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if not (compiler := find_compiler()):
        pytest.skip("no C compiler")
    return compile_loop([*compiler, "-Wall", "-Werror"], tmp_path_factory.mktemp("loop"))


def test_the_loop_in_c_serves_as_many_ticks_and_never_before_they_are_due(program):
    late, took = run_loop(program, 50, MS, locked=False)
    assert late.shape == took.shape == (50,)
    assert np.nanmin(late) >= 0.0 and (took > 0.0).all()
    assert np.isnan(late[0])  # due as the loop begins


def test_steps_are_as_many_as_make_the_tick_as_long(monkeypatch):
    def run(program, ticks, period_s, locked, steps):
        return np.zeros(ticks), np.full(ticks, 2e-5 + 1e-8 * steps)

    monkeypatch.setattr(c_loop, "run_loop", run)
    assert steps_for(Path("loop"), MS, True, 3.2e-4) == 30_000
    assert steps_for(Path("loop"), MS, True, 1e-5) == 0


def test_a_compiler_is_the_named_one_or_found_or_there_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "ccache gcc")
    assert find_compiler() == ["ccache", "gcc"]
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_compiler() == []
    (tmp_path / "clang").touch(mode=0o755)
    assert find_compiler() == [str(tmp_path / "clang")]


@pytest.mark.parametrize("compiler", [["/no/such/cc"], ["false"]])
def test_a_compiler_that_fails_is_one_line(compiler, tmp_path):
    with pytest.raises(BadRequest, match=compiler[0]):
        compile_loop(compiler, tmp_path)


def test_a_clock_notes_wake_ups_and_passes_over_ticks_that_it_was_late_for(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(bench, "monotonic", lambda: now[0])
    monkeypatch.setattr("runtime.clock.time.monotonic", lambda: now[0])
    monkeypatch.setattr(
        "runtime.clock.time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds + 5e-5)
    )
    clock = NotedClock(MS)
    assert clock.wait_tick() == 0 and np.isnan(clock.late).all()
    assert clock.wait_tick() == 1
    now[0] = 4.5e-3
    assert clock.wait_tick() == 4
    np.testing.assert_allclose(clock.late, [np.nan, 5e-5, np.nan], atol=1e-9)
    clock.begin_anew()
    assert clock.wait_tick() == 0 and len(clock.late) == 1


def test_loops_take_turns_and_the_beginning_of_a_block_does_not_count():
    order = []

    def serve(name):
        def loop(ticks):
            order.append(name)
            return np.arange(float(ticks)), np.arange(float(ticks))

        return loop

    measured = _measure({"a": serve("a"), "b": serve("b")}, 2, 10)
    assert order == ["a", "b", "b", "a"]
    for late, took in measured["a"]:
        np.testing.assert_array_equal(late, SETTLE + np.arange(10.0))
        np.testing.assert_array_equal(took, late)


def test_rows_and_ratios_are_of_wake_ups_after_a_sleep_and_of_ticks():
    late, took = np.array([np.nan, 1e-5, 3e-5]), np.array([1e-4, 1e-4, 2e-4])
    rows = _rows(TRACKER, [(late, took), (3.0 * late, took)])
    assert [(row["what"], row["n"], row["us_max"]) for row in rows] == [
        (WAKE_UP, 4, pytest.approx(90.0)), (TICK, 6, pytest.approx(200.0)),
    ]  # fmt: skip
    assert rows[0]["block_p999_most"] == pytest.approx(3.0 * rows[0]["block_p999_least"])
    rows += _rows(C_LOOP, [(0.1 * late, 0.2 * took), (0.3 * late, 0.2 * took)])
    rows += _rows(C_AS_LONG, [(late, took), (3.0 * late, took)])
    ratios = _ratios(rows)
    assert ratios[C_LOOP] == {WAKE_UP: pytest.approx(10.0), TICK: pytest.approx(5.0)}
    assert ratios[C_AS_LONG] == {WAKE_UP: 1.0, TICK: 1.0}


@pytest.mark.quiet  # in real time, in a process of its own: it keeps to a core, with a priority
def test_the_robot_still_walks_after_pauses_of_the_tracker():
    """In a pause, in which the other loops run, nothing is sent; closing asserts that it walks."""
    if not find_compiler():
        pytest.skip("no C compiler, so no other loop")
    program = "from saltus.bench.jitter.bench import run; run(blocks=2, ticks=250)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
