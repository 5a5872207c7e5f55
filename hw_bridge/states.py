"""States of the robot, and requests of an operator. Needs the standard library alone."""

from enum import StrEnum
from typing import Final


class RobotState(StrEnum):
    """State of the robot; entered in this order, then damping and off again."""

    OFF = "off"  # no torque
    DAMPING = "damping"  # joints resist motion, none is driven anywhere
    STAND_UP = "stand_up"  # the bridge's own motion from the measured pose to the stand
    READY = "ready"  # stands by itself
    RUNNING = "running"  # the tracker's commands go to the motors
    SIT_DOWN = "sit_down"  # the bridge's own motion to the ground


UP: Final = (RobotState.STAND_UP, RobotState.READY, RobotState.RUNNING)
"""States in which the robot stands, or is about to."""


class Request(StrEnum):
    """Request of an operator; one that does not fit the state is refused, except STOP."""

    STAND_UP = "stand_up"
    RUN = "run"
    SIT_DOWN = "sit_down"
    STOP = "stop"  # damping at once, from any state, for good
    END = "end"  # sit down if up, then end


RequestWithCause = tuple[Request, str]
"""A request, and its cause: "" for a plain wish, else one line of text."""
