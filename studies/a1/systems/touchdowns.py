"""Touchdowns of a run: which feet came down together, and the state just before."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.conventions import FOOT_NAMES
from saltation.systems import Array

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

    def rows(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Touchdowns:
        """Some of them, as numpy would take them."""
        return Touchdowns(*(column[which] for column in self))


def feet_of(mask: Array) -> tuple[str, ...]:
    """Names of the feet that a row of ``landing`` or ``standing`` (4) marks."""
    return tuple(foot for foot, on in zip(FOOT_NAMES, mask, strict=True) if on > 0.5)


def touchdowns(time: Array, q: Array, v: Array, contact: Array) -> Touchdowns:
    """Touchdowns of a run, from its states at T ticks.

    A foot that is in the air at first counts as having left just then. Where ticks are missing the
    state before is not known, and nothing lands.

    Args:
        time: (T,) [s]; q: (T, 19); v: (T, 18).
        contact: (T, 4), above 0.5 for feet on the ground.
    """
    touching = contact > 0.5
    touched = np.maximum.accumulate(np.where(touching, time[:, None], time[0]))  # last, of each
    landed = touching[1:] & (time[1:, None] - touched[:-1] > IN_THE_AIR_S - 1e-9)
    landed &= (np.diff(time) < TOGETHER_S)[:, None]
    first, landing = list[int](), list[Any]()
    for k in np.flatnonzero(landed.any(axis=1)).tolist():
        if first and time[k + 1] - time[first[-1] + 1] < TOGETHER_S:
            landing[-1] = landing[-1] | landed[k] & ~touching[first[-1]]
        else:
            first.append(k)
            landing.append(landed[k])
    together = np.reshape(landing, (-1, 4)).astype(np.float64)
    return Touchdowns(time[first], q[first], v[first], together, touching[first].astype(np.float64))
