"""What the tracker's gate lets through."""

import math
from typing import Annotated

from controller.plan_bounds_options import PlanBoundsOptions
from robots.conventions import FALLEN_TILT
from runtime.options import Options, Range, positive


class SafetyGateOptions(Options, frozen=True):
    """What the gate lets through.

    Attributes:
        torque_limit: largest torque of a motor; the robot's own where it is left out.
        position_margin: how far a position target may lie outside the joint range.
        measured_margin: how far a measured joint may before the measurement is not believed.
        tilt_max: angle of the trunk's z axis to the vertical that is a fall.
        height_min: height of the trunk above its lowest standing foot while tracking below which it
            has fallen; a fifth of a leg's length where it is left out, 0.08 m of an A1, whose trunk
            touches level ground at about 0.06 m.
        fall_confirm_s: how long a fall must be seen before it is believed.
        estimate_max_age_s: age from which an estimate is not acted upon any more.
        estimate_joint_error: how far the joints of a sound estimate may be from the encoders' in
            the reading that it was made from. Where that was not seen, the newest reading stands
            for it, and what a motor travels at full speed in the time between comes on top.
        estimate_turn_error: how far its angular velocity may be from that reading's gyroscope; on
            top comes 500 rad/s^2 times the time between.
        estimate_speed_max: largest speed of the trunk that is believed.
        plan_future_s: how far ahead of now a plan may start.
        first_plan_distance: how far the first plan may lead the trunk over the ground.
        first_plan_turn: how far it may turn the trunk about the vertical: a plan for a robot that
            stands elsewhere would whip this one round.
        plan: what a plan may hold at most.
    """

    torque_limit: Annotated[float, Range("N m", 0.0, 100.0)] | None = None
    position_margin: Annotated[float, Range("rad", 0.0, 10.0)] = 0.05
    measured_margin: Annotated[float, Range("rad", 0.0, 10.0)] = 0.5
    tilt_max: Annotated[float, Range("rad", 0.0, math.pi)] = FALLEN_TILT
    height_min: Annotated[float, Range("m", 0.0, 1.0)] | None = None
    fall_confirm_s: Annotated[float, Range("s", 0.0, 10.0)] = 0.01
    estimate_max_age_s: Annotated[float, Range("s", 0.0, 10.0)] = 0.02
    estimate_joint_error: Annotated[float, positive("rad", 10.0)] = 0.3
    estimate_turn_error: Annotated[float, positive("rad/s", 1000.0)] = 4.0
    estimate_speed_max: Annotated[float, positive("m/s", 1000.0)] = 8.0
    plan_future_s: Annotated[float, Range("s", 0.0, 10.0)] = 0.1
    first_plan_distance: Annotated[float, positive("m", 100.0)] = 1.0
    first_plan_turn: Annotated[float, positive("rad", math.pi)] = 0.7
    plan: PlanBoundsOptions = PlanBoundsOptions()
