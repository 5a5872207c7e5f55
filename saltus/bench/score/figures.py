"""A figure that was measured, and the fixed loop that processor time is divided by."""

from __future__ import annotations

import os
from time import process_time
from typing import NamedTuple

from numba import njit

NOISE = 0.25  # of processor time over that of the fixed loop, on a computer with other guests
CROWD = 6.0  # programs that want each core, above which caches are cold after each switch
Value = float | int | str | None

LOOP_MS = 10.0  # of the loop on the computer that gives times their unit
_STEPS = 2_600_000


class Figure(NamedTuple):
    """A figure as measured now.

    Attributes:
        name: unique within its group.
        unit: of the value; empty for counts.
        value: None where it could not be measured; then `note` says why.
        better: ``lower``, ``higher``, ``equal``, or ``shown``: it is printed and never judged.
        tolerance: share of the recorded value by which a figure may be worse.
        margin: the same as an absolute value, in the figure's unit; the larger of both counts.
        exact: the value depends on the processor and on libraries to the last bit, and is compared
            only where these are those of the record.
        note: what limits the figure this time.
        group: behaviour, cost, start, library or size, in whose module it is measured.
    """

    name: str
    unit: str
    value: Value
    better: str = "lower"
    tolerance: float = 0.0
    margin: float = 0.0
    exact: bool = False
    note: str = ""
    group: str = ""


def time_figure(name: str, unit: str, value: float, tolerance: float = NOISE) -> Figure:
    """A processor time; in a crowd of other programs it is shown and not judged."""
    each = os.getloadavg()[0] / (os.cpu_count() or 1)
    note = f"{each:.1f} programs wanted each core" if each > CROWD else ""
    return Figure(name, unit, value, "shown" if note else "lower", tolerance=tolerance, note=note)


def pace() -> float:
    """Pace of this computer now: its processor time for a fixed loop over the unit's.

    The least of several runs.
    """
    return min(_timed(_STEPS) for _ in range(5)) / (1e-3 * LOOP_MS)


def _timed(steps: int) -> float:
    _multiply(10)  # compiles on the first call
    begin = process_time()
    _multiply(steps)
    return process_time() - begin


@njit(cache=True)
def _multiply(steps: int) -> float:
    """A chain of dependent multiplications and additions."""
    x = 1.0
    for _ in range(steps):
        x = 0.999999 * x + 1e-7
    return x
