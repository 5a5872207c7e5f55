"""What a viewer shows of a recorded run: poses, joints, velocities and paths over time."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runtime.messages import Command, GroundTruth, Plan, StateEstimate
from saltus.common.errors import BadRequest
from saltus.metrics.driving import motion_in_heading
from saltus.recording.plans import Sampling
from saltus.recording.reading import messages_of_run
from saltus.recording.start_axes import StartAxes
from saltus.trace.recorded_run import config_of_run

Array = NDArray[np.float64]

EVERY_NS = 20_000_000


@dataclass
class States:
    """States fifty times a second.

    Attributes:
        time: when, n times [s].
        q: configurations (19,).
        motion: velocities in the heading frame (3,) [m/s, rad/s].
        command: what was commanded of these (3,).
    """

    time: list[float] = field(default_factory=list)
    q: list[Array] = field(default_factory=list)
    motion: list[Array] = field(default_factory=list)
    command: list[Array] = field(default_factory=list)
    _sampling: Sampling = field(default_factory=lambda: Sampling(EVERY_NS))

    def add(self, state: GroundTruth | StateEstimate, command: Array) -> None:
        """Take a state in; one that is not finite is left out."""
        finite = np.isfinite(state.q).all() and np.isfinite(state.v).all()
        if finite and self._sampling.take(round(state.time * 1e9)):
            self.time.append(state.time)
            self.q.append(state.q)
            self.motion.append(motion_in_heading(state))
            self.command.append(command)


@dataclass
class ExportedMotion:
    """A run to look at. Times are the launch's clock's [s].

    Attributes:
        truth: the true states; none of a real robot.
        estimate: the estimated ones.
        solves: when each plan came [s], and how long its solve took [ms].
        paths: where plans lead the base, (N+1, 3) [m], and from when [s].
    """

    truth: States = field(default_factory=States)
    estimate: States = field(default_factory=States)
    solves: list[tuple[float, float]] = field(default_factory=list)
    paths: list[tuple[float, Array]] = field(default_factory=list)

    @property
    def robot(self) -> States:
        """Where the robot is: the truth, or else the estimate."""
        return self.truth if self.truth.time else self.estimate


def motion_of_run(folder: Path) -> ExportedMotion:
    """Read the recording of a run; one that was cut off gives what it holds.

    Raises:
        BadRequest: the folder holds no run, no states, or what another version recorded.
    """
    config = config_of_run(folder)
    motion, command = ExportedMotion(), np.array([config.speed, 0.0, 0.0])
    axes = StartAxes(config)
    for _, recorded in messages_of_run(folder):
        message = axes.to_local(recorded)
        if isinstance(message, Command):
            command = np.array([message.forward, message.left, message.yaw_rate])
        elif isinstance(message, GroundTruth):
            motion.truth.add(message, command)
        elif isinstance(message, StateEstimate):
            motion.estimate.add(message, command)
        elif isinstance(message, Plan):
            motion.solves.append((message.time, 1e3 * message.solve_s))
            if len(message.inputs):
                motion.paths.append((message.time, message.states_q[:, :3]))
    if not motion.robot.time:
        raise BadRequest(f"{folder}: no states in its recording")
    return motion
