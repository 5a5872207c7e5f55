"""A recorded run as a file of Rerun's viewer (``.rrd``)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.conventions import JOINT_NAMES
from robots.robot import Robot
from saltus.common.errors import BadRequest
from saltus.common.files import replacing
from saltus.export.motion import ExportedMotion, States
from saltus.recording.robot_scene import ESTIMATE, TRUNK, WORLD, RobotScene

Array = NDArray[np.float64]

TIMELINE = "time"  # [s] since the first state
COLORS = {TRUNK: (115, 120, 128), ESTIMATE: (51, 128, 230, 90), "plan": (230, 140, 30)}


def write_rerun(motion: ExportedMotion, robot: Robot, name: str, path: Path) -> None:
    """Write a run to `path`, whole or not at all.

    Poses of base, estimate and links, the paths of plans, joints [rad], velocities with their
    commands [m/s, rad/s] and times of solves [ms].

    Raises:
        BadRequest: rerun-sdk is not installed, or the file cannot be written.
    """
    try:
        import rerun as rr
    except ImportError as error:
        raise BadRequest("--rerun needs rerun-sdk: pip install 'saltus[rerun]'") from error
    try:
        with replacing(path) as part:
            with rr.RecordingStream("saltus", recording_id=name) as stream:
                stream.save(part)
                rr.set_log_time_enabled(False, recording=stream)
                rr.set_log_tick_enabled(False, recording=stream)
                _Export(rr, stream, robot, motion.robot.time[0]).write(motion)
                stream.flush()
                stream.disconnect()
    except (OSError, RuntimeError) as error:  # rerun raises the second for a file it cannot make
        raise BadRequest(f"--rerun {path}: cannot be written: {error}") from error


class _Export:
    """Writes to one stream; `rr` is the module rerun."""

    def __init__(self, rr: Any, stream: Any, robot: Robot, origin: float) -> None:
        self._scene = RobotScene(robot)
        self._rr, self._stream, self._origin = rr, stream, origin

    def write(self, motion: ExportedMotion) -> None:
        self._draw_shapes(bool(motion.truth.time))
        robot = motion.robot
        self._move(robot, f"{WORLD}/{TRUNK}")
        if motion.truth.time:
            self._move(motion.estimate, f"{WORLD}/{ESTIMATE}")
        self._move_links(robot)
        for start, path in motion.paths:
            self._stream.set_time(TIMELINE, duration=start - self._origin)
            line = self._rr.LineStrips3D([path], colors=[COLORS["plan"]])
            self._stream.log(f"{WORLD}/plan", line)
        solves = np.array(motion.solves).reshape(-1, 2)
        self._plot("plots/solve_ms", solves[:, 0], solves[:, 1])
        for i, quantity in enumerate(("forward", "left", "yaw_rate")):
            self._plot(f"plots/{quantity}/measured", robot.time, np.array(robot.motion)[:, i])
            self._plot(f"plots/{quantity}/commanded", robot.time, np.array(robot.command)[:, i])

    def _move(self, states: States, entity: str) -> None:
        q = np.array(states.q).reshape(-1, 19)
        self._transform(entity, states.time, q[:, :3], q[:, 3:7])

    def _move_links(self, robot: States) -> None:
        """Links hang below their parents, so that the viewer composes their transforms."""
        rotations = np.array([self._scene.link_rotations(q[7:]) for q in robot.q])
        for index, (link, joint) in enumerate(zip(self._scene.links, JOINT_NAMES, strict=True)):
            offsets = np.tile(link.offset, (len(robot.time), 1))
            self._transform(self._entity(link.name), robot.time, offsets, rotations[:, index])
            self._plot(f"joints/{joint}", robot.time, np.array(robot.q)[:, 7 + index])

    def _draw_shapes(self, ghost: bool) -> None:
        for shape in self._scene.shapes:
            name = f"{self._entity(shape.link)}/{'foot' if shape.round else 'shape'}"
            self._stream.log(name, self._body(shape, COLORS[TRUNK]), static=True)
        if ghost:
            body = self._body(self._scene.shapes[0], COLORS[ESTIMATE])
            self._stream.log(f"{WORLD}/{ESTIMATE}/shape", body, static=True)

    def _body(self, shape: Any, color: tuple[int, ...]) -> Any:
        if shape.round:
            return self._rr.Points3D([shape.centre], radii=[0.5 * shape.size[0]], colors=[color])
        return self._rr.Boxes3D(centers=[shape.centre], sizes=[shape.size], colors=[color])

    def _transform(self, entity: str, time: Any, position: Array, quaternion: Array) -> None:
        columns = self._rr.Transform3D.columns(translation=position, quaternion=quaternion)
        self._stream.send_columns(entity, self._index(time), columns)

    def _plot(self, entity: str, time: Any, values: Array) -> None:
        self._stream.send_columns(
            entity, self._index(time), self._rr.Scalars.columns(scalars=values)
        )

    def _index(self, time: Any) -> list[Any]:
        return [self._rr.TimeColumn(TIMELINE, duration=np.asarray(time) - self._origin)]

    def _entity(self, link: str) -> str:
        """The path of a link below the trunk, all its parents in it."""
        parents = {each.name: each.parent for each in self._scene.links}
        names = [link]
        while names[-1] in parents:
            names.append(parents[names[-1]])
        return "/".join([WORLD, *reversed(names)])
