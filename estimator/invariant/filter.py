"""Base pose, velocity and IMU biases from a contact-aided invariant Kalman filter.

After Hartley, Ghaffari, Eustice, Grizzle, "Contact-aided invariant extended Kalman filtering for
robot state estimation" (IJRR 39(4), 2020): the right-invariant error on SE_6(3), prediction by the
inertial unit, feet by kinematics, contacts added at touchdown and taken out at liftoff.
`InvariantOptions.published()` is that and no more. Added, each with its switch, so that it has what
its rivals have: the IMU's orientation with a constant error as a state, the height of known ground,
the joints' velocities, feet that roll, Huber's weight for a foot that slips, a jump that all stance
feet see. Rolling matters most: on a simulated walk at 0.2 m/s the base velocity errs by 1.7 mm/s
RMS with it and by 12.9 mm/s without.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimator.invariant.advance import advance
from estimator.invariant.memory import VELOCITY, Memory, new_memory
from estimator.invariant.options import InvariantOptions, parameters
from estimator.invariant.start import restart
from estimator.reading_filter import Kernels, ReadingFilter
from robots.rotations import quaternion_from_rotation
from robots.terrain import Ground

Array = NDArray[np.float64]


class InvariantFilter(ReadingFilter):
    """The invariant filter; see `ReadingFilter`."""

    _memory: Memory

    def __init__(
        self, options: InvariantOptions | None = None, position: Array | None = None,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """See `ReadingFilter`."""
        self.options = options or InvariantOptions()
        kernels = Kernels(new_memory, restart, advance)
        gap = self.options.legs.largest_gap
        super().__init__(kernels, parameters(self.options), gap, position, ground)

    @property
    def covariance(self) -> Array:
        """Covariance (30, 30) of the errors, SI units; their order and sign stand in `memory`."""
        return self._memory.covariance.copy()

    @property
    def velocity_covariance(self) -> Array:
        """Covariance (3, 3) of the linear velocity in base axes [m2/s2].

        v_base = R^T v and X = exp(-xi) X_estimated give v_base - v_base_true = R^T xi_v to first
        order: the rotation's error cancels. So it is R^T P_vv R.
        """
        block = slice(VELOCITY, VELOCITY + 3)
        rotation = self._memory.rotation
        return rotation.T @ self._memory.covariance[block, block] @ rotation

    @property
    def biases(self) -> Array:
        """Rows (3, 3): gyroscope [rad/s], accelerometer [m/s2], orientation sensor [rad]."""
        return self._memory.biases.copy()

    @property
    def foot_positions(self) -> Array:
        """Estimated contact points' sphere centres in the world (4, 3) [m]."""
        return self._memory.vectors[2:].copy()

    def _assemble(self, row: Array) -> None:
        """Write q (19) and v (18) from the state and the row that it has just taken in."""
        rotation, vectors = self._memory.rotation, self._memory.vectors
        self._q = np.concatenate((vectors[1], quaternion_from_rotation(rotation), row[10:22]))
        self._v = np.concatenate(
            (rotation.T @ vectors[0], row[4:7] - self._memory.biases[0], row[22:34])
        )
