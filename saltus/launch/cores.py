"""Cores and priorities of the processes in real time (docs/realtime.md).

Linux takes a core from processes with real-time priority for 50 ms once they had 95 % of it for a
second, and the robot falls meanwhile: no core may carry more of them than it can.
"""

import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager

from runtime.realtime import (
    HIGHEST,
    avoid_huge_pages,
    prefer_process,
    quota,
    request_realtime,
    set_cpu_affinity,
    take_short_slices,
)
from saltus.configuration.launch import LaunchConfig
from saltus.configuration.planners import ConnectionKind

# The later in a tick, the more urgent: the command that ends it never waits.
URGENCY = {"estimator": 0, "tracker": 1, "watchdog": 3}  # above a bus's threads
OTHERS = 1.0  # cores that all processes but the planner take
LEAST_SHARE = 0.2  # of a core, which the planner takes under any quota
LISTENER_NICE = -10  # of a program that follows or drives a launch: after the planner
ROBOT_NICE = -20  # of a robot in software: before the planner, after all with real time


def serve_ticks(config: LaunchConfig, name: str) -> None:
    """Ask for real time for a 1 kHz process; before its bus opens, whose threads inherit it.

    A robot in software gets none: with it, a core of two that it shares with a process of the stack
    would now and then have more of them than Linux lets it run.
    """
    if config.mode != "realtime":
        return
    priority = config.realtime.priority
    if name not in URGENCY:
        refusal = "" if priority is None else prefer_process(ROBOT_NICE) or take_short_slices()
        logging.info("robot in software: nice level %s %s", ROBOT_NICE, refusal)
    else:
        status = request_realtime(None if priority is None else priority + URGENCY[name])
        logging.info("scheduler %s, memory locked: %s %s", *vars(status).values())
    settle(config, name)


def watchdog_priority(config: LaunchConfig) -> int | None:
    """The priority of a robot's watchdog, which goes before all; None: it asks for none.

    It runs on the tracker's cores: where the host takes a core away, both stand still.
    """
    priority = config.realtime.priority
    return None if priority is None else min(priority + URGENCY["watchdog"], HIGHEST)


def serve_plans(config: LaunchConfig) -> float:
    """Give the planner its place in real time; before the physics makes its threads.

    Returns:
        The cores whose time it may take: under a quota, what the other processes leave. Once a
        quota is used up, Linux stops all of them for tens of milliseconds.
    """
    if config.mode != "realtime":
        return math.inf
    nice = config.realtime.planner_nice
    refusal = "" if nice is None else prefer_process(nice)
    logging.info("planner: nice level %s %s", nice, refusal)
    settle(config, "planner")
    cores = quota()
    share = max(LEAST_SHARE, cores - OTHERS)
    if cores < math.inf:
        logging.warning("a quota of %g cores: the planner takes at most %g", cores, share)
    return share


@contextmanager
def preferred(config: LaunchConfig) -> Iterator[None]:
    """Let the caller go before ordinary programs, such as a browser, in real time.

    The launcher receives some thousand messages a second and loses those that it takes too late; a
    program that reads keys sleeps nearly always. Both share a terminal with others, whose nice
    level must not stay changed.
    """
    asks = config.mode == "realtime" and config.realtime.planner_nice is not None
    before = os.getpriority(os.PRIO_PROCESS, 0)
    taken = asks and not prefer_process(LISTENER_NICE)
    try:
        yield
    finally:
        if taken:
            prefer_process(before)


def settle(config: LaunchConfig, name: str) -> None:
    """Keep this process on its cores, where there are cores to share out."""
    avoid_huge_pages()
    if not config.realtime.pin:
        return
    refusal = set_cpu_affinity(cores_of(name, os.sched_getaffinity(0), config.kind))
    if refusal:
        logging.warning("%s", refusal)


def cores_of(name: str, cores: set[int], kind: ConnectionKind) -> set[int]:
    """The cores of a process among those of the launch.

    On two cores the planner has the last one, and all others the first; the tracker of an emulated
    robot goes with the planner, because the emulator takes half of the first. On more cores the
    tracker has the last one, and the others share the rest.
    """
    if len(cores) < 2:
        return cores
    last = {max(cores)}
    if len(cores) > 2:
        return last if name == "tracker" else cores - last
    guest = "tracker" if kind.emulated else ""
    return last if name in ("planner", guest) else cores - last
