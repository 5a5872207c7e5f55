"""The one table of topics: name, message type, rate and the age at which a message is too old."""

from dataclasses import dataclass
from typing import Any, Generic

from runtime.messages import (
    Command,
    GroundTruth,
    LineSearch,
    MotorCommand,
    Pace,
    Plan,
    PlanOutline,
    Push,
    RobotStatus,
    SensorReading,
    StateCovariance,
    StateEstimate,
    Tuning,
)
from runtime.wire import MessageT


@dataclass(frozen=True)
class Topic(Generic[MessageT]):
    """A named stream of messages of one type: nominal rate [Hz], maximum age [s]."""

    name: str
    message: type[MessageT]
    rate_hz: float
    max_age_s: float


SIMULATED_READING = Topic("simulated_reading", SensorReading, 1000.0, 0.010)
SENSOR_READING = Topic("sensor_reading", SensorReading, 1000.0, 0.010)
STATE_ESTIMATE = Topic("state_estimate", StateEstimate, 1000.0, 0.010)
PLAN = Topic("plan", Plan, 100.0, 0.200)  # the rate it has in lock step; in real time, as it solves
MOTOR_COMMAND = Topic("motor_command", MotorCommand, 1000.0, 0.010)
GROUND_TRUTH = Topic("ground_truth", GroundTruth, 1000.0, 0.010)
LINE_SEARCH = Topic("line_search", LineSearch, 100.0, 0.200)  # after each plan that searched
ROBOT_STATUS = Topic("robot_status", RobotStatus, 50.0, 0.200)  # of a real or emulated robot only
COMMAND = Topic("command", Command, 50.0, 0.5)  # of the operator
PLAN_OUTLINE = Topic("plan_outline", PlanOutline, 30.0, 0.200)  # while there is a subscriber
STATE_COVARIANCE = Topic("state_covariance", StateCovariance, 50.0, 0.100)
PUSH = Topic("push", Push, 1.0, 2.0)  # these three come from viewers
PACE = Topic("pace", Pace, 2.0, 2.0)
TUNING = Topic("tuning", Tuning, 1.0, 2.0)

TOPICS: tuple[Topic[Any], ...] = (
    SIMULATED_READING,
    SENSOR_READING,
    STATE_ESTIMATE,
    PLAN,
    MOTOR_COMMAND,
    GROUND_TRUTH,
    LINE_SEARCH,
    ROBOT_STATUS,
    COMMAND,
    PLAN_OUTLINE,
    STATE_COVARIANCE,
    PUSH,
    PACE,
    TUNING,  # new ones go last, so that the others keep their tcp ports
)

# From viewers of a launch, which may have been there before it.
BY_WATCHERS: tuple[Topic[Any], ...] = (PUSH, PACE, TUNING)

# What a recorder keeps: outlines follow the clock, so two equal runs would differ in them.
RECORDED: tuple[Topic[Any], ...] = tuple(topic for topic in TOPICS if topic is not PLAN_OUTLINE)
