"""Requests to a physics server, and its answers: rollouts, and a robot's world.

One frame each way, MessagePack like every message, with `kind` naming which it is. An answer
carries the id of its question. SI units; q, v, motors and feet in the conventions of the other
messages. A server that cannot do what it is asked answers with a `Refusal`.
"""

from typing import Annotated, TypeAlias

from runtime.checked import Array, Message, Shape
from runtime.messages import Configuration, PerMotor, Vector3, Velocity
from runtime.wire import decode, decode_viewing

PROTOCOL = 3  # grows when a message changes; client and server must agree

PerFootForce = Annotated[Array, Shape(4, 3)]


class Hello(Message, frozen=True, tag="hello", tag_field="kind"):
    """A greeting: which server is it?"""

    id: int
    protocol: int


class ServerInfo(Message, frozen=True, tag="server", tag_field="kind"):
    """Abilities of a server."""

    id: int
    protocol: int
    backend: str  # such as "mujoco", "warp", "isaacgym"
    device: str  # a name for people
    most_candidates: int
    rollouts: bool  # answers RolloutRequest
    robot: bool  # answers WorldRequest and TickRequest
    moves_ground: bool  # rolls out on a ground whose boxes move, without delay


class GroundRequest(Message, frozen=True, tag="ground", tag_field="kind"):
    """Keep a ground for the rollouts that name it: a floor, B boxes and a grid of heights."""

    id: int
    floor: float  # height of the level floor [m]
    centre: Annotated[Array, Shape("B", 3)]  # of the boxes [m]
    half: Annotated[Array, Shape("B", 3)]  # their sizes [m]
    rotation: Annotated[Array, Shape("B", 3, 3)]  # their axes as columns
    grid: Annotated[Array, Shape("R", "C")]  # heights above the floor [m]; none where R = C = 0
    grid_origin: Annotated[Array, Shape(2)]  # x, y of grid[0, 0] [m]
    grid_spacing: float  # between heights [m]


class GroundReply(Message, frozen=True, tag="ground_kept", tag_field="kind"):
    """The ground is kept."""

    id: int


class RolloutRequest(Message, frozen=True, tag="rollout", tag_field="kind"):
    """Roll C candidates of P policies out over N knots from x0 (`saltation.hilqr.Policies`).

    u_k = inputs[p, k] + step_size[c] feedforward[p, k] + gains[p, k] (x_k (-) states[p, k]), with
    p = policy_index[c], limited to the motors' torque and held over a knot.
    """

    id: int
    ground: str  # the name of one that was sent before; empty for the level floor z = 0
    period: float  # between knots [s]
    substeps: int  # physics steps in a knot
    x0: Annotated[Array, Shape(37)]  # [q, v]
    states: Annotated[Array, Shape("P", "N+1", 37)]
    inputs: Annotated[Array, Shape("P", "N", 12)]  # [N m]
    feedforward: Annotated[Array, Shape("P", "N", 12)]  # [N m]
    gains: Annotated[Array, Shape("P", "N", 12, 36)]
    policy_index: list[int]  # (C,)
    step_size: Annotated[Array, Shape("C")]


class RolloutReply(Message, frozen=True, tag="rolled_out", tag_field="kind"):
    """Motions of the candidates."""

    id: int
    states: Annotated[Array, Shape("C", "N+1", 37)]
    inputs: Annotated[Array, Shape("C", "N", 12)]  # after saturation [N m]
    normal_forces: Annotated[Array, Shape("C", "N", 4)]  # on each foot, late in the knot [N]
    finite: list[bool]  # (C,) False for a candidate whose physics diverged
    compute_s: float  # spent on the physics [s]


class WorldRequest(Message, frozen=True, tag="world", tag_field="kind"):
    """Begin a world with one robot in it, at rest or not; whatever world there was before is gone.

    An engine that cannot read MJCF takes the URDF; both describe the same robot.
    """

    id: int
    timestep: float  # physics step [s]
    friction: float  # between robot and floor
    payload_mass: float  # added at the trunk's centre of mass [kg]
    mass_scale: float  # of every mass and inertia, before the payload
    floor_slope: float  # uphill along world x [rad]
    torque_limit: PerMotor  # of the motors [N m]
    corner_speed: PerMotor  # up to which they give it [rad/s]
    no_load_speed: PerMotor  # at which they give nothing [rad/s]
    q: Configuration
    v: Velocity
    urdf: str


class TickRequest(Message, frozen=True, tag="tick", tag_field="kind"):
    """Simulate S physics steps.

    In each, motor j gives tau + kp (q - q_j) + kd (dq - dq_j), limited by its torque-speed curve;
    none while `blocked`.
    """

    id: int
    commands: Annotated[Array, Shape("S", 5, 12)]  # rows q, dq, kp, kd, tau
    blocked: bool
    base_force: Vector3  # on the trunk's centre of mass, in world [N]
    joint_torque: PerMotor  # from outside [N m]
    base_velocity: Vector3  # added to the trunk's at once before the first step, in world [m/s]


class PlaceRequest(Message, frozen=True, tag="place", tag_field="kind"):
    """Put the robot of the world into another state; no time passes."""

    id: int
    q: Configuration
    v: Velocity


class WorldReply(Message, frozen=True, tag="lived", tag_field="kind"):
    """The robot after a WorldRequest, TickRequest or PlaceRequest."""

    id: int
    q: Configuration
    v: Velocity
    torque: PerMotor  # of the motors in the last step [N m]
    foot_force: PerFootForce  # on the feet in the last step, in world [N]
    trunk_contact: bool  # the trunk touches the floor


class Refusal(Message, frozen=True, tag="refusal", tag_field="kind"):
    """Not done, and why, in one line."""

    id: int
    reason: str


Request: TypeAlias = (
    Hello | GroundRequest | RolloutRequest | WorldRequest | TickRequest | PlaceRequest
)
Reply: TypeAlias = ServerInfo | GroundReply | RolloutReply | WorldReply | Refusal


def decode_request(frame: bytes) -> Request:
    """The request in a frame, its large arrays read-only; raises DecodeError for other bytes."""
    return decode_viewing(Request, frame)  # type: ignore[type-var]


def decode_reply(frame: bytes) -> Reply:
    """The reply in a frame; raises DecodeError for any other bytes."""
    return decode(Reply, frame)  # type: ignore[type-var]
