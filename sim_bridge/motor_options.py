"""Limits of the simulated motors."""

from typing import Annotated

from robots.a1.constants import TORQUE_LIMIT, VELOCITY_LIMIT
from runtime.options import Options, Range, positive


class MotorOptions(Options, frozen=True):
    """Limits of one motor, the same for all twelve, at the joint (after the 9.1 gear).

    Attributes:
        torque_limit: largest torque.
        no_load_speed: speed at which no accelerating torque is left.
        corner_speed: speed up to which the full torque is there. Unitree publishes no
            curve; half the no-load speed is an assumption.
    """

    torque_limit: Annotated[float, positive("N m", 1000.0)] = TORQUE_LIMIT
    no_load_speed: Annotated[float, positive("rad/s", 1000.0)] = VELOCITY_LIMIT
    corner_speed: Annotated[float, Range("rad/s", 0.0, 1000.0)] = 0.5 * VELOCITY_LIMIT

    def __post_init__(self) -> None:
        """Raise ValueError for limits that make no curve."""
        Options.__post_init__(self)
        if self.corner_speed >= self.no_load_speed:
            raise ValueError(
                f"corner_speed is {self.corner_speed:g}; give less than no_load_speed, "
                f"{self.no_load_speed:g} rad/s"
            )
