"""Who runs on which core in real time, and with what urgency.

The 1 kHz processes and the recorder share the last core: each of them sleeps most of its
millisecond. The planner has the others, where nobody interrupts it. On an A1 the last core is the
tracker's, whose bridge takes half of it, and the estimator runs where there is room.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from runtime.realtime import request_realtime, set_cpu_affinity
from saltus.configuration import LaunchConfig

# The later in a tick, the more urgent: nobody keeps the command that ends it waiting.
URGENCY = {"simulation": 0, "emulator": 0, "estimator": 1, "tracker": 2}


def serve_ticks(config: LaunchConfig, name: str) -> None:
    """Ask for real time for a 1 kHz process; before its bus opens, whose threads inherit it."""
    if config.mode != "realtime":
        return
    priority = config.realtime.priority
    status = request_realtime(None if priority is None else priority + URGENCY[name])
    logging.info("scheduler %s, memory locked: %s %s", *vars(status).values())
    cores = os.sched_getaffinity(0)
    if pins(config) and name == "emulator":
        # It stands for another computer: what it takes is not the stack's to give.
        set_cpu_affinity(cores - {max(cores)})
    elif pins(config) and not (config.bridged and name == "estimator"):
        # Beside the bridge to an A1 there is no room for a filter: Linux takes a core from
        # processes with real-time priority for 50 ms once they had 95 % of it for a second.
        set_cpu_affinity({max(cores)})


def leave_tick_core(config: LaunchConfig) -> None:
    """Take the planner off the last core; before the physics makes its threads."""
    if pins(config):
        cores = os.sched_getaffinity(0)
        set_cpu_affinity(cores - {max(cores)})


@contextmanager
def on_tick_core(config: LaunchConfig) -> Iterator[None]:
    """Keep the recording process off the planner's cores meanwhile."""
    before = os.sched_getaffinity(0)
    if pins(config):
        set_cpu_affinity({max(before)})
    try:
        yield
    finally:
        set_cpu_affinity(before)


def pins(config: LaunchConfig) -> bool:
    """Whether there are cores to share out."""
    realtime = config.mode == "realtime" and config.realtime.pin
    return realtime and len(os.sched_getaffinity(0)) > 1
