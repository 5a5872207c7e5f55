"""Options of driving: how a command is followed."""

from __future__ import annotations

import msgspec


class DriveOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of driving.

    Attributes:
        acceleration: forward and sideways [m/s^2].
        yaw_acceleration: [rad/s^2].
        height_rate: of the trunk's height [m/s].
        goal_distance: that the reference may be away from the robot over the ground [m]: it follows
            a robot that is pushed further; None keeps it where the command has led it.
        goal_heading: the same of the heading [rad].
    """

    acceleration: float = 2.0
    yaw_acceleration: float = 4.0
    height_rate: float = 0.1
    goal_distance: float | None = 0.25
    goal_heading: float | None = 0.5
