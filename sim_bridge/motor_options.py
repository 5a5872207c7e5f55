"""Limits of the simulated motors."""

from typing import Annotated

from runtime.options import Options, Range, positive


class MotorOptions(Options, frozen=True):
    """Limits of every motor, at the joint; the robot's own where they are left out.

    Attributes:
        torque_limit: largest torque.
        no_load_speed: speed at which no accelerating torque is left.
        corner_speed: speed up to which the full torque is there.
    """

    torque_limit: Annotated[float, positive("N m", 1000.0)] | None = None
    no_load_speed: Annotated[float, positive("rad/s", 1000.0)] | None = None
    corner_speed: Annotated[float, Range("rad/s", 0.0, 1000.0)] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for limits that make no curve."""
        Options.__post_init__(self)
        corner, no_load = self.corner_speed, self.no_load_speed
        if corner is not None and no_load is not None and corner >= no_load:
            raise ValueError(
                f"corner_speed is {corner:g}; give less than no_load_speed, {no_load:g} rad/s"
            )
