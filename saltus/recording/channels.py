"""The open channels of a recording, for Foxglove and other readers of MCAP, in JSON.

Names and fields of the ``foxglove.*`` messages are those of Foxglove's message schemas; all
schemas are in ``schemas.json``.
Lengths [m], angles [rad], unless a field says otherwise. Fifty times a second the newest poses,
joints and velocities; paths twenty times a second, with the knots that are recorded of plans; how
each plan came about. NaN has no place in them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from mujoco import mjtGeom

from robots.conventions import JOINT_NAMES
from robots.robot import Robot
from runtime.checked import Array
from runtime.messages import (
    Command,
    GroundTruth,
    Plan,
    SensorReading,
    StateEstimate,
)
from runtime.recording import OpenChannel, Recorder
from saltus.common.heading import motion_in_heading
from saltus.recording.kinematics import BODY, FEET, Kinematics

Entity = dict[str, Any]
_SCHEMAS = msgspec.json.decode(Path(__file__).with_name("schemas.json").read_bytes())


# Schema of each channel, by topic.
CHANNELS = {
    topic: OpenChannel(topic, kind, msgspec.json.encode(_SCHEMAS[kind]))
    for topic, kind in {
        "/tf": "foxglove.FrameTransforms",
        "/robot": "foxglove.SceneUpdate",
        "/pose/truth": "foxglove.PoseInFrame",
        "/pose/estimate": "foxglove.PoseInFrame",
        "/joints": "foxglove.JointStates",
        "/plan/path": "foxglove.PosesInFrame",
        "/plan/solve": "saltus.Solve",
        "/velocity": "saltus.Motion",
    }.items()
}
WORLD, TRUNK, ESTIMATE = "world", "trunk", "estimate"


MOTION = ("forward", "left", "yaw_rate", "commanded_forward", "commanded_left",
          "commanded_yaw_rate")  # fmt: skip
SHAPES = ("cubes", "spheres", "metadata", "arrows", "cylinders", "lines", "triangles", "texts",
          "models")  # fmt: skip
PATH_STRIDE = 5  # knots from one pose of the path to the next
GREY, GHOST = (0.45, 0.47, 0.5, 1.0), (0.2, 0.5, 0.9, 0.35)  # red, green, blue, opacity


class OpenChannels:
    """Writes poses, joints, plans and plots of a launch to a recorder."""

    def __init__(self, recorder: Recorder, robot: Robot, knows_truth: bool, speed: float) -> None:
        """Open the channels of a launch.

        Args:
            recorder: takes the messages.
            robot: of the launch.
            knows_truth: whether there is a true state; else the estimate moves the robot.
            speed: commanded forward speed, until there is another [m/s].
        """
        self._recorder, self._knows_truth = recorder, knows_truth
        self._body = Kinematics(robot)
        self._command = [speed, 0.0, 0.0]
        self._drawn = False

    def add_command(self, command: Command) -> None:
        """Keep what is asked for."""
        self._command = [command.forward, command.left, command.yaw_rate]

    def add_truth(self, truth: GroundTruth, time_ns: int) -> None:
        """Write the true pose; the robot moves there."""
        if _finite(truth.q, truth.v):
            self._pose("/pose/truth", truth.q, time_ns)
            self._move_robot(truth, time_ns)

    def add_estimate(self, estimate: StateEstimate, time_ns: int) -> None:
        """Write the estimated pose, as a ghost where the truth is known."""
        if not _finite(estimate.q, estimate.v):
            return
        self._pose("/pose/estimate", estimate.q, time_ns)
        if self._knows_truth:
            base = _transform(WORLD, ESTIMATE, _list(estimate.q[:7]), time_ns)
            self._write("/tf", {"transforms": [base]}, time_ns)
        else:
            self._move_robot(estimate, time_ns)

    def add_reading(self, reading: SensorReading, time_ns: int) -> None:
        """Write the measured joints."""
        rows = np.array([reading.joint_position, reading.joint_velocity, reading.joint_torque]).T
        if _finite(rows):
            named = zip(JOINT_NAMES, _list(rows), strict=True)
            parts = ("position", "velocity", "effort")
            joints = [{"name": name, **dict(zip(parts, row, strict=True))} for name, row in named]
            self._write("/joints", {"timestamp": _time(time_ns), "joints": joints}, time_ns)

    def add_plan(self, plan: Plan, time_ns: int) -> None:
        """Write how a plan came about and, where it has knots, its path."""
        solve = {"solve_ms": 1e3 * plan.solve_s, "cost": plan.cost,
                 "iterations": plan.iterations, "status": plan.status}  # fmt: skip
        self._write("/plan/solve", solve, time_ns)
        if len(plan.inputs) and _finite(plan.states_q):
            poses = [_pose(row) for row in _list(plan.states_q[::PATH_STRIDE, :7])]
            path = {"timestamp": _time(time_ns), "frame_id": WORLD, "poses": poses}
            self._write("/plan/path", path, time_ns)

    def _move_robot(self, state: GroundTruth | StateEstimate, time_ns: int) -> None:
        """Write the frames of the links, the velocity and, once, the shapes."""
        if not self._drawn:
            self._drawn = True
            self._write("/robot", _robot(self._body, time_ns, self._knows_truth), time_ns)
        positions, rotations, _ = self._body.place(state.q)
        rows = _list(np.hstack((positions, rotations[:, [1, 2, 3, 0]]))[1:])
        frames = [_transform(WORLD, link, row, time_ns)
                  for link, row in zip(self._body.links, rows, strict=True)]  # fmt: skip
        self._write("/tf", {"transforms": frames}, time_ns)
        motion = dict(zip(MOTION, (*_list(motion_in_heading(state)), *self._command), strict=True))
        self._write("/velocity", motion, time_ns)

    def _pose(self, channel: str, q: Array, time_ns: int) -> None:
        pose = {"timestamp": _time(time_ns), "frame_id": WORLD, "pose": _pose(_list(q[:7]))}
        self._write(channel, pose, time_ns)

    def _write(self, channel: str, message: Entity, time_ns: int) -> None:
        self._recorder.append(CHANNELS[channel], msgspec.json.encode(message), time_ns)


def _finite(*arrays: Array) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


def _list(array: Array) -> list[Any]:
    """Six decimals are enough to look at, and short."""
    return np.round(array, 6).tolist()


def _time(time_ns: int) -> Entity:
    """Seconds and nanoseconds by the launch's clock."""
    return dict(zip(("sec", "nsec"), divmod(time_ns, 1_000_000_000), strict=True))


def _named(names: str, numbers: Sequence[float]) -> Entity:
    return dict(zip(names, numbers, strict=True))


def _pose(row: Sequence[float]) -> Entity:
    """Position and quaternion (7)."""
    return {"position": _named("xyz", row[:3]), "orientation": _named("xyzw", row[3:])}


def _transform(parent: str, child: str, row: Sequence[float], time_ns: int) -> Entity:
    """A frame in its parent: position and quaternion (7)."""
    return {"timestamp": _time(time_ns), "parent_frame_id": parent, "child_frame_id": child,
            "translation": _named("xyz", row[:3]), "rotation": _named("xyzw", row[3:])}  # fmt: skip


def _robot(body: Kinematics, time_ns: int, ghost: bool) -> Entity:
    """The shapes of the robot, and of the ghost of its trunk where it is estimated."""
    entities, model = [], body.model
    for geom in np.flatnonzero(np.isin(model.geom_group, (FEET, BODY))).tolist():
        link = model.body(model.geom_bodyid[geom]).name
        entities.append(_shape(time_ns, f"{geom}", model, geom, link, GREY))
        if ghost and link == TRUNK:
            entities.append(_shape(time_ns, f"{ESTIMATE}{geom}", model, geom, ESTIMATE, GHOST))
    return {"entities": entities, "deletions": []}


def _shape(
    time_ns: int, name: str, model: Any, geom: int, frame: str, color: Sequence[float]
) -> Entity:
    """A geom as a ball or a box, there until another of its name; a capsule is a bar."""
    kind, size = model.geom_type[geom], 2.0 * model.geom_size[geom]
    ball = kind == mjtGeom.mjGEOM_SPHERE
    axes = [0, 0, 0] if ball else [0, 1, 2] if kind == mjtGeom.mjGEOM_BOX else [0, 0, 1]
    row = [*_list(model.geom_pos[geom]), *_list(model.geom_quat[geom][[1, 2, 3, 0]])]
    solid = {"pose": _pose(row), "size": _named("xyz", _list(size[axes])),
             "color": _named("rgba", color)}  # fmt: skip
    return {
        "timestamp": _time(time_ns), "frame_id": frame, "id": name, "frame_locked": True,
        "lifetime": _time(0), **{kind: [] for kind in SHAPES},
        "spheres" if ball else "cubes": [solid],
    }  # fmt: skip
