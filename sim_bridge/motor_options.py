"""Limits of the simulated motors."""

import msgspec

from robots.a1.constants import TORQUE_LIMIT, VELOCITY_LIMIT


class MotorOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of one motor, the same for all twelve, at the joint (after the 9.1 gear).

    Attributes:
        torque_limit: largest torque [N m].
        no_load_speed: speed at which no accelerating torque is left [rad/s].
        corner_speed: speed up to which the full torque is there [rad/s]. Unitree publishes no
            curve; half the no-load speed is an assumption.
    """

    torque_limit: float = TORQUE_LIMIT
    no_load_speed: float = VELOCITY_LIMIT
    corner_speed: float = 0.5 * VELOCITY_LIMIT

    def __post_init__(self) -> None:
        """Raise ValueError for limits that make no curve."""
        if not (self.torque_limit > 0.0 and 0.0 <= self.corner_speed < self.no_load_speed):
            raise ValueError("motors: need torque_limit > 0 and 0 <= corner_speed < no_load_speed")
