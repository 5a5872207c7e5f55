"""Keeps a robot under random commands on its terrain: one that has strayed is sent back."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from saltus.soak.schedule import TURN, Command

FAR, NEAR = 2.3, 1.0  # from the origin, where it is sent back and where it is let go again [m]
SPEED = 0.3  # home [m/s]
TURN_GAIN = 1.5  # [1/s]


class Steering:
    """Commands as they are, or on the way home with the same gait and height.

    Attributes:
        is_homing: the robot is on its way back.
    """

    def __init__(self) -> None:
        """The robot begins at the origin."""
        self.is_homing = False

    def steer(self, command: Command, q: NDArray[np.float64]) -> Command:
        """The command to give to a robot with the true configuration `q` (19).

        A robot that is to stand stands.
        """
        x, y = float(q[0]), float(q[1])
        self.is_homing = math.hypot(x, y) > (NEAR if self.is_homing else FAR)
        if not self.is_homing or command.gait == "stand":
            return command
        way = math.atan2(-y, -x) - heading_of(q)
        error = math.remainder(way, 2.0 * math.pi)
        turn = min(TURN[1], max(TURN[0], TURN_GAIN * error))
        return command._replace(forward=SPEED * max(0.0, math.cos(error)), left=0.0, turn=turn)


def heading_of(q: NDArray[np.float64]) -> float:
    """Of the trunk in the world [rad]."""
    x, y, z, w = q[3:7]
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
