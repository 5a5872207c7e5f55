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

from estimator.invariant.memory import VELOCITY, new_memory
from estimator.invariant.options import InvariantOptions
from estimator.invariant.tick import tick
from estimator.kernel_filter import KernelFilter
from estimator.record import record_of, robot_record
from robots.robot import Robot
from robots.rotations import Array
from robots.terrain import Ground, make_ground


class InvariantFilter(KernelFilter):
    """The invariant filter; see `KernelFilter`. It begins as `LegOdometryFilter` does."""

    def __init__(
        self, options: InvariantOptions, robot: Robot, ground: Ground | None = None,
        heading: float = 0.0,
    ) -> None:  # fmt: skip
        """`ground` is a level floor, z = 0, where None; its x axis has `heading` [rad]."""
        self.options, numbers = options, robot_record(robot, options.legs.foot_radius)
        super().__init__(
            tick, new_memory(), record_of(options), numbers, ground or make_ground(),
            heading=heading,
        )  # fmt: skip

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
