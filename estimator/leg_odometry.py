"""Base position and velocity from accelerometer, gyroscope, encoders and foot forces.

A Kalman filter after Bledt, Powell, Katz, Di Carlo, Wensing, Kim, "MIT Cheetah 3: Design and
Control of a Robust, Dynamic Quadruped Robot" (IROS 2018). Orientation, angular velocity and joints
pass through as measured. Two additions: a foot rolls on its sphere instead of standing on a point,
and a jump of the base velocity that all stance feet report opens the filter.
"""

from __future__ import annotations

import numpy as np

from estimator.advance import tick
from estimator.axis_filter import VELOCITY
from estimator.kernel_filter import KernelFilter
from estimator.memory import new_memory
from estimator.options import LegOdometryOptions
from estimator.record import Q, record_of, robot_record
from robots.robot import Robot
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Ground, make_ground


class LegOdometryFilter(KernelFilter):
    """The 18-state leg-odometry filter; see `KernelFilter`.

    The first usable reading places the base at the origin (see `reset`) with the measured
    orientation, on the height at which its standing feet touch the ground, or z = 0 where the
    ground is not known.
    """

    def __init__(
        self, options: LegOdometryOptions, robot: Robot, ground: Ground | None = None,
        heading: float = 0.0,
    ) -> None:  # fmt: skip
        """`ground` is a level floor, z = 0, where None; its x axis has `heading` [rad]."""
        self.options, numbers = options, robot_record(robot, options.foot_radius)
        super().__init__(
            tick, new_memory(), record_of(options), numbers, ground or make_ground(),
            heading=heading,
        )  # fmt: skip

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
        rotation = rotation_from_quaternion(self._estimate[Q + 3 : Q + 7])
        variances = self._memory.covariance[:, VELOCITY, VELOCITY]
        return (rotation.T * variances) @ rotation

    @property
    def foot_positions(self) -> Array:
        """Estimated foot sphere centres in the world (4, 3) [m]."""
        return self._memory.x[:, 2:].T.copy()
