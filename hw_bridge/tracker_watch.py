"""Judges the tracker's commands: whether they are fresh, and whether it still follows a plan."""

from hw_bridge.safety.verdict import GO, Verdict
from runtime.messages import MotorCommand

FIRST_PLAN_S = 10.0  # for which a robot stands and waits for a planner's first word [s]


class TrackerWatch:
    """What the tracker's commands say about the tracker."""

    def __init__(self, command_age_max_s: float, patience_s: float) -> None:
        """`command_age_max_s` is the oldest command to act on, `patience_s` see `judge` [s]."""
        self._age_max, self._patience = command_age_max_s, patience_s
        self._standing_since: float | None = None
        self._why = ""  # it stands, as it said first

    def judge(self, command: MotorCommand, now: float) -> Verdict:
        """Whether to go on with `command` at `now` [s].

        Damp when the tracker does, or when its command is too old; sit down once it has stood
        without a plan for longer than the patience, or than FIRST_PLAN_S before the first plan.
        """
        age = now - command.time
        if not age <= self._age_max:
            limit = 1e3 * self._age_max
            return Verdict("damp", f"the tracker's command is {1e3 * age:.0f} ms old ({limit:.0f})")
        if command.status == "damp":
            lost = "the tracker gave up: a fall, or nothing measured"
            return Verdict("damp", lost + _in_words(command.reason))
        if command.status not in ("stand_down", "waiting"):
            self._standing_since = None
            return GO
        if self._standing_since is None:
            self._standing_since, self._why = now, command.reason
        patience = FIRST_PLAN_S if command.status == "waiting" else self._patience
        if now - self._standing_since <= patience:
            return GO
        lost = "the tracker has no plan or no estimate to follow"
        return Verdict("sit_down", lost + _in_words(self._why))


def _in_words(reason: str) -> str:
    """The tracker's reason, to be added to a line."""
    return f" ({reason.replace('_', ' ')})" if reason else ""
