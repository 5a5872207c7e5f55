"""When feet swing: what planners ask of a gait, or of the strides of a driven robot."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Swing(NamedTuple):
    """One swing of a foot.

    Attributes:
        lift_off: when it begins [s]; duration: that it takes [s].
        height: of its apex above the ground [m].
        stance: for which the foot then stands [s].
    """

    lift_off: float
    duration: float
    height: float
    stance: float

    @property
    def landing(self) -> float:
        """When it ends [s]."""
        return self.lift_off + self.duration


class ContactSchedule(Protocol):
    """The swings of the four feet, by index."""

    def swing(self, foot: int, time: float) -> Swing | None:
        """The swing of a foot that is under way at `time` [s]; None where the foot stands."""
        ...

    def next_swing(self, foot: int, time: float) -> Swing | None:
        """The first swing of a foot that begins after `time` [s]; None where none does."""
        ...
