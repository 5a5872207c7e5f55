"""Options of the tracker."""

import msgspec

from controller.safety_options import SafetyOptions
from controller.stand_down_options import StandDownOptions


class TrackerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the tracker.

    Attributes:
        kp_max, kd_max: most of the plan's joint feedback that is run in the motors [N m/rad],
            [N m s/rad]; the rest is fed forward. See `motor_law` for what is stable.
        command_delay: from a command to the motors acting on it [s], where it is known: the policy
            is evaluated for then, at the state moved on as planned.
        safety: what the gate lets through.
        stand_down: what happens without fresh plans.
    """

    kp_max: float = 100.0
    kd_max: float = 5.0
    command_delay: float = 0.0
    safety: SafetyOptions = SafetyOptions()
    stand_down: StandDownOptions = StandDownOptions()

    def __post_init__(self) -> None:
        """Raise ValueError for gains that no motor can run, or a delay out of range."""
        for name, most in (("kp_max", 500.0), ("kd_max", 20.0)):
            if not 0.0 <= getattr(self, name) <= most:
                raise ValueError(f"{name}: expected 0 to {most:g}, got {getattr(self, name)}")
        if not 0.0 <= self.command_delay <= 0.05:
            raise ValueError(f"command_delay: expected 0 to 0.05 s, got {self.command_delay}")
