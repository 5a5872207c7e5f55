"""How long this machine stops by itself: no program on it can leave shorter gaps than that.

The host under a virtual machine stops it when it has other work, or when the virtual machine has
used its share of processor time. Kernel and firmware stop a machine too.
"""

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor

PRIORITY = 98  # above every process of a launch and its threads
PERIOD_S = 0.0005
WATCH_S = 10.0
BOUND_MS = 5.0  # a robot without a new command for longer acts on one that is five ticks old


def longest_stop(seconds: float = WATCH_S) -> float:
    """Longest time for which a process of the highest priority did not run [ms].

    On every core one such process wakes each half millisecond, and another of normal priority keeps
    the core busy: many hosts stop only a machine that is busy.

    Raises PermissionError where SCHED_FIFO is refused.
    """
    cores = sorted(os.sched_getaffinity(0))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2 * len(cores), mp_context=spawn) as processes:
        watches = [processes.submit(_watch, core, seconds) for core in cores]
        for core in cores:
            processes.submit(_work, core, seconds)
        return 1e3 * max(watch.result() for watch in watches)


def verdict(stop_ms: float) -> tuple[bool, str]:
    """Whether that is short enough, and in words what was measured and what helps."""
    found = f"a busy core stopped for up to {stop_ms:.1f} ms"
    if stop_ms <= BOUND_MS:
        return True, f"{found} in {WATCH_S:g} s (up to {BOUND_MS:g} ms is good)"
    return False, (
        f"{found}, more than {BOUND_MS:g} ms: no setting of Saltus helps, commands have such gaps "
        "too; take a machine that is not virtual, or one whose host is not shared"
    )


def _watch(core: int, seconds: float) -> float:
    """Longest time between two turns of this process on `core` [s]."""
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    last = time.monotonic()
    end, longest = last + seconds, 0.0
    while last < end:
        time.sleep(PERIOD_S)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    return longest


def _work(core: int, seconds: float) -> None:
    """Keep `core` busy."""
    os.sched_setaffinity(0, {core})
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
