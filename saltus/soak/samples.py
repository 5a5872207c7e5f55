"""Samples of a soak: what processes use, in a CSV file.

Memory is what is resident (RSS). What belongs to the process alone would be the better number, but
to read it the kernel walks over all its pages and keeps a lock meanwhile, beside a loop at 1 kHz.
The growth is the same: what processes share does not grow.
"""

from __future__ import annotations

import csv
import math
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import numpy as np

from runtime.checked import Array
from runtime.messages import RobotStatus
from saltus.launch.listener import Listener
from saltus.launch.supervisor import Supervisor

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6


def memory_mb(pid: int) -> float | None:
    """Resident memory of a process [MB]; None for one that has gone."""
    with suppress(OSError, IndexError):
        resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        if resident:  # a process that has ended and is not fetched yet has none
            return resident * _PAGE_MB
    return None


Columns = Mapping[str, Array]

SETTLED_S = 600.0  # of a launch, after which memory should not grow any more
MEASURED_S = 300.0  # of samples after that, at least
MEMORY = "memory_mb_"  # columns, by process


class SampleFile:
    """Appends samples; each is on disk at once, so an interrupted soak keeps them."""

    def __init__(self, path: Path) -> None:
        """Make the file; the first sample names the columns.

        Raises:
            OSError: it cannot be written.
        """
        self._file: TextIO = path.open("w", newline="", encoding="utf-8")
        self._writer: csv.DictWriter[str] | None = None

    def write(self, sample: Mapping[str, float | str | None]) -> None:
        """Append a sample; None is an empty cell. All samples have the same columns."""
        if self._writer is None:
            self._writer = csv.DictWriter(self._file, list(sample))
            self._writer.writeheader()
        self._writer.writerow(sample)
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_samples(path: Path) -> dict[str, Array]:
    """The columns of a file of samples, none of an empty file; words and empty cells are NaN.

    A last line that was cut short is left out.
    """
    lines = path.read_text().splitlines()
    whole = [line for line in lines if line.count(",") == lines[0].count(",")]
    if len(whole) < 2:
        return {}
    table = np.genfromtxt(whole, delimiter=",", names=True)
    return {name: np.atleast_1d(table[name]) for name in whole[0].split(",")}


def memory_growth(columns: Columns) -> float | None:
    """Slope of the stack's memory after ten minutes of a launch, by least squares [MB/h].

    Launches share the slope and have a level each. None where no launch has five minutes of
    samples after its first ten.
    """
    if not columns:
        return None
    each = [column for name, column in columns.items() if name.startswith(MEMORY)]
    memory, launch = np.sum(each, axis=0), columns["launch"]  # NaN where a process is missing
    usable = (columns["running_s"] >= SETTLED_S) & np.isfinite(memory)
    products = squares = 0.0
    for number in np.unique(launch[usable]):
        of_launch = usable & (launch == number)
        hours, level = columns["elapsed_s"][of_launch] / 3600.0, memory[of_launch]
        if 3600.0 * np.ptp(hours) >= MEASURED_S:
            hours = hours - hours.mean()
            products += float(hours @ level)
            squares += float(hours @ hours)
    return products / squares if squares else None


EVERY_S = 2.0
LAUNCHER = "launcher"  # this process, which listens to the launch

Sample = dict[str, float | str | None]


class Watch:
    """Samples one launch.

    A sample has the time since the soak began and that of the run; the resident memory of each
    process; the hottest motor; and where the robot is.
    """

    def __init__(self, file: SampleFile, launch: int, begun: float) -> None:
        """Sample the `launch`-th launch of a soak that began at `begun` [s], monotonic."""
        self._file, self._launch, self._begun = file, launch, begun
        self._due = -math.inf

    def look(self, supervisor: Supervisor, listener: Listener, running_s: float) -> None:
        """Look; called some fifty times a second."""
        status, now = listener.status, time.monotonic()
        if status is not None and now >= self._due:
            self._due = now + EVERY_S
            self._file.write(self._sample(supervisor, listener, status, running_s, now))

    def _sample(
        self, supervisor: Supervisor, listener: Listener, status: RobotStatus, running_s: float,
        now: float,
    ) -> Sample:  # fmt: skip
        truth = listener.truth
        sample: Sample = {
            "elapsed_s": now - self._begun,
            "launch": float(self._launch),
            "running_s": running_s,
            "state": status.state,
            "motor_degc": float(status.temperature.max()),
            "x_m": None if truth is None else float(truth.q[0]),
            "y_m": None if truth is None else float(truth.q[1]),
        }
        pids = {LAUNCHER: os.getpid()} | {child.name: child.pid for child in supervisor.children}
        return sample | {MEMORY + name: memory_mb(pid) for name, pid in pids.items()}
