"""Gaps in our own sending: after a long one the firmware has braked the motors by itself."""

from hw_bridge.safety.verdict import GO, Verdict, damp


class SendingWatch:
    """Watches the time from one command to the next."""

    def __init__(self, gap_max_s: float) -> None:
        """No command yet; motors that serve may wait `gap_max_s` [s] for the next."""
        self._gap_max_s = gap_max_s
        self._last: float | None = None

    def judge(self, serving: bool, now: float) -> Verdict:
        """The verdict on a command that is sent at `now` [s].

        Args:
            serving: the motors follow positions of the command before.
            now: on the monotonic clock.
        """
        last, self._last = self._last, now
        if not serving or last is None or now - last <= self._gap_max_s:
            return GO
        limit = 1e3 * self._gap_max_s
        return damp(f"no command was sent for {1e3 * (now - last):.0f} ms (limit {limit:.0f})")
