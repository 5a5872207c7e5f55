"""Touchdowns of a run: which feet came down together, and the state just before."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.conventions import FOOT_NAMES
from runtime.checked import Array

TOGETHER_S = 0.01 - 1e-9  # feet that land within one of the planner's knots land together
IN_THE_AIR_S = 0.02  # a foot that left the ground for less has bounced, and does not land anew


class Touchdowns(NamedTuple):
    """K touchdowns, one row each, in their order.

    Feet that land together share a row: with the state before the first of them lands.
    """

    time: Array  # (K,) of that state [s]
    q: Array  # (K, 19)
    v: Array  # (K, 18)
    landing: NDArray[Any]  # (K, 4) 1 for a foot that comes down
    standing: NDArray[Any]  # (K, 4) 1 for a foot that is on the ground already

    @staticmethod
    def none() -> Touchdowns:
        """Touchdowns of a run in which no foot came down."""
        return Touchdowns(np.zeros(0), np.zeros((0, 19)), np.zeros((0, 18)), np.zeros((0, 4)),
                          np.zeros((0, 4)))  # fmt: skip

    def rows(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Touchdowns:
        """Some of them, as numpy would take them."""
        return Touchdowns(*(column[which] for column in self))


def feet_of(mask: Array) -> tuple[str, ...]:
    """Names of the feet that a row of ``landing`` or ``standing`` (4) marks."""
    return tuple(foot for foot, on in zip(FOOT_NAMES, mask, strict=True) if on > 0.5)


class TouchdownFinder:
    """Takes the states of a run, tick by tick in their order, and keeps its touchdowns."""

    def __init__(self) -> None:
        """Before the first state."""
        self._rows: list[Touchdowns] = []  # one each
        self._begun = -np.inf  # when the first foot of the last row landed [s]
        self._before: tuple[float, Array, Array, NDArray[np.bool_]] | None = None
        self._touched = np.zeros(4)  # when each foot was last on the ground [s]

    def add(self, time: float, q: Array, v: Array, contact: Array) -> None:
        """Take the state of one tick: q (19), v (18), contact (4), above 0.5 on the ground."""
        touching = contact > 0.5
        if self._before is None:
            self._touched[:] = time  # a foot that is in the air at first has left it just now
        # Where ticks are missing, nobody knows the state before.
        elif time - self._before[0] < TOGETHER_S:
            landed = touching & (time - self._touched > IN_THE_AIR_S - 1e-9)
            if landed.any():
                self._land(time, landed)
        self._touched[touching] = time
        self._before = (time, q, v, touching)

    def touchdowns(self) -> Touchdowns:
        """Touchdowns of all states that were taken."""
        if not self._rows:
            return Touchdowns.none()
        columns = zip(*self._rows, strict=True)
        return Touchdowns(*(np.array(column, dtype=np.float64) for column in columns))

    def _land(self, time: float, landed: NDArray[np.bool_]) -> None:
        if time - self._begun < TOGETHER_S:
            row = self._rows[-1]
            row.landing[landed > row.standing] = True
            return
        assert self._before is not None
        before, q, v, standing = self._before
        self._rows.append(Touchdowns(np.array(before), q, v, landed.copy(), standing))
        self._begun = time
