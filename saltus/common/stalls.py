"""Stalls of the machine: times in which a core does not run a loop of the highest priority.

Then it runs nothing of the stack either. The cause is the kernel, or the host of a virtual machine.
``python -m saltus.common.stalls FILE BEGIN PARENT CORE`` is the loop on one core.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from runtime.realtime import HIGHEST, request_realtime, set_cpu_affinity

PERIOD_S = 0.002  # of the loop, which takes a hundredth of a core
LEAST_MS = 3.0  # of a stall that is kept
HEADER = "elapsed_s,core,late_ms\n"


class Stall(NamedTuple):
    """A core stood still.

    Attributes:
        elapsed_s: when it went on, since the soak began.
        core: its number.
        late_ms: by how much the loop woke late.
    """

    elapsed_s: float
    core: int
    late_ms: float


class StallWatch:
    """Keeps the stalls of every core of this process in a CSV file, until it is closed.

    A core whose loop is refused the highest priority is not watched; its loop says so.
    """

    def __init__(self, path: Path, begin: float) -> None:
        """Make the file and start the loops.

        Args:
            path: of the file.
            begin: from when stalls count their time [s], monotonic.

        Raises:
            OSError: the file cannot be written.
        """
        self._path = path
        path.write_text(HEADER)
        command = [sys.executable, "-m", __name__, str(path), str(begin), str(os.getpid())]
        self._loops = [  # in sessions of their own: Ctrl-C is for the soak
            subprocess.Popen([*command, str(core)], start_new_session=True)
            for core in sorted(os.sched_getaffinity(0))
        ]

    def stalls(self) -> list[Stall] | None:
        """The stalls until now, in order; None where a core is not watched."""
        if any(loop.poll() is not None for loop in self._loops):
            return None
        return read_stalls(self._path)

    def close(self) -> None:
        """End the loops. Safe to call twice."""
        for loop in self._loops:
            loop.kill()
            loop.wait()


def read_stalls(path: Path) -> list[Stall]:
    """The stalls in a file, in order."""
    lines = path.read_text().splitlines()[1:]
    cells = (line.split(",") for line in lines)
    return sorted(Stall(float(at), int(core), float(late)) for at, core, late in cells)


def longest_stall(stalls: Iterable[Stall], begin_s: float, end_s: float) -> float | None:
    """The longest of the stalls that ended between two times [s], in ms; None where none did."""
    return max((s.late_ms for s in stalls if begin_s <= s.elapsed_s <= end_s), default=None)


def watch_core(path: Path, begin: float, parent: int, core: int) -> None:
    """Append the stalls of one core to the file, until the parent is gone."""
    refusal = set_cpu_affinity([core])
    status = request_realtime(HIGHEST)
    if refusal or status.scheduler != "fifo":
        sys.exit(f"stalls of core {core} are not watched: {refusal or status.reason}")
    with path.open("a", buffering=1) as file:  # each line is one write
        while os.getppid() == parent:
            before = time.monotonic()
            time.sleep(PERIOD_S)
            now = time.monotonic()
            late_ms = 1e3 * (now - before - PERIOD_S)
            if late_ms >= LEAST_MS:
                file.write(f"{now - begin:.4f},{core},{late_ms:.2f}\n")


if __name__ == "__main__":
    watch_core(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
