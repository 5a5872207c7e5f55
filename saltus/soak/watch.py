"""Looks at a launch that runs: every few seconds a sample of its processes and its timing."""

from __future__ import annotations

import math
import os
import time
from typing import NamedTuple

from runtime.messages import RobotStatus
from saltus.configuration.launch import TICK_S
from saltus.launch.listener import Listener
from saltus.launch.supervisor import Supervisor
from saltus.soak.processes import use_of
from saltus.soak.samples import HANDLES, MEMORY, SampleFile

EVERY_S = 2.0
LAUNCHER = "launcher"  # this process, which listens to the launch

Sample = dict[str, float | str | None]


class _Mark(NamedTuple):
    """Where a count began: at a time [s], with so many."""

    time: float
    count: int


class Watch:
    """Samples one launch.

    A sample has the time since the soak began and that of the run; of each process the resident
    memory and the open handles; how many ticks the tracker has missed so far; the longest age of
    the robot's state at a command since the last sample, of fifty a second; the time from plan to
    plan, in the mean; the hottest motor; and where the robot is.

    Missed ticks are counted from statuses: the tracker's clock has so many ticks in the time from
    one to the other, and it has served so many. Its own count is in its report, at the end.
    """

    def __init__(self, file: SampleFile, launch: int, begun: float) -> None:
        """Sample the `launch`-th launch of a soak that began at `begun` [s], monotonic."""
        self._file, self._launch, self._begun = file, launch, begun
        self._due = -math.inf
        self._first: RobotStatus | None = None
        self._state_age = 0.0
        self._plans: _Mark | None = None

    def look(self, supervisor: Supervisor, listener: Listener, running_s: float) -> None:
        """Look; called some fifty times a second."""
        status, now = listener.status, time.monotonic()
        if status is None:
            return
        self._first = self._first or status
        if status.state == "running" and math.isfinite(status.state_age):
            self._state_age = max(self._state_age, status.state_age)
        if now < self._due:
            return
        self._due = now + EVERY_S
        self._file.write(self._sample(supervisor, listener, status, running_s, now))
        self._state_age, self._plans = 0.0, _Mark(now, listener.plans)

    def _sample(
        self, supervisor: Supervisor, listener: Listener, status: RobotStatus, running_s: float,
        now: float,
    ) -> Sample:  # fmt: skip
        plans = listener.plans - self._plans.count if self._plans else 0
        truth = listener.truth
        sample: Sample = {
            "elapsed_s": now - self._begun,
            "launch": float(self._launch),
            "running_s": running_s,
            "state": status.state,
            "missed": float(self._missed(status)),
            "state_age_ms": 1e3 * self._state_age,
            "plan_ms": 1e3 * (now - self._plans.time) / plans if self._plans and plans else None,
            "motor_degc": float(status.temperature.max()),
            "x_m": None if truth is None else float(truth.q[0]),
            "y_m": None if truth is None else float(truth.q[1]),
        }
        pids = {LAUNCHER: os.getpid()} | {child.name: child.pid for child in supervisor.children}
        uses = {name: use_of(pid) for name, pid in pids.items()}
        sample |= {MEMORY + name: use.memory_mb for name, use in uses.items()}
        return sample | {HANDLES + name: use.handles for name, use in uses.items()}

    def _missed(self, status: RobotStatus) -> int:
        """Ticks that the tracker has left out since its first status."""
        first = self._first or status
        due = round((status.time - first.time) / TICK_S)
        return max(0, due - (status.tick - first.tick))
