"""Strides in a row, whose gait may change wherever one ends.

Between two gaits all feet stand for a moment: some gaits land a foot where others lift it off. And
a robot that is to stand goes on stepping until its reference has come to rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.gaits import GAITS, Gait
from robots.rotations import Array

Flags = NDArray[np.bool_]

STAND_KNOTS = 5  # of a stride on four standing feet: so soon can a gait begin, and change


class Stride(NamedTuple):
    """One stride of a gait."""

    gait: Gait
    begin: int  # its first knot
    knots: int  # that it takes

    @property
    def end(self) -> int:
        """First knot of the stride that follows."""
        return self.begin + self.knots


class Strides:
    """The strides around a planning horizon, in their order.

    Strides that have begun keep their gait; those after them take the one that is asked for.
    """

    def __init__(self, period: float, begin: int = 0) -> None:
        """Stand from knot `begin` on; knots are `period` [s] apart."""
        self._period = period
        self._strides = [self._stride("stand", begin)]

    def ask(self, gait: str, now: int, slow: Flags) -> None:
        """Have strides around a horizon, new ones of a gait by name.

        Args:
            gait: that is asked for.
            now: the horizon's first knot.
            slow: whether the base is slow enough for that gait at each of its knots (K).

        Raises:
            ValueError: a stride that is no multiple of the period.
        """
        begun = [each for each in self._strides if each.begin < now]
        begin = begun[-1].end if begun else self._strides[0].begin
        self._strides = begun
        while begin < now + len(slow):
            self._strides.append(self._stride(self._next(gait, slow[max(0, begin - now)]), begin))
            begin = self._strides[-1].end

    def _next(self, gait: str, is_slow: bool) -> str:
        """The gait of the stride after the last one; a base that is too fast keeps its gait."""
        names = [stride.gait.name for stride in reversed(self._strides)]
        last = names[0] if names else "stand"
        if not is_slow:
            return next((name for name in names if name != "stand"), last)
        return gait if "stand" in (gait, last) or gait == last else "stand"

    def forget(self, before: int) -> None:
        """Forget strides that ended before a knot, but for two: the next one's gait needs them."""
        ended = sum(each.end < before for each in self._strides)
        self._strides = self._strides[max(0, ended - 2) :]

    def at(self, knot: int) -> Stride:
        """The stride of a knot; the first one before all."""
        found = self._strides[0]
        for stride in self._strides:
            if stride.begin <= knot:
                found = stride
        return found

    def swings(self) -> Array:
        """Foot, lift-off and landing [knots], height [m] of every swing (S, 4), by lift-off."""
        rows = []
        for gait, begin, knots in self._strides:
            for foot, offset in enumerate(gait.offsets):
                if gait.duty < 1.0:
                    lift = begin + offset * knots
                    landing = lift + (1.0 - gait.duty) * knots
                    rows.append((foot, lift, landing, gait.swing_height))
        return np.array(sorted(rows, key=lambda row: row[1]), dtype=float).reshape(-1, 4)

    def _stride(self, name: str, begin: int) -> Stride:
        gait = GAITS[name]
        return Stride(gait, begin, gait.knots(self._period) if gait.duty < 1.0 else STAND_KNOTS)
