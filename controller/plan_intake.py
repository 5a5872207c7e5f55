"""Which of the plans that arrive is followed: the newest one that has begun and is safe."""

import numpy as np
from numpy.typing import NDArray

from controller.plan_function import PlanFunction
from controller.safety import SafetyGate
from controller.verdict import Reason
from robots.state import difference, integrate
from runtime.messages import Plan

Array = NDArray[np.float64]
ON_TIME = 1e-6  # [s]; times of knots and ticks differ by rounding
LONGEST_MOVE_S = 0.1  # what was measured longer ago is moved no further


class PlanIntake:
    """Holds the plan that is followed, the one before it, and those that have not begun yet.

    A plan takes effect at its own start. Until then the plan before it is followed.

    A plan is newer when its id is greater and it does not start earlier: a planner sends several
    improvements from one start, and a late one must not be mixed with a new one. A planner that was
    started again counts from the beginning; it is believed once its predecessor's plan is stale.

    Attributes:
        current: the plan that is followed; None before the first one has begun.
        accepted: number of plans.
        arrival: of the newest plan, after its own start [s]; negative when it came in time.
    """

    def __init__(self, gate: SafetyGate) -> None:
        """Follow nothing yet."""
        self.gate = gate
        self.current: PlanFunction | None = None
        self.accepted = 0
        self.arrival = 0.0
        self._previous: PlanFunction | None = None
        self._waiting: list[PlanFunction] = []  # in order of their start
        self._newest: PlanFunction | None = None
        self._accepted_at = 0.0
        self._last_offer: Plan | None = None

    def silence(self, now: float) -> float:
        """Time since the last accepted plan [s]."""
        return now - self._accepted_at

    def offer(self, plan: Plan | None, now: float, stale_after: float) -> bool:
        """Accept `plan` if it is newer than the last one, and safe; return whether it was.

        Args:
            plan: the newest plan; one that was offered already is passed over.
            now: [s].
            stale_after: silence after which a planner that was started again is believed [s].
        """
        if plan is None or plan is self._last_offer:
            return False
        self._last_offer = plan
        if self._newest is not None and plan.id == self._newest.id:
            return False
        if not self._in_order(plan, now, stale_after):
            self.gate.counts[Reason.PLAN_OUT_OF_ORDER.value] += 1
            return False
        if not self.gate.judge_plan(plan, now).ok:
            return False
        self._newest = PlanFunction(plan)
        self._waiting = [each for each in self._waiting if each.time < plan.time]
        self._waiting.append(self._newest)
        self._accepted_at, self.arrival = now, now - plan.time
        self.accepted += 1
        return True

    def begin(self, due: float) -> None:
        """Follow the last plan that starts by `due` [s], when the next command takes effect."""
        while self._waiting and self._waiting[0].time <= due + ON_TIME:
            following = self._waiting.pop(0)
            if self.current is None or following.time > self.current.time:
                self._previous = self.current
            self.current = following

    def move(self, q: Array, v: Array, begin: float, end: float) -> tuple[Array, Array]:
        """Return the state (q (19), v (18)) of time `begin` moved to `end` [s] as planned.

        The deviation from the plan is taken to stay as it is. Before the start of the current plan
        the robot followed the one before it.
        """
        for plan, start, stop in self._spans(begin, end):
            q, v = integrate(q, v, difference(*plan.nominal(start), *plan.nominal(stop)))
        return q, v

    def move_joints(self, q: Array, dq: Array, begin: float, end: float) -> tuple[Array, Array]:
        """Return joints (12) [rad], [rad/s] of time `begin` moved to `end` [s] as planned."""
        for plan, start, stop in self._spans(begin, end):
            (q_start, v_start), (q_stop, v_stop) = plan.nominal(start), plan.nominal(stop)
            q, dq = q + q_stop[7:] - q_start[7:], dq + v_stop[6:] - v_start[6:]
        return q, dq

    def _spans(self, begin: float, end: float) -> list[tuple[PlanFunction, float, float]]:
        """The plans followed from `begin` to `end` [s], each with its part of the time."""
        current, previous = self.current, self._previous
        begin = max(end - LONGEST_MOVE_S, begin)  # in this order NaN gives the bound
        if current is None or end - begin < ON_TIME:
            return []
        switch = min(max(begin, current.time), end)
        if previous is None or switch - begin < ON_TIME:
            return [(current, begin, end)]
        before = [(previous, begin, switch)]
        return before if end - switch < ON_TIME else [*before, (current, switch, end)]

    def _in_order(self, plan: Plan, now: float, stale_after: float) -> bool:
        newest = self._newest
        if newest is None:
            return True
        if plan.id > newest.id and plan.time >= newest.time:
            return True
        return plan.time > newest.time and self.silence(now) > stale_after


def warm_up() -> None:
    """Compile what is called here: the first plan of a run must not wait for a compiler."""
    q, v = np.eye(19)[6].copy(), np.zeros(18)
    integrate(q, v, difference(q, v, q, v))
