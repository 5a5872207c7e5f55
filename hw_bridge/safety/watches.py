"""Verdicts on the robot, and what must last before it counts."""

from typing import Literal, NamedTuple

from robots.conventions import JOINT_NAMES

JOINT_LABELS = tuple(name.removesuffix("_joint").replace("_", " ") for name in JOINT_NAMES)


class Verdict(NamedTuple):
    """What is to become of the robot, and why.

    Attributes:
        action: ``go`` on, ``sit_down`` in order, or ``damp`` at once.
        cause: one line of text, with the joint, the value and the limit; "" for ``go``.
    """

    action: Literal["go", "sit_down", "damp"]
    cause: str


GO = Verdict("go", "")


def damp(cause: str) -> Verdict:
    """The verdict to damp at once."""
    return Verdict("damp", cause)


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
