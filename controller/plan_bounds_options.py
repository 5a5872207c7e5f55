"""What a plan may hold at most."""

from typing import Annotated

from runtime.options import Options, positive


class PlanBoundsOptions(Options, frozen=True):
    """What a plan may hold at most.

    The largest that was seen in plans of walks, pushes of 1 to 3 m/s, stairs, jumps, flips and a
    stand on two legs stands in brackets.

    Attributes:
        joint_margin: how far a joint may lie outside its range (0.31).
        height_max: distance of the trunk from the ground that is followed (0.7).
        speed_max: of the trunk (2.8).
        turn_max: angular speed of the trunk (14).
        joint_speed_max: of a joint (53).
        torque_max: of an input (33.5); three times a motor's largest where it is left out.
        gain_max: of a gain (11 000, of a position after a push of 2.5 m/s).
    """

    joint_margin: Annotated[float, positive("rad", 10.0)] = 1.0
    height_max: Annotated[float, positive("m", 100.0)] = 2.0
    speed_max: Annotated[float, positive("m/s", 1000.0)] = 10.0
    turn_max: Annotated[float, positive("rad/s", 1000.0)] = 40.0
    joint_speed_max: Annotated[float, positive("rad/s", 1000.0)] = 150.0
    torque_max: Annotated[float, positive("N m", 1000.0)] | None = None
    gain_max: Annotated[float, positive("N m/(m, rad, m/s, rad/s)", 1e9)] = 1e5
