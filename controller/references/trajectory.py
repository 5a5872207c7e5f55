"""A reference trajectory on the planner's knots: samples, loop, windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from controller.driving.commands import CommandIntake
from robots.rotations import Array

TILT_TIME = 0.2  # before and after an instant, in which the robot may tilt as its reference [s]


class ReferenceWindow(NamedTuple):
    """The part of a reference that one planning horizon sees (N knots).

    Attributes:
        q: configurations (N+1, 19); v: velocities (N+1, 18); inputs: torques (N, 12) [N m];
        gains: feedback precomputed along the reference (N, 12, 36); contacts: (N+1, 4), 1 = stance.
    """

    q: Array
    v: Array
    inputs: Array
    gains: Array
    contacts: Array


class Reference(Protocol):
    """The motion that a planner tracks, a horizon at a time."""

    @property
    def commands(self) -> CommandIntake | None:
        """Source of the commands; None where it is not driven."""
        ...

    def prepare(self, schedule: Callable[[ReferenceTrajectory], Array]) -> Reference:
        """The same with the gains that `schedule` gives along a trajectory (K, 12, 36)."""
        ...

    def window(self, start: int, knots: int, state: Array | None = None) -> ReferenceWindow:
        """Reference from knot `start` over `knots` intervals, of a robot in `state` (37) there."""
        ...

    def tilt(self, time: float) -> float:
        """Tilt of the trunk around `time` [s], from the vertical or the slope [rad]."""
        ...


@dataclass
class ReferenceTrajectory:
    """Samples every `period` seconds, of which the last `loop` repeat for ever.

    After the last sample the reference goes on at sample `size - loop`, moved by `loop_shift` in
    the world: a gait's start and one stride describe a walk of any length. `loop = 1` with no
    shift holds the last sample.

    Attributes:
        name: for reports.
        period: time between samples [s].
        q, v, inputs, contacts: samples (K, 19), (K, 18), (K, 12), (K, 4).
        loop: number of samples that repeat.
        loop_shift: displacement of the base in one loop, in the world [m], (3,).
        gains: feedback gains along the samples (K, 12, 36), zero until they are computed.
    """

    name: str
    period: float
    q: Array
    v: Array
    inputs: Array
    contacts: Array
    loop: int = 1
    loop_shift: Array = field(default_factory=lambda: np.zeros(3))
    gains: Array = field(default_factory=lambda: np.zeros(0))
    commands: CommandIntake | None = field(default=None, init=False)  # it is not driven

    def __post_init__(self) -> None:
        if self.gains.size == 0:
            self.gains = np.zeros((len(self.q), 12, 36))

    @property
    def size(self) -> int:
        """Number of stored samples."""
        return len(self.q)

    def _indices(self, start: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Stored index and number of completed loops of each knot."""
        knots = np.maximum(np.arange(start, start + count), 0)
        beyond = np.maximum(knots - (self.size - self.loop), 0)
        loops = beyond // self.loop
        return knots - loops * self.loop, loops

    def prepare(self, schedule: Callable[[ReferenceTrajectory], Array]) -> ReferenceTrajectory:
        """The same with the gains that `schedule` gives along it (K, 12, 36)."""
        return replace(self, gains=schedule(self))

    def window(self, start: int, knots: int, state: Array | None = None) -> ReferenceWindow:
        """Reference from knot `start` over `knots` intervals (copies), whatever the `state`."""
        index, loops = self._indices(start, knots + 1)
        q = self.q[index]
        q[:, :3] += loops[:, None] * self.loop_shift
        inner = index[:-1]
        return ReferenceWindow(
            q, self.v[index], self.inputs[inner], self.gains[inner], self.contacts[index]
        )

    def tilt(self, time: float) -> float:
        """Largest angle of the trunk's z axis to the vertical around `time` [s]: [rad]."""
        knot, around = round(time / self.period), round(TILT_TIME / self.period)
        x, y = self.window(knot - around, 2 * around).q[:, 3:5].T
        return float(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)).max())
