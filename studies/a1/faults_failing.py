"""A process that goes wrong, for the study of faults: planner and estimator after a while, the
tracker when it gets `HOG`.

Run in place of the process's module; takes the same arguments as `saltus.launch.processes`. The
environment variable of `WAY` names the way in which it goes wrong, of `PLANS` or `ESTIMATES`.
"""

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from runtime.checked import Array
from runtime.messages import Message, Plan, SensorReading, StateEstimate
from runtime.rows import layout_of, message_of
from saltus.configuration.launch import LaunchConfig
from saltus.launch import assembly, processes

WAY = "SALTUS_FAULT"
HOG = signal.SIGUSR2  # starts a thread that keeps Python's lock
FAILS_AFTER_S = 4.0  # since the first estimate [s]

Spoil = Callable[[Any], Mapping[str, Any]]  # the fields of a message that are wrong, and how


def _times(name: str, factor: float) -> Spoil:
    return lambda message: {name: factor * getattr(message, name)}


def _plus(name: str, slots: slice, offset: float) -> Spoil:
    def spoil(message: Any) -> Mapping[str, Any]:
        values = np.array(getattr(message, name))
        values[..., slots] += offset
        return {name: values}

    return spoil


PLANS: dict[str, Spoil] = {
    "NaN": _times("inputs", np.nan),
    "states": _plus("states_v", slice(0, 1), 100.0),  # [m/s]
    "inputs": _plus("inputs", slice(0, 12), 1000.0),  # [N m]
    "gains": _plus("gains", slice(0, 36), 1e7),
}
ESTIMATES: dict[str, Spoil] = {
    "joints": _plus("q", slice(7, 8), 0.8),  # [rad]
    "turn": _plus("v", slice(5, 6), 8.0),  # [rad/s]
    "speed": _plus("v", slice(0, 1), 20.0),  # [m/s]
}


class _Failing:
    """A core whose messages are spoiled from `FAILS_AFTER_S` on; all else is the core's own."""

    def __init__(self, core: Any, spoil: Spoil) -> None:
        self._core, self._spoil = core, spoil
        self._first: float | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def _spoiled(self, message: Message, time: float) -> Any:
        self._first = time if self._first is None else self._first
        if time - self._first < FAILS_AFTER_S:
            return message
        return msgspec.structs.replace(message, **self._spoil(message))


class FailingPlanner(_Failing):
    """A planner of bad plans."""

    def plan_from(self, estimate: StateEstimate, *arguments: Any, **named: Any) -> Plan:
        """Plan, and spoil the plan when it is time to."""
        return self._spoiled(self._core.plan_from(estimate, *arguments, **named), estimate.time)


class FailingEstimator(_Failing):
    """An estimator of bad estimates."""

    def update(self, reading: SensorReading) -> StateEstimate:
        """Estimate, and spoil the estimate when it is time to."""
        return self._spoiled(message_of(self._core.update(reading)), reading.time)

    def update_row(self, reading: Array) -> Array:
        """The same from row to row, as the estimator's process asks."""
        return self.update(layout_of(SensorReading).message(reading)).row


def hog(*_: object) -> None:
    """Start a thread that keeps Python's lock: matching takes ages, and gives it to no other."""
    threading.Thread(target=lambda: re.match("(a+)+b", "a" * 60), daemon=True).start()


def main() -> int:
    """The process, with such a core or such a thread."""
    signal.signal(HOG, hog)
    way, planner, estimator = os.environ[WAY], assembly.make_planner, assembly.make_estimator

    def make_planner(config: LaunchConfig) -> Any:
        return FailingPlanner(planner(config), PLANS[way])

    def make_estimator(config: LaunchConfig) -> Any:
        return FailingEstimator(estimator(config), ESTIMATES[way])

    assembly.make_planner, assembly.make_estimator = make_planner, make_estimator
    return processes.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
