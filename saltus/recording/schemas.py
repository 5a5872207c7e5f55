"""Messages of the open channels: those of Foxglove that are written, and three plots.

Names and fields of the ``foxglove.*`` messages are those of Foxglove's message schemas, in JSON.
Lengths [m], angles [rad], unless a field says otherwise.
"""

from typing import Any

import msgspec

from runtime.recording import OpenChannel


class Time(msgspec.Struct, frozen=True):
    """Seconds and nanoseconds by the launch's clock."""

    sec: int
    nsec: int

    @classmethod
    def of(cls, time_ns: int) -> "Time":
        """From `time_ns` [ns]."""
        return cls(*divmod(time_ns, 1_000_000_000))


class Vector3(msgspec.Struct, frozen=True):
    """A vector."""

    x: float
    y: float
    z: float


class Quaternion(msgspec.Struct, frozen=True):
    """A unit quaternion."""

    x: float
    y: float
    z: float
    w: float


class Pose(msgspec.Struct, frozen=True):
    """Position and orientation."""

    position: Vector3
    orientation: Quaternion


class PoseInFrame(msgspec.Struct, frozen=True):
    """A pose."""

    timestamp: Time
    frame_id: str
    pose: Pose


class PosesInFrame(msgspec.Struct, frozen=True):
    """A path."""

    timestamp: Time
    frame_id: str
    poses: list[Pose]


class FrameTransform(msgspec.Struct, frozen=True):
    """Where a frame is in its parent."""

    timestamp: Time
    parent_frame_id: str
    child_frame_id: str
    translation: Vector3
    rotation: Quaternion


class FrameTransforms(msgspec.Struct, frozen=True):
    """Where several frames are."""

    transforms: list[FrameTransform]


class JointState(msgspec.Struct, frozen=True):
    """Position [rad], velocity [rad/s] and torque [N m] of a joint."""

    name: str
    position: float
    velocity: float
    effort: float


class JointStates(msgspec.Struct, frozen=True):
    """The joints of the robot."""

    timestamp: Time
    joints: list[JointState]


class Color(msgspec.Struct, frozen=True):
    """Each part between 0 and 1."""

    r: float
    g: float
    b: float
    a: float


class CubePrimitive(msgspec.Struct, frozen=True):
    """A box."""

    pose: Pose
    size: Vector3
    color: Color


class SpherePrimitive(msgspec.Struct, frozen=True):
    """A ball."""

    pose: Pose
    size: Vector3
    color: Color


class SceneEntity(msgspec.Struct, frozen=True):
    """Shapes in one frame, there until an entity of the same name replaces them."""

    timestamp: Time
    frame_id: str
    id: str
    frame_locked: bool
    cubes: list[CubePrimitive] = []
    spheres: list[SpherePrimitive] = []
    lifetime: Time = Time(0, 0)
    metadata: list[Any] = []
    arrows: list[Any] = []
    cylinders: list[Any] = []
    lines: list[Any] = []
    triangles: list[Any] = []
    texts: list[Any] = []
    models: list[Any] = []


class SceneUpdate(msgspec.Struct, frozen=True):
    """What is drawn."""

    entities: list[SceneEntity]
    deletions: list[Any] = []


class Solve(msgspec.Struct, frozen=True):
    """How a plan came about."""

    solve_ms: float
    cost: float
    iterations: int
    status: str


class Following(msgspec.Struct, frozen=True):
    """What the tracker follows: a plan, the age of its first knot, and why not, if it does not."""

    plan_id: int
    plan_age_ms: float
    status: str


class Motion(msgspec.Struct, frozen=True):
    """Velocity in the heading frame and its command [m/s, rad/s]."""

    forward: float
    left: float
    yaw_rate: float
    commanded_forward: float
    commanded_left: float
    commanded_yaw_rate: float


def open_channel(topic: str, kind: type[msgspec.Struct]) -> OpenChannel:
    """The channel `topic` of messages of `kind`; plots have names of Saltus's own."""
    plots = (Solve, Following, Motion)
    name = f"{'saltus' if kind in plots else 'foxglove'}.{kind.__name__}"
    (_,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    root = parts.pop(kind.__name__)  # at the top: viewers want an object there, no reference
    return OpenChannel(topic, name, msgspec.json.encode(root | {"title": name, "$defs": parts}))
