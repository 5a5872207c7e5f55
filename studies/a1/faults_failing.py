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
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from runtime.messages import Message, SensorReading, StateEstimate
from runtime.rows import layout_of
from saltus.configuration.launch import LaunchConfig
from saltus.launch import assembly, processes

WAY = "SALTUS_FAULT"
HOG = signal.SIGUSR2  # starts a thread that keeps Python's lock
FAILS_AFTER_S = 4.0  # since the first estimate [s]

Spoil = tuple[str, slice, float]  # field of a message, which of its numbers, and what is added
PLANS: dict[str, Spoil] = {
    "NaN": ("inputs", slice(None), np.nan),
    "states": ("states_v", slice(0, 1), 100.0),  # [m/s]
    "inputs": ("inputs", slice(0, 12), 1000.0),  # [N m]
    "gains": ("gains", slice(0, 36), 1e7),
}
ESTIMATES: dict[str, Spoil] = {
    "joints": ("q", slice(7, 8), 0.8),  # [rad]
    "turn": ("v", slice(5, 6), 8.0),  # [rad/s]
    "speed": ("v", slice(0, 1), 20.0),  # [m/s]
}


def spoiled(method: Callable[[Any], Message], spoil: Spoil) -> Callable[..., Any]:
    """A core's method whose messages are spoiled from `FAILS_AFTER_S` on, of what it is given."""
    begun, (name, slots, offset) = list[float](), spoil

    def call(given: Any, *more: Any, **named: Any) -> Any:
        message = method(given, *more, **named)
        begun.append(given.time)
        if given.time - begun[0] < FAILS_AFTER_S:
            return message
        values = np.array(getattr(message, name))
        values[..., slots] += offset
        return msgspec.structs.replace(message, **{name: values})

    return call


def hog(*_: object) -> None:
    """Start a thread that keeps Python's lock: matching takes ages, and gives it to no other."""
    threading.Thread(target=lambda: re.match("(a+)+b", "a" * 60), daemon=True).start()


def main() -> int:
    """The process, with such a core or such a thread."""
    signal.signal(HOG, hog)
    way, planner, estimator = os.environ[WAY], assembly.make_planner, assembly.make_estimator

    def make_planner(config: LaunchConfig) -> Any:
        core: Any = planner(config)
        core.plan_from = spoiled(core.plan_from, PLANS[way])
        return core

    def make_estimator(config: LaunchConfig) -> Any:
        core: Any = estimator(config)
        heard, told = layout_of(SensorReading), layout_of(StateEstimate)
        update_row = core.update_row
        update = spoiled(lambda reading: told.message(update_row(reading.row)), ESTIMATES[way])
        core.update_row = lambda row: update(heard.message(row)).row
        return core

    assembly.make_planner, assembly.make_estimator = make_planner, make_estimator
    return processes.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
