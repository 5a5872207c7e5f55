"""Memory and file handles of processes, from /proc.

Memory is what is resident (RSS). What belongs to the process alone would be the better number, but
to read it the kernel walks over all its pages and keeps a lock meanwhile, beside a loop at 1 kHz.
The growth is the same: what processes share does not grow.
"""

from __future__ import annotations

import os
from typing import NamedTuple

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6


class Use(NamedTuple):
    """What a process uses; both are None for one that has gone.

    Attributes:
        memory_mb: resident memory [MB].
        handles: open file handles.
    """

    memory_mb: float | None
    handles: int | None


def use_of(pid: int) -> Use:
    """What a process uses now."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            resident = int(file.read().split()[1])
        if resident:  # a process that has ended and is not fetched yet has none
            return Use(resident * _PAGE_MB, len(os.listdir(f"/proc/{pid}/fd")))
    except (OSError, IndexError):
        pass
    return Use(None, None)
