"""Cost: calls of a tick; times of an iteration, of a trial, and of one launch in real time."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np

from saltus.bench.planner import StageTimer
from saltus.bench.score.figures import Figure, pace, time_figure
from saltus.common.console import say
from saltus.common.timing import Times
from saltus.configuration.launch import load_launch
from saltus.launch.launcher import launch
from saltus.launch.lock_step import LockStep
from studies.a1.systems.planner_cases import make_cases, make_workbench

WARM_UP, TICKS = 300, 200
REPEATS = 5  # of a solve in each case
CASES = 6
LAUNCH_S = 20.0


def measure() -> Iterator[Figure]:
    """All figures of the group, the cheap ones first."""
    yield from _ticks()
    yield from _solves()
    yield from _trial()
    yield from _real_time()


def counting(function: Callable[..., Any], found: list[tuple[int, int]]) -> Callable[..., Any]:
    """The function; `found` gets the calls of Python and of C functions in each of its calls."""
    events = Counter[str]()

    def note(frame: Any, event: str, argument: Any) -> None:
        events[event] += 1

    def counted(*arguments: Any) -> Any:
        events.clear()
        sys.setprofile(note)
        result = function(*arguments)
        sys.setprofile(None)
        found.append((events["call"], events["c_call"] - 1))  # setprofile itself
        return result

    return counted


def _ticks() -> Iterator[Figure]:
    """Calls of a tick, medians, which do not vary with the load of the computer."""
    say("cost: ticks")
    run = LockStep(load_launch("push", duration=1e-3 * (WARM_UP + TICKS)))
    counts: dict[str, list[tuple[int, int]]] = {}
    for name, owner, method in (
        ("tracker", run.tracker, "command"), ("estimator", run.estimator, "update"),
        ("simulated robot", run.simulation, "advance"),
    ):  # fmt: skip
        counts[name] = []
        setattr(owner, method, counting(getattr(owner, method), counts[name]))
    run.run()
    for name, each in counts.items():
        medians = np.median(each[WARM_UP:], axis=0).tolist()
        for what, count in zip(("python calls", "c calls"), medians, strict=True):
            yield Figure(f"tick: {name}, {what}", "", count, margin=0.5)


def _solves() -> Iterator[Figure]:
    """One iteration over bare stepping of as many physics steps, in processor time.

    On one thread: MuJoCo's threads spin while they wait, which is counted as work.
    """
    say("cost: an iteration of the planner")
    bench, times = make_workbench(threads=1), Times(process_time)
    timer = StageTimer(bench, make_cases(bench, CASES), times)
    for turn in range(1 + REPEATS):
        if turn == 1:
            times.seconds.clear()
        for case in range(CASES):
            timer.measure(case)
    least = {name: np.min(np.reshape(seconds, (REPEATS, CASES)), axis=0)
             for name, seconds in times.seconds.items()}  # fmt: skip
    steps = len(bench.paused.options.search.step_sizes) * bench.paused.options.search.substeps
    for name, stage, factor in (
        ("lock step", "iteration", 1.0),
        ("real time", "iteration_as_run", steps / bench.as_run.options.search.substeps),
    ):
        ratio = factor * float(np.median(least[stage] / least["bare_stepping"]))
        yield time_figure(f"iteration in {name} over bare stepping", "", ratio)


def _trial() -> Iterator[Figure]:
    """Processor time of a trial of 6 s in lock step, by part."""
    say("cost: a trial of 6 s in lock step")
    before, run, times = pace(), LockStep(load_launch("push").with_threads(1)), Times(process_time)
    for part, owner, method in (
        ("estimator", run.estimator, "update"), ("planner", run.planner, "solve"),
        ("tracker", run.tracker, "command"), ("simulated robot", run.simulation, "advance"),
        ("sensors", run.simulation, "reading"), ("metrics", run.metrics, "add_estimate"),
    ):  # fmt: skip
        times.watch(owner, method, part)
    begin = process_time()
    run.run()
    whole = process_time() - begin
    unit = 0.5 * (before + pace())
    for part, seconds in times.seconds.items():
        steady = len(seconds) * float(np.median(seconds))  # a stall of the host counts as work
        yield time_figure(f"trial: {part}", "s", steady / unit)
    yield Figure("trial: whole", "s", whole / unit, "shown")


def _real_time() -> Iterator[Figure]:
    """One launch in real time, as its clock shows it, which other programs and the host decide too.

    Of all that only the fall is judged. Times and rates are those of the unit's computer.
    """
    say(f"cost: {LAUNCH_S:g} s in real time")
    before = pace()
    outcome = launch(load_launch("push", mode="realtime", duration=LAUNCH_S))
    unit, summary = 0.5 * (before + pace()), outcome.summary
    planner, ticks = summary["planner"], summary["tracker"]
    used = outcome.reports.get("estimator", {}).get("updates", 0) / (1e3 * LAUNCH_S)
    for name, measure, value in (
        ("plans a second", "1/s", unit * planner["rate_hz"]),
        ("solve, 99 %", "ms", planner["solve_ms"]["p99"] / unit),
        ("readings used", "%", 100.0 * used),
        ("missed ticks", "%", 100.0 * ticks["missed"] / max(1, ticks["ticks"])),
    ):
        yield Figure(f"real time: {name}", measure, value, "shown")
    yield Figure("real time: no fall", "", int(not summary["fell"]), "higher")
