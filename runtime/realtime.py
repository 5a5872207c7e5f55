"""Ask Linux for real-time scheduling, locked memory and processors; report what was granted."""

import ctypes
import gc
import os
import resource
from collections.abc import Iterable
from dataclasses import dataclass

MCL_CURRENT, MCL_FUTURE = 1, 2  # <sys/mman.h>
LIMITS = "/etc/security/limits.conf"


@dataclass(frozen=True)
class RealtimeStatus:
    """What the system granted; `reason` says why not all of it, and the remedy."""

    scheduler: str  # "fifo" or "other"
    locked: bool
    reason: str = ""


def request_realtime(priority: int | None) -> RealtimeStatus:
    """Take SCHED_FIFO at `priority` (1..99) and lock memory; None asks for neither. Never raises.

    Call it once all is loaded and before the Bus is made, so that the bus's threads inherit it. The
    garbage collector then leaves alone what exists now, which shortens its pauses in the loop.
    """
    gc.collect()
    gc.freeze()
    if priority is None:
        return RealtimeStatus("other", False, "not requested")
    scheduling = _schedule_fifo(priority)
    locking = _lock_memory()
    reasons = "; ".join(reason for reason in (scheduling, locking) if reason)
    return RealtimeStatus("other" if scheduling else "fifo", not locking, reasons)


def set_cpu_affinity(cpus: Iterable[int]) -> str:
    """Keep this process on `cpus`. Returns "" or, on refusal, the reason; never raises."""
    wanted = set(cpus)
    try:
        os.sched_setaffinity(0, wanted)
    except (OSError, ValueError, OverflowError) as error:
        available = sorted(os.sched_getaffinity(0))
        return f"processors {sorted(wanted)} refused ({error}); available are {available}"
    return ""


def _schedule_fifo(priority: int) -> str:
    """Empty, or why SCHED_FIFO was refused."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError:
        return f"SCHED_FIFO refused: add '<user> - rtprio {priority}' to {LIMITS} and log in again"
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
    return ""
