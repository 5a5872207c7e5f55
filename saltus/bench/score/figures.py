"""A figure that was measured, and the fixed work that processor time is divided by."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from time import process_time
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

NOISE = 0.25  # of processor time over that of the fixed loops, on a computer with other guests
CROWD = 6.0  # programs that want each core, above which caches are cold after each switch
Value = float | int | str | None
Links = NDArray[np.int64]

COMPUTE_MS, MEMORY_MS = 10.0, 10.0  # of the two loops on the computer that gives times their unit
_STEPS, _HOPS = 2_600_000, 2_300_000
# Entries of 8 bytes, which fit a core's own cache. Other programs slow the shared caches and the
# memory down by 1.4 to 3.4 times where they slow a tick or a solve down by 3 %.
_ROOM = 1 << 15


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
    """Pace of this computer now: its time for the two loops over the unit's, geometric mean.

    The least of several runs of each loop, in processor time.
    """
    links = _links()
    compute = min(_timed(lambda: _multiply(_STEPS)) for _ in range(5)) / COMPUTE_MS
    memory = min(_timed(lambda: _chase(links, _HOPS)) for _ in range(5)) / MEMORY_MS
    return 1e3 * float(np.sqrt(compute * memory))


def least_and_median(samples: Sequence[float]) -> tuple[float, float]:
    """Least and median of samples."""
    return float(np.min(samples)), float(np.median(samples))


def _timed(loop: Callable[[], float]) -> float:
    begin = process_time()
    loop()
    return process_time() - begin


@njit(cache=True)
def _multiply(steps: int) -> float:
    """A chain of dependent multiplications and additions."""
    x = 1.0
    for _ in range(steps):
        x = 0.999999 * x + 1e-7
    return x


@njit(cache=True)
def _chase(links: Links, hops: int) -> int:
    """Follow links through memory, each of which depends on the one before."""
    at = 0
    for _ in range(hops):
        at = links[at]
    return at


@cache
def _links() -> Links:
    """One cycle through all entries in a fixed order that no prefetch foresees."""
    order = np.random.default_rng(0).permutation(_ROOM)
    links = np.empty(_ROOM, np.int64)
    links[order] = np.roll(order, -1)
    _chase(links, 10)
    _multiply(10)
    return links
