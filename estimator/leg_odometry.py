"""Base position and velocity from accelerometer, gyroscope, encoders and foot forces.

A Kalman filter after Bledt, Powell, Katz, Di Carlo, Wensing, Kim, "MIT Cheetah 3: Design and
Control of a Robust, Dynamic Quadruped Robot" (IROS 2018). Orientation, angular velocity and joints
pass through as measured. Two additions: a foot rolls on its sphere instead of standing on a point,
and a jump of the base velocity that all stance feet report opens the filter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimator.advance import advance, restart
from estimator.axis_filter import POSITION, VELOCITY
from estimator.memory import Memory, new_memory
from estimator.options import LegOdometryOptions, parameters
from estimator.reading_filter import Kernels, ReadingFilter
from robots.rotations import rotation_from_quaternion
from robots.terrain import Ground

Array = NDArray[np.float64]


class LegOdometryFilter(ReadingFilter):
    """The 18-state leg-odometry filter; see `ReadingFilter`."""

    _memory: Memory

    def __init__(
        self, options: LegOdometryOptions | None = None, position: Array | None = None,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """See `ReadingFilter`."""
        self.options = options or LegOdometryOptions()
        kernels = Kernels(new_memory, restart, advance)
        gap = self.options.largest_gap
        super().__init__(kernels, parameters(self.options), gap, position, ground)

    @property
    def covariance(self) -> Array:
        """Covariance (18, 18) of [base position, base velocity, four feet], world axes, SI units.

        Cross terms between world axes are zero by construction, see `axis_filter`.
        """
        full = np.zeros((18, 18))
        for axis in range(3):
            full[axis::3, axis::3] = self._memory.covariance[axis]
        return full

    @property
    def velocity_covariance(self) -> Array:
        """Covariance (3, 3) of the last estimate's linear velocity, base axes [m2/s2].

        R^T P_v R: the orientation is taken as measured, so its error has no part in it.
        """
        rotation = rotation_from_quaternion(self._q[3:7])
        variances = self._memory.covariance[:, VELOCITY, VELOCITY]
        return (rotation.T * variances) @ rotation

    @property
    def foot_positions(self) -> Array:
        """Estimated foot sphere centres in the world (4, 3) [m]."""
        return self._memory.x[:, 2:].T.copy()

    def _assemble(self, row: Array) -> None:
        """Write q (19) and v (18) from the state and the row that it has just taken in."""
        quaternion = row[:4] / np.sqrt(row[:4] @ row[:4])
        self._q = np.concatenate((self._memory.x[:, POSITION], quaternion, row[10:22]))
        linear = rotation_from_quaternion(quaternion).T @ self._memory.x[:, VELOCITY]
        self._v = np.concatenate((linear, row[4:7], row[22:34]))
