"""What is to become of the robot, and why."""

from typing import Literal, NamedTuple

from robots.conventions import JOINT_NAMES

JOINT_LABELS = tuple(name.removesuffix("_joint").replace("_", " ") for name in JOINT_NAMES)


class Verdict(NamedTuple):
    """One judgement.

    Attributes:
        action: ``go`` on, ``sit_down`` in order, or ``damp`` at once.
        cause: one line for a person, with the joint, the value and the limit; "" for ``go``.
    """

    action: Literal["go", "sit_down", "damp"]
    cause: str


GO = Verdict("go", "")


def damp(cause: str) -> Verdict:
    """The verdict to damp at once."""
    return Verdict("damp", cause)
