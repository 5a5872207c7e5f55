"""Options of driving: who drives, how fast, and how a command is followed."""

from __future__ import annotations

from typing import Annotated, Literal

from runtime.options import Options, Range

Source = Literal["none", "keyboard", "gamepad", "remote", "client"]


class GaitLimits(Options, frozen=True):
    """How fast a gait may go.

    Attributes:
        forward: greatest speed forward and back.
        left: greatest speed to either side.
        yaw_rate: greatest rate of turn, either way.
        acceleration: greatest change of the speed, forward and sideways.
        yaw_acceleration: greatest change of the rate of turn.
    """

    forward: Annotated[float, Range("m/s", 0.0, 5.0)]
    left: Annotated[float, Range("m/s", 0.0, 5.0)]
    yaw_rate: Annotated[float, Range("rad/s", 0.0, 10.0)]
    acceleration: Annotated[float, Range("m/s^2", 0.0, 100.0)] = 2.0
    yaw_acceleration: Annotated[float, Range("rad/s^2", 0.0, 100.0)] = 4.0


class DriveOptions(Options, frozen=True):
    """Options of driving.

    Attributes:
        source: who drives: none (the launch's own command), keyboard, gamepad, remote (the A1's),
            or client: `saltus drive`, or any program that publishes the topic of commands.
        walk: how fast a walk may go; what exceeds that is clipped.
        trot: how fast a trot may go.
        bound: how fast a bound may go.
        height: least and most of the trunk's height.
        height_rate: greatest change of that height.
        silence: time after which a source counts as gone, and the robot slows down and stands.
        goal_distance: largest distance of the reference from the robot over the ground: it follows
            a robot that is pushed further; None keeps it where the command has led it.
        goal_heading: largest difference between the reference's heading and the robot's; None for
            any.
    """

    source: Source = "none"
    walk: GaitLimits = GaitLimits(forward=0.5, left=0.25, yaw_rate=0.8)
    trot: GaitLimits = GaitLimits(forward=2.2, left=0.5, yaw_rate=1.6)
    bound: GaitLimits = GaitLimits(forward=0.5, left=0.2, yaw_rate=0.6)
    height: Annotated[tuple[float, float], Range("m", 0.0, 1.0)] = (0.2, 0.32)
    height_rate: Annotated[float, Range("m/s", 0.0, 10.0)] = 0.1
    silence: Annotated[float, Range("s", 0.0, 1e6)] = 0.5
    goal_distance: Annotated[float, Range("m", 0.0, 100.0)] | None = 0.25
    goal_heading: Annotated[float, Range("rad", 0.0, 10.0)] | None = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError for a number that is out of range or out of order."""
        Options.__post_init__(self)
        if not self.height[0] <= self.height[1]:
            raise ValueError(f"height is {list(self.height)}; give the least first, then the most")

    def limits(self, gait: str) -> GaitLimits:
        """How fast a gait may go; a stand goes nowhere, and may slow down as a trot may."""
        if gait == "stand":
            return GaitLimits(
                0.0, 0.0, 0.0, self.trot.acceleration, self.trot.yaw_acceleration
            )  # fmt: skip
        return getattr(self, gait)
