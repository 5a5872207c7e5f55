"""Ticks of the three processes at 1 kHz, alone: their calls, their bytes, their system calls.

Each process's own loop runs here, one at a time, over the bus and UDP, fed from a walk that was
recorded in lock step. Time stands still within a tick and steps by 1 ms between two, so a stall of
the host changes no count. ``python -m saltus.score.ticks NAME`` runs a loop to be traced by strace.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from time import sleep, thread_time
from typing import Any, NamedTuple

import msgspec
import numpy as np

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
from saltus.bench.tick import PlayedTracker, Walk, recorded_walk
from saltus.configuration.launch import TICK_S, LaunchConfig, load_launch
from saltus.launch import assembly
from saltus.launch.lock_step import LockStep

PROCESSES = ("tracker with bridge", "estimator", "simulated robot")
RECORDED_S, WARM_UP = 1.8, 300  # of the walk [s], ticks
TICKS, WINDOW = 1400, 200
TRACED = 200
_MARK = "getpriority"  # a system call that no tick makes

Hook = Callable[[], None]


class Meter:
    """Measures from `begin` to `end` of each tick; the first ticks warm up."""

    def __init__(self, ticks: int) -> None:
        self.last, self.count = WARM_UP + ticks, 0
        self.samples: list[Any] = []

    @property
    def done(self) -> bool:
        """Whether all ticks have been."""
        return self.count >= self.last

    def begin(self) -> None:
        """Before a tick."""

    def end(self) -> None:
        """After it."""

    def add(self, sample: Any) -> None:
        """Keep what was measured of a tick."""
        self.count += 1
        if self.count > WARM_UP:
            self.samples.append(sample)


class TimeMeter(Meter):
    """Processor time of the loop's thread [us]."""

    def begin(self) -> None:
        """Before a tick."""
        self._begin = thread_time()

    def end(self) -> None:
        """After it."""
        self.add(1e6 * (thread_time() - self._begin))

    def windows(self) -> list[float]:
        """Mean of a tick in each window [us]."""
        return np.mean(np.reshape(self.samples, (-1, WINDOW)), axis=1).tolist()


class CallMeter(Meter):
    """Python calls, C calls and bytes of messages that a tick publishes."""

    def __init__(self, ticks: int) -> None:
        super().__init__(ticks)
        self._calls = {"call": 0, "c_call": 0}
        self.bytes = 0

    def begin(self) -> None:
        """Before a tick."""
        self._calls.update(call=0, c_call=0)
        self.bytes = 0
        sys.setprofile(self._note)

    def end(self) -> None:
        """After it."""
        sys.setprofile(None)
        self.add((self._calls["call"], self._calls["c_call"], self.bytes))

    def _note(self, frame: Any, event: str, argument: Any) -> None:
        if event in self._calls:
            self._calls[event] += 1

    @contextlib.contextmanager
    def counting_bytes(self) -> Iterator[None]:
        """Count the messages of every publisher meanwhile."""
        send = Publisher.send

        def counted(publisher: Publisher[Any], content: Any) -> None:
            profile = sys.getprofile()
            sys.setprofile(None)
            self.bytes += len(publisher.frame(content))
            sys.setprofile(profile)
            send(publisher, content)

        Publisher.send = counted  # type: ignore[method-assign]
        try:
            yield
        finally:
            Publisher.send = send  # type: ignore[method-assign]


class MarkMeter(Meter):
    """Marks ticks in a trace of system calls."""

    def begin(self) -> None:
        """Before a tick."""
        os.getpriority(os.PRIO_PROCESS, 0)

    def end(self) -> None:
        """After it."""
        os.getpriority(os.PRIO_PROCESS, 0)
        self.add(None)


class SteppedClock(RealTimeClock):
    """A real-time clock that steps by a period at each tick, once `step_time` has begun."""

    def __init__(self) -> None:
        super().__init__(TICK_S)
        self._now: float | None = None

    def now(self) -> float:
        """The time of this tick [s]."""
        return time.monotonic()

    due = now

    def wait_tick(self) -> int:
        """Step to the next tick."""
        assert self._now is not None, "time is not stepped yet"
        self._now += TICK_S
        self._tick += 1
        return self._tick

    @contextlib.contextmanager
    def step_time(self) -> Iterator[None]:
        """Have everybody in this process read the time from here meanwhile."""
        monotonic = time.monotonic
        self._now = monotonic()
        time.monotonic = lambda: self._now  # type: ignore[assignment]
        try:
            yield
        finally:
            time.monotonic, self._now = monotonic, None


class Counts(NamedTuple):
    """Medians of a tick: they do not vary with the computer's load."""

    python_calls: float
    c_calls: float
    bytes: float
    system_calls: float | None  # of the loop's own thread; None without strace


def record_walk() -> tuple[LaunchConfig, Walk]:
    """The walk that is played."""
    config = load_launch("push", duration=RECORDED_S)
    return config, recorded_walk(LockStep(config))


def run_ticks(name: str, walk: Walk, meter: Meter) -> None:
    """Run the loop of one of PROCESSES until the meter is done."""
    loops = {
        PROCESSES[0]: _run_tracker, PROCESSES[1]: _run_estimator, PROCESSES[2]: _run_simulation
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, Bus(Endpoints.ipc(Path(folder))) as bus:
        loops[name](walk, meter, bus)


def count_ticks(name: str, walk: Walk, ticks: int = TRACED) -> Counts:
    """What a tick of one of PROCESSES does."""
    meter = CallMeter(ticks)
    with meter.counting_bytes():
        run_ticks(name, walk, meter)
    python_calls, c_calls, sent = np.median(meter.samples, axis=0).tolist()
    return Counts(python_calls, c_calls, sent, _system_calls(name))


def _run_tracker(walk: Walk, meter: Meter, bus: Bus) -> None:
    clock = SteppedClock()
    with clock.step_time():  # from the first frame on, by which the bridge sets its clock
        played = PlayedTracker(bus, walk.recorded, walk.plans, clock)
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
    """The node's loop; nobody commands the robot, whose motors hold the first command."""
    from sim_bridge import node

    commands = bus.publisher(MOTOR_COMMAND)
    listeners = [bus.subscriber(SIMULATED_READING).take, bus.subscriber(GROUND_TRUTH).take]
    config, clock = load_launch("stand", mode="realtime"), SteppedClock()
    robot, tracker = assembly.make_simulation(config), assembly.make_tracker(config)
    _, estimate = walk.recorded[0]
    hold = tracker.command(estimate, walk.plans[0], estimate.time, walk.recorded[0][0])
    options = node.SimulationNodeOptions(reading_subscribers=1, truth_subscribers=1)

    def feed() -> None:
        for listen in listeners:
            listen()
        commands.send(msgspec.structs.replace(hold, tick=meter.count))

    with clock.step_time():
        node.run(robot, bus, clock, 3600.0, _between_ticks(meter, feed), options)


def _between_ticks(meter: Meter, feed: Hook) -> Callable[[], bool]:
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


if __name__ == "__main__":
    run_ticks(sys.argv[1], record_walk()[1], MarkMeter(TRACED))
