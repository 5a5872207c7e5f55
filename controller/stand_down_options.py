"""When the tracker gives up plans, and how it moves then."""

from typing import Annotated

from runtime.options import Options, Range, positive


class StandDownOptions(Options, frozen=True):
    """When and how the tracker stops following plans.

    Attributes:
        plan_max_age_s: time since the last new plan after which the plan is stale.
        hold_s: how long a stale plan is followed on, within its horizon.
        estimate_lost_s: time without a usable estimate after which tracking is given up.
        rise_s: duration of going to the stand.
        pause_s: how long the robot stands before it lies down.
        lie_s: duration of lying down.
        return_s: time in which torque and feedback go over to a new plan.
        kp: joint stiffness of standing and lying.
        kd: joint damping of standing and lying.
        kd_damp: joint damping after a fall.
    """

    plan_max_age_s: Annotated[float, Range("s", 0.0, 1000.0)] = 0.1
    hold_s: Annotated[float, Range("s", 0.0, 1000.0)] = 0.25
    estimate_lost_s: Annotated[float, Range("s", 0.0, 1000.0)] = 0.1
    rise_s: Annotated[float, positive("s", 1000.0)] = 0.4
    pause_s: Annotated[float, Range("s", 0.0, 1000.0)] = 1.0
    lie_s: Annotated[float, positive("s", 1000.0)] = 1.5
    return_s: Annotated[float, positive("s", 1000.0)] = 0.2
    kp: Annotated[float, Range("N m/rad", 0.0, 1000.0)] = 80.0
    kd: Annotated[float, Range("N m s/rad", 0.0, 100.0)] = 3.0
    kd_damp: Annotated[float, Range("N m s/rad", 0.0, 100.0)] = 3.0
