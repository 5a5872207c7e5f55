"""Ask Linux for real-time scheduling, locked memory and processors; report what was granted."""

import ctypes
import gc
import math
import os
import platform
import resource
import struct
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MCL_CURRENT, MCL_FUTURE = 1, 2  # <sys/mman.h>
STACK = 1 << 19  # [bytes] of a thread of a process whose memory is locked
PR_SET_THP_DISABLE = 41  # <linux/prctl.h>
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}  # <asm/unistd.h>; the C library has no function
SCHED_ATTR = "=IIQiIQQQ"  # struct sched_attr: size, policy, flags, nice, priority, runtime, ...
SHORTEST_SLICE = 100_000  # that Linux grants [ns]
AUTOGROUP = Path("/proc/self/autogroup")  # sched(7)
CGROUPS, CGROUP = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")  # cgroups(7)
HIGHEST = 99  # priority that Linux has
LIMITS = "/etc/security/limits.conf"


@dataclass(frozen=True)
class RealtimeStatus:
    """Priorities that the system granted; `reason` says why not all, and the remedy."""

    scheduler: str  # "fifo" or "other"
    locked: bool
    reason: str = ""


def request_realtime(priority: int | None) -> RealtimeStatus:
    """Take SCHED_FIFO at `priority` (1..99) and lock memory; None asks for neither. Never raises.

    Call it once all is loaded and before the Bus is made, whose threads take their priority from
    this process. It freezes the heap too.
    """
    freeze_heap()
    if priority is None:
        return RealtimeStatus("other", False, "not requested")
    scheduling = _schedule_fifo(priority)
    locking = _lock_memory()
    reasons = "; ".join(reason for reason in (scheduling, locking) if reason)
    return RealtimeStatus("other" if scheduling else "fifo", not locking, reasons)


def freeze_heap() -> None:
    """Have the garbage collector leave alone what exists now: its pauses in the loop are shorter.

    Call it once all is loaded and warm.
    """
    gc.collect()
    gc.freeze()


def priority_above() -> int | None:
    """SCHED_FIFO priority for a thread on which the calling one shall not keep waiting.

    One above the calling thread's, 99 at most. None where that one is not under SCHED_FIFO, or may
    not have a thread above it.
    """
    if os.sched_getscheduler(0) != os.SCHED_FIFO:
        return None
    own = os.sched_getparam(0)
    above = os.sched_param(min(own.sched_priority + 1, HIGHEST))
    try:
        os.sched_setparam(0, above)  # tried here: a library that is refused it may end the process
    except PermissionError:
        return None
    os.sched_setparam(0, own)
    return above.sched_priority


def prefer_process(nice: int) -> str:
    """Take the nice level `nice` (-20 to 19), for which no real-time priority is needed.

    Where Linux groups processes by session (autogroup), the group takes it too: without that, a
    process of another session has an equal share whatever the nice levels. Returns "" or why it was
    refused, and the remedy; never raises.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, nice)
        if AUTOGROUP.exists() and AUTOGROUP.read_text():  # empty: in no session's group
            AUTOGROUP.write_text(str(nice))
    except OSError as error:
        why = os.strerror(error.errno or 0)
        return f"nice level {nice} refused ({why}): add '<user> - nice {nice}' to {LIMITS}"
    return ""


def take_short_slices() -> str:
    """Ask for the shortest time slices that Linux has; for a process that wakes in every tick.

    From Linux 6.12 on, it then preempts other processes without real-time priority when it wakes;
    with slices of the usual length, some ms, it may wait for the end of theirs. Older versions
    ignore it (sched_setattr(2)). Call it after `prefer_process`, whose nice level it keeps. Returns
    "" or why it was refused; never raises.
    """
    call = SCHED_SETATTR.get(platform.machine())
    if call is None:
        return f"short time slices are not known on {platform.machine()}"
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    size = struct.calcsize(SCHED_ATTR)
    attributes = struct.pack(SCHED_ATTR, size, os.SCHED_OTHER, 0, nice, 0, SHORTEST_SLICE, 0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(call, 0, attributes, 0) != 0:
        return f"short time slices refused ({os.strerror(ctypes.get_errno())})"
    return ""


def avoid_huge_pages() -> None:
    """Keep the kernel from making huge pages of this process's memory and of its children's.

    A kernel without preemption holds a core for some milliseconds while it does.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


def set_cpu_affinity(cpus: Iterable[int]) -> str:
    """Keep this process on `cpus`. Returns "" or, on refusal, the reason; never raises."""
    wanted = set(cpus)
    try:
        os.sched_setaffinity(0, wanted)
    except (OSError, ValueError, OverflowError) as error:
        available = sorted(os.sched_getaffinity(0))
        return f"processors {sorted(wanted)} refused ({error}); available are {available}"
    return ""


def quota() -> float:
    """Cores whose time this process may take together with others; infinite without a limit."""
    shares = [math.inf]
    with suppress(OSError, ValueError):
        for line in CGROUPS.read_text().splitlines():
            _, controllers, place = line.split(":", 2)
            names, top = ("cpu.max",), CGROUP
            if controllers:  # of version 1
                names, top = ("cpu.cfs_quota_us", "cpu.cfs_period_us"), CGROUP / "cpu"
                if "cpu" not in controllers.split(","):
                    continue
            folder = top / place.strip("/")
            for group in (folder, *folder.parents):  # each limits those below it
                with suppress(OSError, ValueError):  # such as "max"
                    numbers = " ".join((group / name).read_text() for name in names)
                    most, period = map(float, numbers.split())
                    shares += [most / period] if most > 0.0 else []
    return min(shares)


def _schedule_fifo(priority: int) -> str:
    """Empty, or why SCHED_FIFO was refused."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError:
        limit = min(priority + 1, HIGHEST)  # one more for the threads of the bus
        return f"SCHED_FIFO refused: add '<user> - rtprio {limit}' to {LIMITS} and log in again"
    except (OSError, OverflowError) as error:
        return f"SCHED_FIFO at priority {priority} refused ({error}): priorities go from 1 to 99"
    return ""


def _lock_memory() -> str:
    """Empty, or why memory was not locked.

    Memory allocated later is locked only without a limit: under one, allocations would soon fail.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    unlimited = limit == resource.RLIM_INFINITY or os.geteuid() == 0
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        refused = libc.mlockall(MCL_CURRENT | (MCL_FUTURE if unlimited else 0)) != 0
    except (OSError, AttributeError) as error:
        return f"mlockall is not available ({error})"
    if refused:
        why = os.strerror(ctypes.get_errno())
        return f"mlockall refused ({why}): add '<user> - memlock unlimited' to {LIMITS}"
    threading.stack_size(STACK)  # a thread's stack is locked too: 8 MB are mapped for up to 40 ms
    return ""
