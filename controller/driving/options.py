"""Options of driving: who drives, how fast, and how a command is followed."""

from __future__ import annotations

from typing import Literal

import msgspec

Source = Literal["none", "keyboard", "gamepad", "remote", "client"]


def _check(options: msgspec.Struct) -> None:
    for name in options.__struct_fields__:
        value = getattr(options, name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, float | int) and not 0.0 <= number < float("inf"):
                raise ValueError(f"{name} is {value}; give finite numbers >= 0")


class GaitLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How fast a gait may go.

    Attributes:
        forward, left: either way [m/s]; yaw_rate: either way [rad/s].
        acceleration: forward and sideways [m/s^2]; yaw_acceleration: [rad/s^2].
    """

    forward: float
    left: float
    yaw_rate: float
    acceleration: float = 2.0
    yaw_acceleration: float = 4.0

    def __post_init__(self) -> None:
        """Raise ValueError for a number that is negative or not finite."""
        _check(self)


class DriveOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of driving.

    Attributes:
        source: who drives: none (the launch's own command), keyboard, gamepad, remote (the A1's),
            or client: `saltus drive`, or any program that publishes the topic of commands.
        walk, trot, bound: how fast each gait may go; what exceeds that is clipped.
        height: least and most of the trunk's height [m]; height_rate: of its change [m/s].
        silence: after which a source counts as gone, and the robot slows down and stands [s].
        goal_distance: that the reference may be away from the robot over the ground [m]: it follows
            a robot that is pushed further; None keeps it where the command has led it.
        goal_heading: the same of the heading [rad].
    """

    source: Source = "none"
    walk: GaitLimits = GaitLimits(forward=0.5, left=0.25, yaw_rate=0.8)
    trot: GaitLimits = GaitLimits(forward=2.2, left=0.5, yaw_rate=1.6)
    bound: GaitLimits = GaitLimits(forward=0.5, left=0.2, yaw_rate=0.6)
    height: tuple[float, float] = (0.2, 0.32)
    height_rate: float = 0.1
    silence: float = 0.5
    goal_distance: float | None = 0.25
    goal_heading: float | None = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError for a number that is negative, not finite, or out of order."""
        _check(self)
        if not self.height[0] <= self.height[1]:
            raise ValueError(f"height is {list(self.height)}; give the least first, then the most")

    def limits(self, gait: str) -> GaitLimits:
        """How fast a gait may go; a stand goes nowhere, and may slow down as a trot may."""
        if gait == "stand":
            return GaitLimits(
                0.0, 0.0, 0.0, self.trot.acceleration, self.trot.yaw_acceleration
            )  # fmt: skip
        return getattr(self, gait)
