"""Which of the plans that arrive is followed: the newest one that has begun and is safe."""

import numpy as np
from numpy.typing import NDArray

from controller.plan_function import PlanFunction
from controller.policy_kernel import ON_TIME, Policy, evaluate
from controller.safety import Joints, SafetyGate
from controller.verdict import Reason
from runtime.messages import Plan

Array = NDArray[np.float64]


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

    def evaluate(
        self, q: Array, v: Array, estimated_at: float, joints: Joints, due: float,
        kp_max: float, kd_max: float,
    ) -> Policy:  # fmt: skip
        """Return the policy of the current plan, which there must be; see `policy_kernel`."""
        assert self.current is not None
        previous = self._previous or self.current
        return Policy(*evaluate(
            self.current.plain, previous.plain, q, v, estimated_at, *joints, due, kp_max, kd_max
        ))  # fmt: skip

    def _in_order(self, plan: Plan, now: float, stale_after: float) -> bool:
        newest = self._newest
        if newest is None:
            return True
        if plan.id > newest.id and plan.time >= newest.time:
            return True
        return plan.time > newest.time and self.silence(now) > stale_after
