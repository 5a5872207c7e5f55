"""What the tracker's gate lets through."""

import math

import msgspec

from robots.a1.constants import TORQUE_LIMIT


class SafetyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the gate lets through.

    Attributes:
        torque_limit: per motor [N m].
        position_margin: how far a position target may lie outside the joint range [rad].
        measured_margin: how far a measured joint may before the measurement is not believed [rad].
        tilt_max: angle of the trunk's z axis to the vertical that is a fall [rad].
        height_min: height of the trunk while tracking below which it has fallen [m]; the trunk
            touches the ground at about 0.06.
        fall_confirm_s: how long a fall must be seen before it is believed [s].
        estimate_max_age_s: age from which an estimate is not acted upon any more [s].
        plan_future_s: how far ahead of now a plan may start [s].
    """

    torque_limit: float = TORQUE_LIMIT
    position_margin: float = 0.05
    measured_margin: float = 0.5
    tilt_max: float = math.radians(60.0)
    height_min: float = 0.08
    fall_confirm_s: float = 0.01
    estimate_max_age_s: float = 0.02
    plan_future_s: float = 0.1

    def __post_init__(self) -> None:
        """Raise ValueError for a limit that is not positive."""
        for name in self.__struct_fields__:
            if not getattr(self, name) >= 0.0:
                raise ValueError(
                    f"safety.{name}: expected a number >= 0, got {getattr(self, name)}"
                )
