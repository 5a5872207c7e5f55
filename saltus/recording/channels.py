"""The open channels of a recording, for Foxglove and other readers of MCAP, in JSON.

Names and fields of the ``foxglove.*`` messages are those of Foxglove's message schemas.
Lengths [m], angles [rad], unless a field says otherwise. Fifty times a second the newest poses,
joints and velocities; paths twenty times a second, with the knots that are recorded of plans; how
each plan came about. NaN has no place in them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from robots.conventions import FOOT_NAMES, JOINT_NAMES
from robots.legs import foot_positions_in_base
from robots.robot import Robot
from runtime.messages import (
    Command,
    GroundTruth,
    MotorCommand,
    Plan,
    SensorReading,
    StateEstimate,
)
from runtime.recording import OpenChannel, Recorder
from saltus.common.heading import base_rotation, motion_in_heading


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


Array = NDArray[np.float64]

WORLD, TRUNK, ESTIMATE = "world", "trunk", "estimate"
LEG_WIDTH = 0.03  # [m]


class SceneLink(NamedTuple):
    """A link, its parent, where its joint is there [m], and the joint's axis (0 x, 1 y)."""

    name: str
    parent: str
    offset: tuple[float, float, float]
    axis: int


class SceneShape(NamedTuple):
    """A box or ball in the frame of a link: its centre and size [m]."""

    link: str
    centre: tuple[float, float, float]
    size: tuple[float, float, float]
    round: bool = False


class RobotScene:
    """The links of a robot in motor order, and their shapes; the trunk's comes first.

    Attributes:
        links: (12).
        shapes: of trunk and legs.
        foot_diameter: [m]
    """

    def __init__(self, robot: Robot) -> None:
        """Derive both from the robot's legs and its trunk."""
        self._legs = legs = robot.legs
        low, high = robot.body
        self.links: list[SceneLink] = []
        self.foot_diameter = size = 2.0 * legs.foot_radius
        box = (0.5 * (low + high)).tolist(), (high - low).tolist()
        self.shapes = [SceneShape(TRUNK, (box[0][0], box[0][1], box[0][2]), tuple(box[1]))]
        for leg, foot in enumerate(FOOT_NAMES):
            thigh = float(legs.thigh[leg])
            x, y, z = legs.hip[leg].tolist()
            self.links += [
                SceneLink(f"{foot}_hip", TRUNK, (x, y, z), 0),
                SceneLink(f"{foot}_thigh", f"{foot}_hip", (0.0, float(legs.plane[leg]), 0.0), 1),
                SceneLink(f"{foot}_calf", f"{foot}_thigh", (0.0, 0.0, -thigh), 1),
            ]
            for link, length in (("thigh", thigh), ("calf", thigh * float(legs.ratio[leg]))):
                bar = (LEG_WIDTH, LEG_WIDTH, length)
                self.shapes.append(SceneShape(f"{foot}_{link}", (0.0, 0.0, -0.5 * length), bar))
            ball = (0.0, 0.0, -thigh * float(legs.ratio[leg]))
            self.shapes.append(SceneShape(f"{foot}_calf", ball, (size, size, size), round=True))

    def link_rotations(self, joints: Array) -> list[list[float]]:
        """Quaternions (x, y, z, w) of the links in their parents, of joints (12) [rad]."""
        half = 0.5 * joints
        rows = np.zeros((12, 4))
        rows[np.arange(12), [link.axis for link in self.links]] = np.sin(half)
        rows[:, 3] = np.cos(half)
        return np.round(rows, 6).tolist()

    def foot_position(self, q: Array, leg: int) -> list[float]:
        """Where a foot is in the world [m] in the configuration q (19,)."""
        foot = foot_positions_in_base(self._legs, np.ascontiguousarray(q[7:], dtype=np.float64))[
            leg
        ]
        return np.round(q[:3] + base_rotation(q[3:7]) @ foot, 6).tolist()



TO_TRANSFORMS = open_channel("/tf", FrameTransforms)
TO_ROBOT = open_channel("/robot", SceneUpdate)
TO_TRUTH = open_channel("/pose/truth", PoseInFrame)
TO_ESTIMATE = open_channel("/pose/estimate", PoseInFrame)
TO_JOINTS = open_channel("/joints", JointStates)
TO_PATH = open_channel("/plan/path", PosesInFrame)
TO_FOOTHOLDS = open_channel("/plan/footholds", SceneUpdate)
TO_SOLVE = open_channel("/plan/solve", Solve)
TO_FOLLOWING = open_channel("/tracker", Following)
TO_MOTION = open_channel("/velocity", Motion)

PATH_STRIDE = 5  # knots from one pose of the path to the next
NEWEST = 1000  # plans; commands may be recorded seconds after the plan that they follow
GREY, GHOST = Color(0.45, 0.47, 0.5, 1.0), Color(0.2, 0.5, 0.9, 0.35)
GREEN = Color(0.2, 0.8, 0.3, 0.8)


class OpenChannels:
    """Writes poses, joints, plans and plots of a launch to a recorder."""

    def __init__(self, recorder: Recorder, robot: Robot, knows_truth: bool, speed: float) -> None:
        """Of a launch.

        Args:
            recorder: takes the messages.
            robot: of the launch.
            knows_truth: whether there is a true state; else the estimate moves the robot.
            speed: forward speed that is asked for until somebody commands another [m/s].
        """
        self._recorder, self._knows_truth = recorder, knows_truth
        self._scene = RobotScene(robot)
        self._command = [speed, 0.0, 0.0]
        self._plans: dict[int, float] = {}  # time of knot 0 of the newest ones [s], by id
        self._drawn = False

    def add_command(self, command: Command) -> None:
        """Keep what is asked for."""
        self._command = [command.forward, command.left, command.yaw_rate]

    def add_truth(self, truth: GroundTruth, time_ns: int) -> None:
        """Write the true pose; the robot moves there."""
        if _finite(truth.q, truth.v):
            self._pose(TO_TRUTH, truth.q, time_ns)
            self._move_robot(truth, time_ns)

    def add_estimate(self, estimate: StateEstimate, time_ns: int) -> None:
        """Write the estimated pose, as a ghost where the truth is known."""
        if not _finite(estimate.q, estimate.v):
            return
        self._pose(TO_ESTIMATE, estimate.q, time_ns)
        if self._knows_truth:
            base = _transform(WORLD, ESTIMATE, estimate.q[:3], estimate.q[3:7], time_ns)
            self._write(TO_TRANSFORMS, FrameTransforms([base]), time_ns)
        else:
            self._move_robot(estimate, time_ns)

    def add_reading(self, reading: SensorReading, time_ns: int) -> None:
        """Write the measured joints."""
        rows = np.array([reading.joint_position, reading.joint_velocity, reading.joint_torque]).T
        if _finite(rows):
            named = zip(JOINT_NAMES, _list(rows), strict=True)
            joints = [JointState(name, *row) for name, row in named]
            self._write(TO_JOINTS, JointStates(Time.of(time_ns), joints), time_ns)

    def add_plan(self, plan: Plan, time_ns: int) -> None:
        """Write how a plan came about and, where it has knots, its path and footholds."""
        self._plans[plan.id] = plan.time
        if len(self._plans) > NEWEST:
            del self._plans[next(iter(self._plans))]
        solve = Solve(1e3 * plan.solve_s, plan.cost, plan.iterations, plan.status)
        self._write(TO_SOLVE, solve, time_ns)
        if len(plan.inputs) and _finite(plan.states_q):
            stamp = Time.of(time_ns)
            poses = [_pose(*row) for row in _list(plan.states_q[::PATH_STRIDE, :7])]
            self._write(TO_PATH, PosesInFrame(stamp, WORLD, poses), time_ns)
            entity = SceneEntity(
                stamp, WORLD, "footholds", False, spheres=self._footholds(plan)
            )
            self._write(TO_FOOTHOLDS, SceneUpdate([entity]), time_ns)

    def add_motor_command(self, command: MotorCommand, time_ns: int) -> None:
        """Write what the tracker follows; its plan must be one of the newest."""
        since = self._plans.get(command.plan_id)
        if since is not None:
            age_ms = round(1e3 * (command.time - since), 3)
            following = Following(command.plan_id, age_ms, command.status)
            self._write(TO_FOLLOWING, following, time_ns)

    def _move_robot(self, state: GroundTruth | StateEstimate, time_ns: int) -> None:
        """Write the frames of the links, the velocity and, once, the shapes."""
        if not self._drawn:
            self._drawn = True
            self._write(TO_ROBOT, _robot(self._scene, Time.of(time_ns), self._knows_truth), time_ns)
        frames = [_transform(WORLD, TRUNK, state.q[:3], state.q[3:7], time_ns)]
        for link, rotation in zip(
            self._scene.links, self._scene.link_rotations(state.q[7:]), strict=True
        ):
            frames.append(
                FrameTransform(Time.of(time_ns), link.parent, link.name,
                                 Vector3(*link.offset), Quaternion(*rotation))
            )  # fmt: skip
        self._write(TO_TRANSFORMS, FrameTransforms(frames), time_ns)
        motion = Motion(*_list(motion_in_heading(state)), *self._command)
        self._write(TO_MOTION, motion, time_ns)

    def _footholds(self, plan: Plan) -> list[SpherePrimitive]:
        """Where feet land that are in the air before."""
        size, level = Vector3(*(self._scene.foot_diameter,) * 3), Quaternion(0.0, 0.0, 0.0, 1.0)
        centres = [
            self._scene.foot_position(plan.states_q[knot + 1], int(leg))
            for knot, leg in np.argwhere(np.diff(plan.contacts, axis=0) > 0.5)
        ]
        return [SpherePrimitive(Pose(Vector3(*at), level), size, GREEN) for at in centres]

    def _pose(self, channel: Any, q: Array, time_ns: int) -> None:
        pose = _pose(*_list(q[:7]))
        self._write(channel, PoseInFrame(Time.of(time_ns), WORLD, pose), time_ns)

    def _write(self, channel: Any, message: msgspec.Struct, time_ns: int) -> None:
        self._recorder.write_open(channel, msgspec.json.encode(message), time_ns)


def _finite(*arrays: Array) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


def _list(array: Array) -> list[Any]:
    """Six decimals are enough to look at, and short."""
    return np.round(array, 6).tolist()


def _pose(*row: float) -> Pose:
    return Pose(Vector3(*row[:3]), Quaternion(*row[3:]))


def _transform(
    parent: str, child: str, position: Array, quaternion: Array, time_ns: int
) -> FrameTransform:
    return FrameTransform(Time.of(time_ns), parent, child, Vector3(*_list(position)),
                            Quaternion(*_list(quaternion)))  # fmt: skip


def _robot(robot: RobotScene, stamp: Time, ghost: bool) -> SceneUpdate:
    """The shapes of the robot, and of the ghost of its trunk where it is estimated."""
    entities = [_shape(stamp, str(i), shape, shape.link, GREY)
                for i, shape in enumerate(robot.shapes)]  # fmt: skip
    if ghost:
        entities.append(_shape(stamp, ESTIMATE, robot.shapes[0], ESTIMATE, GHOST))
    return SceneUpdate(entities)


def _shape(
    stamp: Time, name: str, shape: SceneShape, frame: str, color: Color
) -> SceneEntity:
    pose = Pose(Vector3(*shape.centre), Quaternion(0.0, 0.0, 0.0, 1.0))
    size = Vector3(*shape.size)
    cubes: Sequence[Any] = [] if shape.round else [CubePrimitive(pose, size, color)]
    spheres: Sequence[Any] = [SpherePrimitive(pose, size, color)] if shape.round else []
    return SceneEntity(stamp, frame, name, True, cubes=list(cubes), spheres=list(spheres))
