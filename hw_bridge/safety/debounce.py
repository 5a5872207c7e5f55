"""Whether something has lasted: one odd sample shall not stop a robot."""


class Debounce:
    """Watches one yes-or-no fact over the samples' own time."""

    def __init__(self, needed_s: float) -> None:
        """It has lasted once it has been so for `needed_s` [s], in two samples at least."""
        self._needed_s = needed_s
        self._since: float | None = None

    def reset(self) -> None:
        """Begin anew."""
        self._since = None

    def update(self, is_so: bool, time: float) -> bool:
        """Whether it has lasted, with this sample of time `time` [s].

        Time that goes back begins anew; time that leaps ahead counts, because nothing was seen to
        be otherwise.
        """
        if not is_so:
            self._since = None
            return False
        if self._since is None or time < self._since:
            self._since = time
            return False
        return time - self._since >= self._needed_s
