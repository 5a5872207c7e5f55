"""Ticks of the three processes at 1 kHz, alone: their calls, their bytes, their system calls.

Each process's own loop runs here, one at a time, over the bus and UDP, fed from a walk that was
recorded in lock step. Time stands still within a tick and steps by 1 ms between two, so a stall of
the host changes no count. ``python -m saltus.bench.score.cost NAME`` runs a loop for strace.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from time import process_time, sleep, thread_time
from typing import Any

import numpy as np

from hw_bridge.watchdog.watchdog import SILENCE_S
from runtime.bus import Bus, Endpoints
from runtime.channels import Publisher
from runtime.clock import RealTimeClock
from runtime.topics import (
    GROUND_TRUTH,
    MOTOR_COMMAND,
    SENSOR_READING,
    SIMULATED_READING,
    STATE_COVARIANCE,
    STATE_ESTIMATE,
)
from saltus.bench.planner import StageTimer
from saltus.bench.score.figures import Figure, least_and_median, pace, time_figure
from saltus.bench.tick import PlayedTracker, Walk, recorded_walk
from saltus.common.console import say
from saltus.common.errors import postponed_interrupt
from saltus.common.stalls import StallWatch
from saltus.common.timing import Times
from saltus.configuration.launch import TICK_S, load_launch
from saltus.launch import assembly
from saltus.launch.launcher import LaunchOutcome, launch
from saltus.launch.listener import Listener
from saltus.launch.lock_step import LockStep
from saltus.launch.supervisor import Supervisor
from studies.a1.systems.planner_cases import make_cases, make_workbench

RECORDED_S, WARM_UP = 1.8, 300  # of the walk [s], ticks
TICKS, WINDOW = 1400, 200
TRACED = 200
_MARK = "getpriority"  # a system call that no tick makes
_OWN = {  # functions of the measurement itself, within a tick
    "Meter.end", "counting.<locals>.end", "counting.<locals>.counted", "Meter.done",
    "_between_ticks.<locals>.stop",
}  # fmt: skip
Start = Callable[[], Callable[[], Any]]  # begins a measurement; what it returns ends it


class Meter:
    """Measures from `begin` to `end` of each tick; the first ticks warm up."""

    def __init__(self, ticks: int, start: Start) -> None:
        self.last, self.count, self._start = WARM_UP + ticks, 0, start
        self.samples: list[Any] = []

    @property
    def done(self) -> bool:
        """Whether all ticks have been."""
        return self.count >= self.last

    def begin(self) -> None:
        """Before a tick."""
        self._end = self._start()

    def end(self) -> None:
        """After it."""
        sample = self._end()
        self.count += 1
        if self.count > WARM_UP:
            self.samples.append(sample)


def processor_us() -> Callable[[], float]:
    """Measure processor time of the loop's thread [us]."""
    begin = thread_time()
    return lambda: 1e6 * (thread_time() - begin)


@contextlib.contextmanager
def counting() -> Iterator[Start]:
    """Have Python calls, C calls and bytes of all published messages counted meanwhile."""
    counts, send = Counter[str](), Publisher.send

    def note(frame: Any, event: str, argument: Any) -> None:
        counts[event] += frame.f_code.co_qualname not in _OWN

    def counted(publisher: Publisher[Any], content: Any) -> None:
        profile = sys.getprofile()
        sys.setprofile(None)
        counts["bytes"] += len(publisher.frame(content))
        sys.setprofile(profile)
        send(publisher, content)

    def start() -> Callable[[], Any]:
        counts.clear()
        sys.setprofile(note)
        return end

    def end() -> tuple[int, int, int]:
        sys.setprofile(None)
        return counts["call"], counts["c_call"], counts["bytes"]

    Publisher.send = counted  # type: ignore[method-assign]
    try:
        yield start
    finally:
        Publisher.send = send  # type: ignore[method-assign]


def mark() -> Callable[[], Any]:
    """Mark the begin or the end of a tick in a trace of system calls."""
    os.getpriority(os.PRIO_PROCESS, 0)
    return mark


class SteppedClock(RealTimeClock):
    """A real-time clock that steps by a period at each tick, while `step_time` lasts."""

    def __init__(self) -> None:
        super().__init__(TICK_S)
        self._time = np.full(1, time.monotonic())
        self.now = self._time.item  # a C function, as the one in whose place it stands

    def due(self) -> float:
        """The time of this tick [s]."""
        return self.now()

    def wait_tick(self) -> int:
        """Step to the next tick."""
        self._time += TICK_S
        self._tick += 1
        return self._tick

    @contextlib.contextmanager
    def step_time(self) -> Iterator[None]:
        """Have everybody in this process read the time from here meanwhile."""
        monotonic = time.monotonic
        self._time[0] = monotonic()
        time.monotonic = self.now  # type: ignore[assignment]
        try:
            yield
        finally:
            time.monotonic = monotonic


def record_walk() -> Walk:
    """The walk that is played."""
    return recorded_walk(LockStep(load_launch("push", duration=RECORDED_S)))


def run_ticks(name: str, walk: Walk, meter: Meter) -> None:
    """Run the loop of one of PROCESSES until the meter is done."""
    with tempfile.TemporaryDirectory() as folder, Bus(Endpoints.ipc(Path(folder))) as bus:
        PROCESSES[name](walk, meter, bus)


def count_ticks(name: str, walk: Walk) -> dict[str, float | None]:
    """Costs of a tick of one of PROCESSES: medians, which do not vary with the computer's load.

    System calls are those of the loop's own thread; None without strace.
    """
    with counting() as start:
        meter = Meter(TRACED, start)
        run_ticks(name, walk, meter)
    counts = [*np.median(meter.samples, axis=0).tolist(), _system_calls(name)]
    return dict(zip(("python calls", "c calls", "bytes", "system calls"), counts, strict=True))


def _run_tracker(walk: Walk, meter: Meter, bus: Bus) -> None:
    clock = SteppedClock()
    with clock.step_time():  # from the first frame on, by which the bridge sets its clock
        played = PlayedTracker(bus, walk, clock)
        while not meter.done:
            tick = clock.wait_tick()
            played.prepare(tick + 1)
            meter.begin()
            played.loop.tick(tick + 1)
            meter.end()
        played.close()


def _run_estimator(walk: Walk, meter: Meter, bus: Bus) -> None:
    """The node's loop; it asks whether to stop before each reading, which is sent then."""
    from estimator import node

    readings, estimates = bus.publisher(SENSOR_READING), bus.publisher(STATE_ESTIMATE)
    listeners = [bus.subscriber(STATE_ESTIMATE).take, bus.subscriber(STATE_COVARIANCE).take]
    covariances, here = bus.publisher(STATE_COVARIANCE), bus.subscriber(SENSOR_READING)
    send = readings.send
    sleep(0.2)  # for subscriptions to arrive

    def feed() -> None:
        for listen in listeners:
            listen()
        send(walk.readings[meter.count])
        here.poll(1.0)  # it has arrived

    node.run(
        assembly.make_estimator(load_launch("push")), here, estimates, RealTimeClock(TICK_S),
        _between_ticks(meter, feed), covariances=covariances,
    )  # fmt: skip


def _run_simulation(walk: Walk, meter: Meter, bus: Bus) -> None:
    """The node's loop, without commands: the motors hold the first one."""
    from sim_bridge import node

    commands = bus.publisher(MOTOR_COMMAND)
    listeners = [bus.subscriber(SIMULATED_READING).take, bus.subscriber(GROUND_TRUTH).take]
    config, clock = load_launch("stand", mode="realtime"), SteppedClock()
    robot, tracker = assembly.make_simulation(config), assembly.make_tracker(config)
    _, estimate = walk.recorded[0]
    hold = tracker.command(estimate, walk.plans[0], estimate.time, walk.recorded[0][0]).row
    options = node.SimulationNodeOptions(reading_subscribers=1, truth_subscribers=1)

    def feed() -> None:
        for listen in listeners:
            listen()
        hold[0] = meter.count  # its tick
        commands.send(hold)

    with clock.step_time():
        node.run(robot, bus, clock, 3600.0, _between_ticks(meter, feed), options)


PROCESSES: dict[str, Callable[[Walk, Meter, Bus], None]] = {
    "tracker with bridge": _run_tracker,
    "estimator": _run_estimator,
    "simulated robot": _run_simulation,
}


def _between_ticks(meter: Meter, feed: Callable[[], None]) -> Callable[[], bool]:
    """A stop flag that ends a tick, prepares the next and begins it."""
    began = False

    def stop() -> bool:
        nonlocal began
        if began and not meter.done:
            meter.end()
        if meter.done:
            return True
        feed()
        began = True
        meter.begin()
        return False

    return stop


def _system_calls(name: str) -> float | None:
    """Median of the system calls of a tick on the loop's thread; None without strace."""
    if which("strace") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        command = ["strace", "-o", str(trace), sys.executable, "-m", __name__, name]
        done = subprocess.run(command, capture_output=True)
        if done.returncode != 0 or not trace.exists():
            return None
        lines = trace.read_text(errors="replace").splitlines()
    marks = [number for number, line in enumerate(lines) if line.startswith(_MARK)]
    between = np.diff(marks)[::2] - 1  # from each begin to its end
    return float(np.median(between[WARM_UP:])) if len(between) > WARM_UP else None


REPEATS = 5  # of a solve in each case
CASES = 6
LAUNCH_S, SETTLE_TICKS, WINDOW_TICKS = 20.0, 2000, 1000
EMULATED = 2
PATIENCE_MS = 1e3 * (SILENCE_S - TICK_S)  # of the watchdog; a heartbeat may be a tick old


def measure() -> Iterator[Figure]:
    """All figures of the group, the cheap ones first."""
    yield from _ticks()
    yield from _solves()
    yield from _trial()
    yield from _real_time()
    yield from _emulated()


def _ticks() -> Iterator[Figure]:
    walk = record_walk()
    for name in PROCESSES:
        say(f"cost: a tick of the {name}")
        meter, before = Meter(TICKS, processor_us), pace()
        run_ticks(name, walk, meter)
        windows = np.mean(np.reshape(meter.samples, (-1, WINDOW)), axis=1)
        least, median = least_and_median(windows.tolist())
        unit = 0.5 * (before + pace())
        yield time_figure(f"tick: {name}, least", "us", least / unit)
        yield Figure(f"tick: {name}, median", "us", median / unit, "shown")
        for what, count in count_ticks(name, walk).items():
            note = "" if count is not None else "strace is not installed"
            yield Figure(f"tick: {name}, {what}", "", count, margin=0.5, note=note)


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
        setattr(owner, method, times.wrap(part, getattr(owner, method)))
    begin = process_time()
    run.run()
    whole = process_time() - begin
    unit = 0.5 * (before + pace())
    for part, seconds in times.seconds.items():
        steady = len(seconds) * float(np.median(seconds))  # a stall of the host counts as work
        # A part is worse if the trial notices it: 1 % of the whole.
        yield time_figure(f"trial: {part}", "s", steady / unit)._replace(margin=0.01 * whole / unit)
    yield Figure("trial: whole", "s", whole / unit, "shown")


class _Sampler:
    """Reads the processor time of a launch's processes once every WINDOW_TICKS.

    Attributes:
        samples: tick, and until then the time of each process [ns], see `_processor_ns`.
    """

    def __init__(self) -> None:
        self.samples: list[tuple[int, dict[str, tuple[int, int]]]] = []

    def __call__(self, supervisor: Supervisor, listener: Listener) -> None:
        tick = listener.ticks[GROUND_TRUTH.name]
        last = self.samples[-1][0] if self.samples else SETTLE_TICKS - WINDOW_TICKS
        if tick < last + WINDOW_TICKS:
            return
        pids = {child.name: child.pid for child in supervisor.children} | {"launcher": os.getpid()}
        times = {name: _processor_ns(pid) for name, pid in pids.items()}
        self.samples.append((tick, times))

    def per_tick(self) -> dict[str, list[float]]:
        """Processor time of each process per ms of the robot, in each window [us]."""
        windows: dict[str, list[float]] = defaultdict(list)
        for (begin, before), (end, after) in zip(self.samples, self.samples[1:], strict=False):
            for name in before:
                for k, suffix in enumerate(("", ", other threads")):
                    spent = after[name][k] - before[name][k]
                    windows[name + suffix].append(1e-3 * spent / (end - begin))
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
    """One launch in real time: what each process takes, and what the clock shows.

    What only a clock shows depends on other programs and the host: it is never judged. `unit` is
    the pace of this computer: times and rates are those of the unit's.
    """
    say(f"cost: {LAUNCH_S:g} s in real time")
    sampler, before = _Sampler(), pace()
    outcome = launch(load_launch("push", mode="realtime", duration=LAUNCH_S), meddle=sampler)
    unit, windows = 0.5 * (before + pace()), sampler.per_tick()
    total = np.zeros(2)
    for name, samples in sorted(windows.items()):
        least, median = least_and_median(samples)
        if not name.startswith("planner"):
            total += least, median
        yield Figure(f"1 ms: {name}", "us", least / unit, "shown")
    name = "1 ms: all but the planner"
    yield time_figure(f"{name}, least", "us", float(total[0]) / unit)
    yield Figure(f"{name}, median", "us", float(total[1]) / unit, "shown")
    summary = outcome.summary
    planner, ticks = summary["planner"], summary["tracker"]
    used = outcome.reports.get("estimator", {}).get("updates", 0) / (1e3 * LAUNCH_S)
    plan_ms = float(np.median(windows["planner"])) / planner["rate_hz"]
    yield time_figure("real time: processor time of a plan", "ms", plan_ms / unit, 0.35)
    for name, measure, value in (
        ("plans a second", "1/s", unit * planner["rate_hz"]),
        ("solve, 99 %", "ms", planner["solve_ms"]["p99"] / unit),
        ("readings used", "%", 100.0 * used),
        ("missed ticks", "%", 100.0 * ticks["missed"] / max(1, ticks["ticks"])),
    ):
        yield Figure(f"real time: {name}", measure, value, "shown")
    yield Figure("real time: no fall", "", int(not summary["fell"]), "higher")


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
    yield Figure("a1-emulated: ended well", "",
                 share, "higher", note="; ".join(notes))  # fmt: skip
    yield Figure("a1-emulated: state to command", "us", latency, "shown")


def _watched_launch() -> tuple[LaunchOutcome, list[float]]:
    """A launch, and the stalls of the host beside it for which the watchdog damps [ms]."""
    with tempfile.TemporaryDirectory() as folder, postponed_interrupt():
        watch = StallWatch(Path(folder) / "stalls.csv", time.monotonic())
        try:
            outcome = launch(load_launch("a1-emulated"))
            stalls = [stall.late_ms for stall in watch.stalls() or []]
        finally:
            watch.close()
    return outcome, [late for late in stalls if late > PATIENCE_MS]


if __name__ == "__main__":
    run_ticks(sys.argv[1], record_walk(), Meter(TRACED, mark))
