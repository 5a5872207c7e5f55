"""What is written to the open channels of a recording, from the messages of a launch.

Fifty times a second the newest poses, joints and velocities; paths twenty times a second, with the
knots that are recorded of plans; how each plan came about. NaN has no place in them.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from robots.conventions import JOINT_NAMES
from robots.robot import Robot
from runtime.messages import (
    Command,
    GroundTruth,
    MotorCommand,
    Plan,
    SensorReading,
    StateEstimate,
)
from runtime.recording import Recorder
from saltus.metrics.driving import motion_in_heading
from saltus.recording import robot_scene as scene
from saltus.recording import schemas as s

Array = NDArray[np.float64]

TRANSFORMS = s.open_channel("/tf", s.FrameTransforms)
ROBOT = s.open_channel("/robot", s.SceneUpdate)
TRUTH = s.open_channel("/pose/truth", s.PoseInFrame)
ESTIMATE = s.open_channel("/pose/estimate", s.PoseInFrame)
JOINTS = s.open_channel("/joints", s.JointStates)
PATH = s.open_channel("/plan/path", s.PosesInFrame)
FOOTHOLDS = s.open_channel("/plan/footholds", s.SceneUpdate)
SOLVE = s.open_channel("/plan/solve", s.Solve)
FOLLOWING = s.open_channel("/tracker", s.Following)
MOTION = s.open_channel("/velocity", s.Motion)

PATH_STRIDE = 5  # knots from one pose of the path to the next
NEWEST = 1000  # plans; commands may be recorded seconds after the plan that they follow
GREY, GHOST = s.Color(0.45, 0.47, 0.5, 1.0), s.Color(0.2, 0.5, 0.9, 0.35)
GREEN = s.Color(0.2, 0.8, 0.3, 0.8)


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
        self._scene = scene.RobotScene(robot)
        self._command = [speed, 0.0, 0.0]
        self._plans: dict[int, float] = {}  # time of knot 0 of the newest ones [s], by id
        self._drawn = False

    def add_command(self, command: Command) -> None:
        """Keep what is asked for."""
        self._command = [command.forward, command.left, command.yaw_rate]

    def add_truth(self, truth: GroundTruth, time_ns: int) -> None:
        """Write the true pose; the robot moves there."""
        if _finite(truth.q, truth.v):
            self._pose(TRUTH, truth.q, time_ns)
            self._move_robot(truth, time_ns)

    def add_estimate(self, estimate: StateEstimate, time_ns: int) -> None:
        """Write the estimated pose, as a ghost where the truth is known."""
        if not _finite(estimate.q, estimate.v):
            return
        self._pose(ESTIMATE, estimate.q, time_ns)
        if self._knows_truth:
            base = _transform(scene.WORLD, scene.ESTIMATE, estimate.q[:3], estimate.q[3:7], time_ns)
            self._write(TRANSFORMS, s.FrameTransforms([base]), time_ns)
        else:
            self._move_robot(estimate, time_ns)

    def add_reading(self, reading: SensorReading, time_ns: int) -> None:
        """Write the measured joints."""
        rows = np.array([reading.joint_position, reading.joint_velocity, reading.joint_torque]).T
        if _finite(rows):
            named = zip(JOINT_NAMES, _list(rows), strict=True)
            joints = [s.JointState(name, *row) for name, row in named]
            self._write(JOINTS, s.JointStates(s.Time.of(time_ns), joints), time_ns)

    def add_plan(self, plan: Plan, time_ns: int) -> None:
        """Write how a plan came about and, where it has knots, its path and footholds."""
        self._plans[plan.id] = plan.time
        if len(self._plans) > NEWEST:
            del self._plans[next(iter(self._plans))]
        solve = s.Solve(1e3 * plan.solve_s, plan.cost, plan.iterations, plan.status)
        self._write(SOLVE, solve, time_ns)
        if len(plan.inputs) and _finite(plan.states_q):
            stamp = s.Time.of(time_ns)
            poses = [_pose(*row) for row in _list(plan.states_q[::PATH_STRIDE, :7])]
            self._write(PATH, s.PosesInFrame(stamp, scene.WORLD, poses), time_ns)
            entity = s.SceneEntity(
                stamp, scene.WORLD, "footholds", False, spheres=self._footholds(plan)
            )
            self._write(FOOTHOLDS, s.SceneUpdate([entity]), time_ns)

    def add_motor_command(self, command: MotorCommand, time_ns: int) -> None:
        """Write what the tracker follows; its plan must be one of the newest."""
        since = self._plans.get(command.plan_id)
        if since is not None:
            age_ms = round(1e3 * (command.time - since), 3)
            following = s.Following(command.plan_id, age_ms, command.status)
            self._write(FOLLOWING, following, time_ns)

    def _move_robot(self, state: GroundTruth | StateEstimate, time_ns: int) -> None:
        """Write the frames of the links, the velocity and, once, the shapes."""
        if not self._drawn:
            self._drawn = True
            self._write(ROBOT, _robot(self._scene, s.Time.of(time_ns), self._knows_truth), time_ns)
        frames = [_transform(scene.WORLD, scene.TRUNK, state.q[:3], state.q[3:7], time_ns)]
        for link, rotation in zip(
            self._scene.links, self._scene.link_rotations(state.q[7:]), strict=True
        ):
            frames.append(
                s.FrameTransform(s.Time.of(time_ns), link.parent, link.name,
                                 s.Vector3(*link.offset), s.Quaternion(*rotation))
            )  # fmt: skip
        self._write(TRANSFORMS, s.FrameTransforms(frames), time_ns)
        motion = s.Motion(*_list(motion_in_heading(state)), *self._command)
        self._write(MOTION, motion, time_ns)

    def _footholds(self, plan: Plan) -> list[s.SpherePrimitive]:
        """Where feet land that are in the air before."""
        size, level = s.Vector3(*(self._scene.foot_diameter,) * 3), s.Quaternion(0.0, 0.0, 0.0, 1.0)
        centres = [
            self._scene.foot_position(plan.states_q[knot + 1], int(leg))
            for knot, leg in np.argwhere(np.diff(plan.contacts, axis=0) > 0.5)
        ]
        return [s.SpherePrimitive(s.Pose(s.Vector3(*at), level), size, GREEN) for at in centres]

    def _pose(self, channel: Any, q: Array, time_ns: int) -> None:
        pose = _pose(*_list(q[:7]))
        self._write(channel, s.PoseInFrame(s.Time.of(time_ns), scene.WORLD, pose), time_ns)

    def _write(self, channel: Any, message: msgspec.Struct, time_ns: int) -> None:
        self._recorder.write_open(channel, msgspec.json.encode(message), time_ns)


def _finite(*arrays: Array) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


def _list(array: Array) -> list[Any]:
    """Six decimals are enough to look at, and short."""
    return np.round(array, 6).tolist()


def _pose(*row: float) -> s.Pose:
    return s.Pose(s.Vector3(*row[:3]), s.Quaternion(*row[3:]))


def _transform(
    parent: str, child: str, position: Array, quaternion: Array, time_ns: int
) -> s.FrameTransform:
    return s.FrameTransform(s.Time.of(time_ns), parent, child, s.Vector3(*_list(position)),
                            s.Quaternion(*_list(quaternion)))  # fmt: skip


def _robot(robot: scene.RobotScene, stamp: s.Time, ghost: bool) -> s.SceneUpdate:
    """The shapes of the robot, and of the ghost of its trunk where it is estimated."""
    entities = [_shape(stamp, str(i), shape, shape.link, GREY)
                for i, shape in enumerate(robot.shapes)]  # fmt: skip
    if ghost:
        entities.append(_shape(stamp, scene.ESTIMATE, robot.shapes[0], scene.ESTIMATE, GHOST))
    return s.SceneUpdate(entities)


def _shape(
    stamp: s.Time, name: str, shape: scene.SceneShape, frame: str, color: s.Color
) -> s.SceneEntity:
    pose = s.Pose(s.Vector3(*shape.centre), s.Quaternion(0.0, 0.0, 0.0, 1.0))
    size = s.Vector3(*shape.size)
    cubes: Sequence[Any] = [] if shape.round else [s.CubePrimitive(pose, size, color)]
    spheres: Sequence[Any] = [s.SpherePrimitive(pose, size, color)] if shape.round else []
    return s.SceneEntity(stamp, frame, name, True, cubes=list(cubes), spheres=list(spheres))
