"""Cost: processor time of ticks, solves, trials and launches, and what they do in a tick."""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from runtime.topics import GROUND_TRUTH
from saltus.bench.planner import StageTimer
from saltus.bench.timing import Times
from saltus.common.console import say
from saltus.common.interrupt import postponed_interrupt
from saltus.configuration.launch import load_launch
from saltus.launch.launcher import LaunchOutcome, launch
from saltus.launch.listener import Listener
from saltus.launch.lock_step import LockStep
from saltus.launch.supervisor import Supervisor
from saltus.score.figures import Figure, least_and_median, pace
from saltus.score.ticks import PROCESSES, TICKS, TimeMeter, count_ticks, record_walk, run_ticks
from saltus.soak.stalls import StallWatch
from studies.a1.systems.planner_cases import make_cases, make_workbench

REPEATS = 5  # of a solve in each case
CASES = 6
LAUNCH_S, SETTLE_TICKS, WINDOW_TICKS = 20.0, 2000, 1000
EMULATED = 2
NOISE = 0.25  # of processor time over that of the fixed loops, on a computer with other guests
BUSY = 0.1  # share of the cores that other programs or the host take, above which clocks say little


def measure() -> Iterator[Figure]:
    """All figures of the group, the cheap ones first."""
    yield from _ticks()
    yield from _solves()
    yield from _trial()
    yield from _real_time()
    yield from _emulated()


def _ticks() -> Iterator[Figure]:
    _, walk = record_walk()
    for name in PROCESSES:
        say(f"cost: a tick of the {name}")
        meter, before = TimeMeter(TICKS), pace()
        run_ticks(name, walk, meter)
        least, median = least_and_median(meter.windows())
        unit = 0.5 * (before + pace())
        yield Figure("cost", f"tick: {name}, least", "us", least / unit, tolerance=NOISE)
        yield Figure("cost", f"tick: {name}, median", "us", median / unit, "shown")
        counts = count_ticks(name, walk)
        for what, count in counts._asdict().items():
            note = "" if count is not None else "strace is not installed"
            yield Figure(
                "cost", f"tick: {name}, {what.replace('_', ' ')}", "", count, margin=0.5, note=note
            )


def _solves() -> Iterator[Figure]:
    """One iteration over bare stepping of as many physics steps, in processor time."""
    say("cost: an iteration of the planner")
    bench, times = make_workbench(), Times(process_time)
    timer = StageTimer(bench, make_cases(bench, CASES), times)
    for turn in range(1 + REPEATS):
        if turn == 1:
            times.seconds.clear()
        for case in range(CASES):
            timer.measure(case)
    bare = np.min(np.reshape(times.seconds["bare_stepping"], (REPEATS, CASES)), axis=0)
    steps = len(bench.paused.options.search.step_sizes) * bench.paused.options.search.substeps
    for name, stage, factor in (
        ("lock step", "iteration", 1.0),
        ("real time", "iteration_as_run", steps / bench.as_run.options.search.substeps),
    ):
        taken = np.min(np.reshape(times.seconds[stage], (REPEATS, CASES)), axis=0)
        yield Figure(
            "cost", f"iteration in {name} over bare stepping", "",
            factor * float(np.median(taken / bare)), tolerance=NOISE,
        )


def _trial() -> Iterator[Figure]:
    """Processor time of a trial of 6 s in lock step, by part."""
    say("cost: a trial of 6 s in lock step")
    before, run, times = pace(), LockStep(load_launch("push").with_threads(1)), Times(process_time)
    for part, owner, method in (
        ("estimator", run.estimator, "update"), ("planner", run.planner, "solve"),
        ("tracker", run.tracker, "command"), ("simulated robot", run.simulation, "advance"),
        ("sensors", run.simulation, "reading"), ("metrics", run.metrics, "add_estimate"),
    ):  # fmt: skip
        setattr(owner, method, times.wrap(part, getattr(owner, method)))
    begin = process_time()
    run.run()
    whole = process_time() - begin
    unit = 0.5 * (before + pace())
    for part, seconds in times.seconds.items():
        steady = len(seconds) * float(np.median(seconds))  # a stall of the host counts as work
        yield Figure("cost", f"trial: {part}", "s", steady / unit, tolerance=NOISE)
    yield Figure("cost", "trial: whole", "s", whole / unit, "shown")


class _Sample(NamedTuple):
    """Processor time of each process until a tick [ns]: of its main thread, and of others."""

    tick: int
    own: dict[str, int]
    others: dict[str, int]


class _Sampler:
    """Reads the processor time of a launch's processes once every WINDOW_TICKS."""

    def __init__(self) -> None:
        self.samples: list[_Sample] = []

    def __call__(self, supervisor: Supervisor, listener: Listener) -> None:
        tick = listener.ticks[GROUND_TRUTH.name]
        last = self.samples[-1].tick if self.samples else SETTLE_TICKS - WINDOW_TICKS
        if tick < last + WINDOW_TICKS:
            return
        pids = {child.name: child.pid for child in supervisor.children} | {"launcher": os.getpid()}
        times = {name: _processor_ns(pid) for name, pid in pids.items()}
        self.samples.append(
            _Sample(tick, {n: t[0] for n, t in times.items()}, {n: t[1] for n, t in times.items()})
        )

    def per_tick(self) -> dict[str, list[float]]:
        """Processor time of each process per ms of the robot, in each window [us]."""
        windows: dict[str, list[float]] = defaultdict(list)
        for a, b in zip(self.samples, self.samples[1:], strict=False):
            for name in a.own:
                for which, suffix in (("own", ""), ("others", ", other threads")):
                    spent = getattr(b, which)[name] - getattr(a, which)[name]
                    windows[name + suffix].append(1e-3 * spent / (b.tick - a.tick))
        return windows


def _processor_ns(pid: int) -> tuple[int, int]:
    """Processor time of a process's main thread and of its others [ns]; zeros once it is gone."""
    own = others = 0
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            spent = int((thread / "schedstat").read_text().split()[0])
            own, others = (spent, others) if thread.name == str(pid) else (own, others + spent)
    except OSError:
        pass
    return own, others


def _real_time() -> Iterator[Figure]:
    """One launch in real time: what each process takes, and what the clock shows."""
    say(f"cost: {LAUNCH_S:g} s in real time")
    sampler, before, load = _Sampler(), pace(), _OtherLoad()
    outcome = launch(load_launch("push", mode="realtime", duration=LAUNCH_S), meddle=sampler)
    other, unit = load.share(), 0.5 * (before + pace())
    windows = sampler.per_tick()
    total = np.zeros(2)
    for name, samples in sorted(windows.items()):
        least, median = least_and_median(samples)
        if not name.startswith("planner"):
            total += least, median
        if median >= 1.0:
            yield Figure("cost", f"1 ms: {name}", "us", least / unit, "shown")
    name = "1 ms: all but the planner"
    yield Figure("cost", f"{name}, least", "us", float(total[0]) / unit, tolerance=NOISE)
    yield Figure("cost", f"{name}, median", "us", float(total[1]) / unit, "shown")
    yield from _clock_figures(outcome, other)


def _clock_figures(outcome: LaunchOutcome, other: float) -> Iterator[Figure]:
    """What only a clock shows; beside other load it is shown and not judged."""
    summary, reports = outcome.summary, outcome.reports
    busy = other > BUSY
    note = f"other programs took {100 * other:.0f} % of the cores" if busy else ""
    estimator = reports.get("estimator", {})
    used = estimator.get("updates", 0) / (1e3 * LAUNCH_S)
    planner, ticks = summary["planner"], summary["tracker"]
    for name, unit, value, better, tolerance, margin in (
        ("plans a second", "1/s", planner["rate_hz"], "higher", 0.35, 0.0),
        ("solve, 99 %", "ms", planner["solve_ms"]["p99"], "lower", 0.5, 0.0),
        ("readings used", "%", 100.0 * used, "higher", 0.0, 15.0),
        ("missed ticks", "%", 100.0 * ticks["missed"] / max(1, ticks["ticks"]), "lower", 0.0, 1.0),
    ):
        yield Figure("cost", f"real time: {name}", unit, value, "shown" if busy else better,
                     tolerance, margin, note=note)  # fmt: skip
    yield Figure("cost", "real time: no fall", "", int(not summary["fell"]), "higher", note=note)


class _OtherLoad:
    """The share of all cores that other programs and the host take beside a launch."""

    def __init__(self) -> None:
        self._begin = self._now()

    def share(self) -> float:
        """Since it was made."""
        wall, idle, ours = (b - a for a, b in zip(self._begin, self._now(), strict=True))
        return max(0.0, 1.0 - (idle + ours) / (wall * (os.cpu_count() or 1)))

    def _now(self) -> tuple[float, float, float]:
        fields = Path("/proc/stat").read_text().split(maxsplit=9)
        idle = (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")
        mine = os.times()
        ours = mine.user + mine.system + mine.children_user + mine.children_system
        return time.monotonic(), idle, ours


def _emulated() -> Iterator[Figure]:
    """The emulated A1, with the host's stalls beside it."""
    ended, judged, notes, latency = 0, 0, [], None
    for number in range(EMULATED):
        say(f"cost: a1-emulated, {number + 1} of {EMULATED}")
        outcome, stalls = _watched_launch()
        robot = outcome.summary.get("robot", {})
        latency = robot.get("state_to_command_us", {}).get("p50")
        well = outcome.ok and bool(robot.get("ended_well"))
        ended += well
        judged += well or not stalls
        if not well:
            longest = max(stalls, default=0.0)
            notes.append(f"{robot.get('cause', '')}; longest stall of the host {longest:.0f} ms")
    share = ended / judged if judged else None
    yield Figure("cost", "a1-emulated: ended well", "",
                 share, "higher", note="; ".join(notes))  # fmt: skip
    yield Figure("cost", "a1-emulated: state to command", "us", latency, "shown")


def _watched_launch() -> tuple[LaunchOutcome, list[float]]:
    """A launch, and the stalls of the host beside it that a robot may not survive [ms]."""
    with tempfile.TemporaryDirectory() as folder, postponed_interrupt():
        watch = StallWatch(Path(folder) / "stalls.csv", time.monotonic())
        try:
            outcome = launch(load_launch("a1-emulated"))
            stalls = [stall.late_ms for stall in watch.stalls() or []]
        finally:
            watch.close()
    return outcome, [late for late in stalls if late > 20.0]
