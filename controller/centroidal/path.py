"""The path that the body is asked to follow, and how it returns to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.options import PathOptions
from controller.gaits import Gait

Array = NDArray[np.float64]


class CommandedPath:
    """Straight ahead along x, level, at the gait's own distance law.

    A body that was pushed off the path is led back at a bounded speed: a controller that saw all of
    a metre's error at once would fall over it.
    """

    def __init__(self, options: PathOptions, gait: Gait, speed: float, com_at_start: Array) -> None:
        """`speed` is forward [m/s], `com_at_start` the centre of mass at time 0 (3) [m]."""
        self._options, self._gait, self._speed = options, gait, speed
        self._start = com_at_start.copy()

    def position(self, time: float) -> Array:
        """Centre of mass that the path has at `time` [s]: (3,) [m]."""
        return self._start + np.array([self._gait.distance(time, self._speed), 0.0, 0.0])

    def velocity(self, time: float, com: Array) -> Array:
        """Velocity to ask for at `time` [s] of a body whose centre of mass is at `com`: (3,) [m/s].

        The path's own, and the way back sideways and along it.
        """
        h = 0.5e-3
        along = (self.position(time + h)[0] - self.position(time - h)[0]) / (2.0 * h)
        back = self._options.return_rate * (self.position(time) - com)[:2]
        length = float(np.hypot(*back))
        if length > self._options.return_speed:
            back *= self._options.return_speed / length
        return np.array([along + back[0], back[1], 0.0])

    def states(self, time: float, com: Array, times: Array) -> Array:
        """Desired x (K, 12) at `times` [s] for a body at `com` (3) at `time`: see `force_mpc`."""
        velocity = self.velocity(time, com)
        states = np.zeros((len(times), 12))
        states[:, 3:5] = com[:2] + np.outer(times - time, velocity[:2])
        states[:, 5] = self._start[2]
        states[:, 9:12] = velocity
        return states
