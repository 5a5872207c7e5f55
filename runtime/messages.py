"""The messages that travel between processes.

SI units; motor order FR, FL, RR, RL x hip, thigh, calf; foot order FR, FL, RR, RL. Times are
seconds on the monotonic clock, or simulated seconds when paused. Arrays are float64.
"""

from typing import Annotated, Literal

import msgspec
import numpy as np

from runtime.checked import Array, Message, Shape
from runtime.wire import DecodeError as DecodeError
from runtime.wire import decode as decode
from runtime.wire import encode as encode

Vector3 = Annotated[Array, Shape(3)]
PerFoot = Annotated[Array, Shape(4)]
PerMotor = Annotated[Array, Shape(12)]
Configuration = Annotated[Array, Shape(19)]
Velocity = Annotated[Array, Shape(18)]


class SensorReading(Message, frozen=True):
    """Measurements of the robot in one tick."""

    tick: int
    time: float  # [s]
    quaternion_imu_in_world: Annotated[Array, Shape(4)]  # x, y, z, w
    angular_velocity_imu: Vector3  # [rad/s]
    linear_acceleration_imu: Vector3  # specific force [m/s^2]: +9.81 upwards at rest
    joint_position: PerMotor  # [rad]
    joint_velocity: PerMotor  # [rad/s]
    joint_torque: PerMotor  # [N m]
    foot_force: PerFoot  # [N]


class StateEstimate(Message, frozen=True):
    """The estimated state of the robot at one tick."""

    tick: int
    time: float  # [s]
    q: Configuration  # base position in world [m], quaternion x, y, z, w, joints [rad]
    v: Velocity  # linear and angular velocity in base [m/s, rad/s], joints [rad/s]
    contact: PerFoot  # probability in [0, 1]
    # degraded: good to walk on, a sensor is left out; diverged, starting: not to be fed back
    status: Literal["ok", "degraded", "diverged", "starting"]


class Command(Message, frozen=True):
    """Command to the robot, in the heading frame of its base."""

    sequence: int  # of its source: each command has a greater one than the command before
    time: float  # on the source's clock [s]
    forward: float  # [m/s]
    left: float  # [m/s]
    yaw_rate: float  # to the left [rad/s]
    height: float | None = None  # of the trunk [m]; None: as it stands
    gait: str = "auto"  # stand, walk, trot, bound, or auto: chosen by speed


class Plan(Message, frozen=True):
    """A policy over N knots: u = inputs + gains (x - x_nominal), a difference in tangent space."""

    id: int
    tick: int  # of the estimate it starts from
    time: float  # of knot 0 [s]
    period: float  # between knots [s]
    states_q: Annotated[Array, Shape("N+1", 19)]
    states_v: Annotated[Array, Shape("N+1", 18)]
    inputs: Annotated[Array, Shape("N", 12)]  # [N m]
    gains: Annotated[Array, Shape("N", 12, 36)]  # the feedback sign is plus
    contacts: Annotated[Array, Shape("N", 4)]  # 0 or 1
    cost: float
    iterations: int
    solve_s: float  # [s]
    status: Literal["ok", "time_limit", "not_converged", "failed"]
    round_trip_s: float = 0.0  # of solve_s: to a rollout server and back, its physics apart [s]
    command: int = -1  # sequence number of the command that it obeys; -1 without one
    tilt: float = 0.0  # to which its reference tilts the trunk, and the robot may [rad]


class LineSearch(Message, frozen=True):
    """Costs of the candidates of a plan's forward passes, I passes with C candidates each.

    A pass that accepted a candidate took the least cost of its row. An iteration that searched no
    line, because it was at the optimum, has no row.
    """

    tick: int  # of the estimate that the plan starts from
    time: float  # of the plan's knot 0 [s]
    step_sizes: Annotated[Array, Shape("C")]  # 0 is the trajectory before the step
    costs: Annotated[Array, Shape("I", "C")]  # inf where it diverged or was left out


class MotorCommand(Message, frozen=True):
    """Setpoints of each motor: torque = tau + kp (q - measured q) + kd (dq - measured dq)."""

    tick: int
    time: float  # [s]
    q: PerMotor  # [rad]
    dq: PerMotor  # [rad/s]
    kp: PerMotor  # [N m/rad]
    kd: PerMotor  # [N m s/rad]
    tau: PerMotor  # [N m]
    plan_id: int
    status: Literal["ok", "hold", "stand_down", "damp", "waiting"]
    tilt: float = 0.0  # of its plan, while it follows that [rad]
    reason: str = ""  # why it does not follow a fresh plan; empty where it does


class GroundTruth(Message, frozen=True):
    """The simulated robot's true state; nothing on the robot may use it."""

    tick: int
    time: float  # [s]
    q: Configuration
    v: Velocity
    foot_force: Annotated[Array, Shape(4, 3)]  # on the foot, in world [N]
    contact: PerFoot  # 0 or 1
    trunk_contact: bool
    torque: PerMotor = msgspec.field(default_factory=lambda: np.zeros(12))  # of the motors [N m]
    work: float = 0.0  # that the motors have done since the start, what they took back left out [J]
    foot_slip: float = 0.0  # of all feet over the ground since the start; rolling is none [m]


class RobotStatus(Message, frozen=True):
    """Status of the bridge to a robot: the state that it allows, and the reason for no more."""

    tick: int
    time: float  # [s]
    state: Literal["off", "damping", "stand_up", "ready", "running", "sit_down"]
    cause: str  # why the robot was stopped or sat down; "" while all is well
    temperature: PerMotor  # [deg C]
    power: float  # the motors' sum of |torque x speed| [W]
    state_age: float  # since the newest believed frame was measured [s]
    frames: int  # believed so far
    refused: int  # not believed so far
    is_ending: bool = False  # it has been told to sit down or to stop


class PlanOutline(Message, frozen=True):
    """A plan without gains, for viewers: a tenth of its size."""

    id: int
    tick: int  # of the estimate it starts from
    time: float  # of knot 0 [s]
    period: float  # between knots [s]
    states_q: Annotated[Array, Shape("N+1", 19)]
    contacts: Annotated[Array, Shape("N", 4)]  # 0 or 1
    cost: float
    solve_s: float  # [s]
    status: Literal["ok", "time_limit", "not_converged", "failed"]
    command: int = -1  # sequence number of the command that it obeys; -1 without one


class StateCovariance(Message, frozen=True):
    """Uncertainty of an estimate."""

    tick: int
    time: float  # [s]
    velocity: Annotated[Array, Shape(3, 3)]  # of the base's linear velocity, base axes [m^2/s^2]


class Push(Message, frozen=True):
    """A push of the simulated robot by hand: `velocity` is added to the body's at once.

    A push of a leg moves its foot, by the leg's joints alone.
    """

    sequence: int
    time: float  # by the sender's clock [s]
    body: Literal["base", "FR", "FL", "RR", "RL"]
    velocity: Vector3  # in world [m/s]


class Pace(Message, frozen=True):
    """Rate of a simulated robot's time in lock step; sent again twice a second.

    A stop ends when these messages have been absent for two seconds.
    """

    sequence: int
    time: float  # by the sender's clock [s]
    speed: float  # simulated seconds a second; 0 stops time, inf is as fast as possible
    steps: int  # how many single ticks have been asked for since the sender began


class Tuning(Message, frozen=True):
    """Options of the planner that change while it runs."""

    sequence: int
    time: float  # by the sender's clock [s]
    options: str  # JSON: keys below `hilqr` of a launch file, and their values
