"""A robot's state by a salted Kalman filter (thesis, chapter 4) on its full contact dynamics.

State: base pose and velocity, joints and their velocities, and constant errors of the IMU. Between
events the contact dynamics of the standing feet under the measured torques carry it (4.8); a foot
that touches down is reset by its impact, the covariance by that impact's saltation matrix (4.14).
Which feet stand is a belief of its own, `contact_modes`. What is measured: attitude, angular
velocity and acceleration, joints, and the feet that stand.

The state is on the manifold R^3 x SO(3) x R^12; errors are the tangent vectors of `robots.state`.
"""

from __future__ import annotations

from estimator.kernel_filter import KernelFilter
from estimator.record import record_of, robot_record
from estimator.salted.ground_below import is_level
from estimator.salted.layout import STATES, VELOCITY
from estimator.salted.memory import new_memory
from estimator.salted.options import SaltedOptions, on_uneven_ground
from estimator.salted.tick import tick
from robots.mujoco_model import load_mujoco
from robots.robot import Robot
from robots.rotations import Array
from robots.stance_dynamics import stance_model_of
from robots.terrain import Ground, make_ground


class SaltedEstimator(KernelFilter):
    """The salted Kalman filter, see `KernelFilter`.

    The first reading with sound IMU and encoders places the base at the origin (see `reset`), on
    its lowest foot. A sensor that is at fault is left out. The status is
    "degraded" also for the first reading after a time without any, and "diverged" with neither
    attitude nor encoders for `largest_gap`. A second reading of the same time changes nothing.
    """

    def __init__(
        self, options: SaltedOptions, robot: Robot, ground: Ground | None = None,
        heading: float = 0.0,
    ) -> None:  # fmt: skip
        """Load the model and compile (or load) the tick.

        Args:
            options: noises and thresholds.
            robot: that is estimated.
            ground: what is known of it, a level floor z = 0 where None; see `unknown_ground`.
            heading: of the ground's x axis in the IMU's world [rad].
        """
        self.options, ground = options, ground or make_ground()
        used = options if is_level(ground) else on_uneven_ground(options)
        model, numbers = stance_model_of(load_mujoco(robot)), robot_record(robot, used.foot_radius)
        super().__init__(
            tick, new_memory(numbers), record_of(used), numbers, model, ground, heading=heading
        )

    @property
    def covariance(self) -> Array:
        """Covariance (45, 45) of the errors, in the order of `layout`, SI units."""
        return self._memory.P[:STATES, :STATES].copy()

    @property
    def velocity_covariance(self) -> Array:
        """Covariance (3, 3) of the linear velocity, base axes [m2/s2]."""
        return self._memory.P[VELOCITY : VELOCITY + 3, VELOCITY : VELOCITY + 3].copy()
