"""What a driven reference is asked to do."""

from __future__ import annotations

from typing import NamedTuple


class Goal(NamedTuple):
    """A command, in the base's heading."""

    forward: float = 0.0  # [m/s]
    left: float = 0.0  # [m/s]
    yaw_rate: float = 0.0  # [rad/s]
    height: float | None = None  # of the trunk [m]; None: as it stands
    gait: str = "stand"  # which goes nowhere, whatever the velocities
