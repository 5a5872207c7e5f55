"""Choice of the plan to follow: the newest one that has begun and is safe."""

import numpy as np

from controller.plan_function import ON_TIME, PlanFunction, slot_size
from controller.safety import Reason, SafetyGate
from robots.rotations import Array
from runtime.messages import Plan

_NONE = np.concatenate(([0.0, 1.0, 1.0], np.zeros(slot_size(1) - 3)))


class PlanIntake:
    """Holds the plan that is followed, the one before it, and those that have not begun yet.

    A plan takes effect at its own start. Until then the plan before it is followed.

    A plan is newer when its id is greater and it does not start earlier: a planner sends several
    improvements from one start, and a late one must not be mixed with a new one. A planner that was
    started again counts from the beginning; it is believed once its predecessor's plan is stale.

    Attributes:
        current: the plan that is followed; None before the first one has begun.
        flat: the numbers of the current plan and of the one before it, see `plan_function.unpack`.
        waiting: plans that have not begun, in order of their start.
        accepted: number of plans.
        accepted_at: time of the last one [s].
        arrival: of the newest plan, after its own start [s]; negative when it came in time.
        refusal: why the gate refused the last plan; None where it was accepted.
    """

    def __init__(self, gate: SafetyGate) -> None:
        """Follow nothing yet."""
        self.gate = gate
        self.current: PlanFunction | None = None
        self.flat = _NONE, _NONE
        self.waiting: list[PlanFunction] = []
        self.accepted = 0
        self.accepted_at = self.arrival = 0.0
        self.refusal: Reason | None = None
        self._previous: PlanFunction | None = None
        self._newest: PlanFunction | None = None
        self._last_offer: Plan | None = None
        self._slots: list[Array] = []

    def offer(self, plan: Plan, now: float, stale_after: float, q: Array | None = None) -> bool:
        """Accept `plan` if it is newer than the last one, and safe; return whether it was.

        Args:
            plan: the newest plan; one that was offered already is passed over.
            now: [s].
            stale_after: silence after which a planner that was started again is believed [s].
            q: the robot's configuration (19), from which the first plan may not lead away.
        """
        if plan is self._last_offer:
            return False
        self._last_offer = plan
        if self._newest is not None and plan.id == self._newest.id:
            return False
        if not self._in_order(plan, now, stale_after):
            self.gate.count(Reason.PLAN_OUT_OF_ORDER)
            return False
        failed = plan.status == "failed" or len(plan.inputs) == 0
        function = None if failed else self._copy(plan)
        reason = self.gate.judge_plan(plan, function, now)
        if reason is Reason.OK and self._newest is None and q is not None:
            reason = self.gate.judge_first_plan(plan, q)
        self.refusal = None if reason is Reason.OK else reason
        if self.refusal is not None or function is None:
            return False
        self._newest = function
        self.waiting = [each for each in self.waiting if each.time < plan.time]
        self.waiting.append(function)
        self.accepted_at, self.arrival = now, now - plan.time
        self.accepted += 1
        return True

    def _copy(self, plan: Plan) -> PlanFunction:
        """The plan in a slot that no other is followed or waits in; fresh memory faults pages."""
        plans = (self.current, self._previous, *self.waiting)
        taken = {id(each.slot) for each in plans if each is not None}
        function = PlanFunction(plan, next((s for s in self._slots if id(s) not in taken), None))
        if all(function.slot is not slot for slot in self._slots):
            self._slots.append(function.slot)
        return function

    def begin(self, due: float) -> None:
        """Follow the last plan that starts by `due` [s], when the next command takes effect."""
        while self.waiting and self.waiting[0].time <= due + ON_TIME:
            following = self.waiting.pop(0)
            if self.current is None or following.time > self.current.time:
                self._previous = self.current
            self.current = following
            self.flat = following.flat, (self._previous or following).flat

    def _in_order(self, plan: Plan, now: float, stale_after: float) -> bool:
        newest = self._newest
        if newest is None:
            return True
        if plan.id > newest.id and plan.time >= newest.time:
            return True
        return plan.time > newest.time and now - self.accepted_at > stale_after
