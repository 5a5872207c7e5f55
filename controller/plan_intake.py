"""Which of the plans that arrive is followed: the newest that is safe."""

from controller.plan_function import PlanFunction
from controller.safety import SafetyGate
from controller.verdict import Reason
from runtime.messages import Plan


class PlanIntake:
    """Holds the plan being followed and the time when it came.

    A plan is newer when its id is greater and it does not start earlier: a planner sends several
    improvements from one start, and a late one must not be mixed with a new one. A planner that was
    started again counts from the beginning; it is believed once its predecessor's plan is stale.
    """

    def __init__(self, gate: SafetyGate) -> None:
        """Follow nothing yet."""
        self.gate = gate
        self.current: PlanFunction | None = None
        self.accepted = 0
        self._accepted_at = 0.0
        self._seen: Plan | None = None

    def silence(self, now: float) -> float:
        """Time since the last accepted plan [s]."""
        return now - self._accepted_at

    def offer(self, plan: Plan | None, now: float, stale_after: float) -> bool:
        """Take `plan` if it is newer than the one followed, and safe; return whether it was taken.

        Args:
            plan: the newest plan; one that was offered already is passed over.
            now: [s].
            stale_after: silence after which a planner that was started again is believed [s].
        """
        if plan is None or plan is self._seen:
            return False
        self._seen = plan
        if self.current is not None and plan.id == self.current.id:
            return False
        if not self._in_order(plan, now, stale_after):
            self.gate.counts[Reason.PLAN_OUT_OF_ORDER.value] += 1
            return False
        if not self.gate.judge_plan(plan, now).ok:
            return False
        self.current = PlanFunction(plan)
        self._accepted_at = now
        self.accepted += 1
        return True

    def _in_order(self, plan: Plan, now: float, stale_after: float) -> bool:
        current = self.current
        if current is None:
            return True
        if plan.id > current.id and plan.time >= current.time:
            return True
        return plan.time > current.time and self.silence(now) > stale_after
