"""Samples of a soak: a CSV file that is written as they come, and the growth of memory in it."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = Mapping[str, Array]

SETTLED_S = 600.0  # of a launch, after which memory should not grow any more
MEASURED_S = 300.0  # of samples after that, at least
MEMORY, HANDLES = "memory_mb_", "handles_"  # columns, by process


class SampleFile:
    """Appends samples; each is on disk at once, so an interrupted soak keeps them."""

    def __init__(self, path: Path) -> None:
        """Make the file; the first sample names the columns.

        Raises:
            OSError: it cannot be written.
        """
        self._file: TextIO = path.open("w", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file)
        self._names: list[str] = []

    def write(self, sample: Mapping[str, float | str | None]) -> None:
        """Append a sample; None is an empty cell. All samples have the same columns."""
        if not self._names:
            self._names = list(sample)
            self._writer.writerow(self._names)
        values = (sample[name] for name in self._names)
        self._writer.writerow([f"{v:.10g}" if isinstance(v, float) else v for v in values])
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_samples(path: Path) -> dict[str, Array]:
    """The columns of a file of samples, none of an empty file; words and empty cells are NaN."""
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = list(csv.reader(file)) or [[]]
    if not names:
        return {}
    whole = [row for row in rows if len(row) == len(names)]  # the last may be cut short
    values = np.array([[_number(cell) for cell in row] for row in whole]).reshape(-1, len(names))
    return dict(zip(names, values.T, strict=True))


def processes_in(columns: Columns) -> list[str]:
    """The processes whose memory was sampled."""
    return [name.removeprefix(MEMORY) for name in columns if name.startswith(MEMORY)]


def total_memory(columns: Columns) -> Array:
    """Of all processes [MB]; NaN in samples that lack one."""
    return np.sum([columns[MEMORY + name] for name in processes_in(columns)], axis=0)


def memory_growth(columns: Columns) -> float | None:
    """Slope of the stack's memory after ten minutes of a launch, by least squares [MB/h].

    Launches share the slope and have a level each. None where no launch has five minutes of
    samples after its first ten.
    """
    if not columns:
        return None
    memory, launch = total_memory(columns), columns["launch"]
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


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan
