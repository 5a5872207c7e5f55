"""The path that the body is asked to follow, and how it returns to it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.options import PathOptions
from controller.contact_schedule import ContactSchedule
from controller.driving.goal import Commands
from controller.gaits import Gait

Array = NDArray[np.float64]


class Path(Protocol):
    """Where the body shall go, and when the feet step.

    It answers in axes that are the world's turned about its origin by `heading`, along which the
    path leads at the time of the last `meet`: in them the body's yaw is small.
    """

    @property
    def commands(self) -> Commands | None:
        """Where it is commanded from; None where it is fixed."""
        ...

    @property
    def schedule(self) -> ContactSchedule:
        """The swings of the feet."""
        ...

    @property
    def heading(self) -> float:
        """See above [rad]."""
        ...

    def meet(self, time: float, state: Array, com: Array) -> None:
        """Take in the robot at `time` [s]: its state (37), and its centre of mass (3) [m]."""
        ...

    def states(self, time: float, com: Array, times: Array) -> Array:
        """Desired x (K, 12) at `times` [s] for a body at `com` (3) at `time`: see `force_mpc`."""
        ...


def way_back(options: PathOptions, away: Array) -> Array:
    """Velocity (2) [m/s] that leads a body back from where it is `away` (2) [m] from its path.

    A controller that saw all of a metre's error at once would fall over it.
    """
    back = options.return_rate * away
    length = float(np.hypot(*back))
    if length > options.return_speed:
        back *= options.return_speed / length
    return back


class CommandedPath:
    """Straight ahead along x, level, at the gait's own distance law.

    Attributes:
        schedule: the gait; commands, heading: see `Path`.
    """

    commands: Commands | None = None
    heading = 0.0

    def __init__(self, options: PathOptions, gait: Gait, speed: float) -> None:
        """`speed` is forward [m/s]."""
        self.schedule = gait
        self._options, self._speed = options, speed
        self._start: Array | None = None

    def meet(self, time: float, state: Array, com: Array) -> None:
        """Begin where the centre of mass (3) [m] is at first."""
        self._start = com.copy() if self._start is None else self._start

    def position(self, time: float) -> Array:
        """Centre of mass that the path has at `time` [s]: (3,) [m]."""
        assert self._start is not None, "meet the robot first"
        return self._start + np.array([self.schedule.distance(time, self._speed), 0.0, 0.0])

    def velocity(self, time: float, com: Array) -> Array:
        """Velocity to ask for at `time` [s] of a body whose centre of mass is at `com`: (3,) [m/s].

        The path's own, and the way back sideways and along it.
        """
        h = 0.5e-3
        along = (self.position(time + h)[0] - self.position(time - h)[0]) / (2.0 * h)
        back = way_back(self._options, (self.position(time) - com)[:2])
        return np.array([along + back[0], back[1], 0.0])

    def states(self, time: float, com: Array, times: Array) -> Array:
        """Desired x (K, 12) at `times` [s] for a body at `com` (3) at `time`: see `force_mpc`."""
        velocity = self.velocity(time, com)
        states = np.zeros((len(times), 12))
        states[:, 3:5] = com[:2] + np.outer(times - time, velocity[:2])
        states[:, 5] = self.position(time)[2]
        states[:, 9:12] = velocity
        return states
