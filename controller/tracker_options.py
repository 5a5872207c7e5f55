"""Options of the tracker."""

from typing import Annotated

from controller.safety_gate_options import SafetyGateOptions
from controller.stand_down_options import StandDownOptions
from runtime.options import Options, Range


class TrackerOptions(Options, frozen=True):
    """Options of the tracker.

    Attributes:
        kp_max: most of the plan's joint stiffness that is run in the motors; the rest is fed
            forward. See `controller/motor_targets.py` for what is stable.
        kd_max: most of the plan's joint damping that is run in the motors.
        command_delay: time from a command to its effect in the motors, where it is known: the
            policy is evaluated for then, at the state moved on as planned.
        safety: what the gate lets through.
        stand_down: what happens without fresh plans.
    """

    kp_max: Annotated[float, Range("N m/rad", 0.0, 500.0)] = 100.0
    kd_max: Annotated[float, Range("N m s/rad", 0.0, 20.0)] = 5.0
    command_delay: Annotated[float, Range("s", 0.0, 0.05)] = 0.0
    safety: SafetyGateOptions = SafetyGateOptions()
    stand_down: StandDownOptions = StandDownOptions()
