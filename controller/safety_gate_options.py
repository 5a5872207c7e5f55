"""What the tracker's gate lets through."""

import math
from typing import Annotated

from robots.a1.constants import FALLEN_TILT, TORQUE_LIMIT
from runtime.options import Options, Range


class SafetyGateOptions(Options, frozen=True):
    """What the gate lets through.

    Attributes:
        torque_limit: largest torque of a motor.
        position_margin: how far a position target may lie outside the joint range.
        measured_margin: how far a measured joint may before the measurement is not believed.
        tilt_max: angle of the trunk's z axis to the vertical that is a fall.
        height_min: height of the trunk above its lowest standing foot while tracking below which it
            has fallen; on level ground the trunk touches at about 0.06 m.
        fall_confirm_s: how long a fall must be seen before it is believed.
        estimate_max_age_s: age from which an estimate is not acted upon any more.
        plan_future_s: how far ahead of now a plan may start.
    """

    torque_limit: Annotated[float, Range("N m", 0.0, 100.0)] = TORQUE_LIMIT
    position_margin: Annotated[float, Range("rad", 0.0, 10.0)] = 0.05
    measured_margin: Annotated[float, Range("rad", 0.0, 10.0)] = 0.5
    tilt_max: Annotated[float, Range("rad", 0.0, math.pi)] = FALLEN_TILT
    height_min: Annotated[float, Range("m", 0.0, 1.0)] = 0.08
    fall_confirm_s: Annotated[float, Range("s", 0.0, 10.0)] = 0.01
    estimate_max_age_s: Annotated[float, Range("s", 0.0, 10.0)] = 0.02
    plan_future_s: Annotated[float, Range("s", 0.0, 10.0)] = 0.1
