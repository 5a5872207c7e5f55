"""What somebody who watches gets of a plan: seldom, and only while there is somebody."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from runtime.messages import Plan, PlanOutline

if TYPE_CHECKING:
    from runtime.bus import Publisher

Array = NDArray[np.float64]

PERIOD_S = 1.0 / 30.0  # between two outlines, at least


class Outlines:
    """Publishes outlines of plans, at most 30 a second by the wall clock; waits for nobody."""

    def __init__(
        self, publisher: Publisher[PlanOutline], now: Callable[[], float] = monotonic
    ) -> None:
        """`now` is the wall clock [s]."""
        self._publisher, self._now = publisher, now
        self._next = -np.inf

    def offer(self, plan: Plan, candidates: Array) -> None:
        """Publish the outline of a plan, if it is time for one and somebody subscribes.

        Args:
            plan: a new one.
            candidates: base paths (C, M, 3) [m] of the rollouts that it was chosen from.
        """
        now = self._now()
        if now < self._next or not self._publisher.subscribers():
            return
        self._next = now + PERIOD_S
        self._publisher.send(outline_of(plan, candidates))


def outline_of(plan: Plan, candidates: Array) -> PlanOutline:
    """The outline of a plan with `candidates` (C, M, 3) [m]."""
    return PlanOutline(
        id=plan.id, tick=plan.tick, time=plan.time, period=plan.period, states_q=plan.states_q,
        contacts=plan.contacts, candidates=candidates, cost=plan.cost, solve_s=plan.solve_s,
        status=plan.status, command=plan.command,
    )  # fmt: skip
