"""Base position and velocity from accelerometer, gyroscope, encoders and foot forces.

A Kalman filter after Bledt, Powell, Katz, Di Carlo, Wensing, Kim, "MIT Cheetah 3: Design and
Control of a Robust, Dynamic Quadruped Robot" (IROS 2018). Orientation, angular velocity and joints
pass through as measured. Two additions: a foot rolls on its sphere instead of standing on a point,
and a jump of the base velocity that all stance feet report opens the filter.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from estimator.advance import advance, restart
from estimator.axis_filter import POSITION, VELOCITY
from estimator.memory import READING, new_memory, usable
from estimator.options import LegOdometryOptions, parameters
from robots.a1.constants import STAND_HEIGHT, STAND_JOINTS
from robots.rotations import rotation_from_quaternion
from robots.terrain import Ground, make_ground
from runtime.messages import SensorReading, StateEstimate

Array = NDArray[np.float64]
Status = Literal["ok", "diverged", "starting"]


def reading_row(reading: SensorReading) -> Array:
    """A reading's numbers in one writable row (38), the form the compiled update takes."""
    return np.concatenate(
        (
            reading.quaternion_imu_in_world,
            reading.angular_velocity_imu,
            reading.linear_acceleration_imu,
            reading.joint_position,
            reading.joint_velocity,
            reading.foot_force,
        )
    )


class LegOdometryFilter:
    """The 18-state leg-odometry filter behind the `Estimator` protocol.

    The first usable reading places the base at `position` (x, y [m], the origin by default) with
    the measured orientation, on the height at which its standing feet touch the ground, or z = 0
    where the ground is not known.
    """

    def __init__(
        self, options: LegOdometryOptions | None = None, position: Array | None = None,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """Compile (or load) the update, so that the first reading is as fast as any.

        `ground` is what is known of it: a level floor, z = 0, where None; see `unknown_ground`.
        """
        self.options = options or LegOdometryOptions()
        self._ground = make_ground() if ground is None else ground
        self._parameters = parameters(self.options)
        self._compile()
        self.divergences = 0
        self.reset(position)

    def reset(self, position: Array | None = None) -> None:
        """Forget the state, not the counts; start anew at `position` (x, y first) [m]."""
        self._place = np.zeros(2) if position is None else np.array(position[:2], dtype=np.float64)
        self._memory = new_memory()
        self._time: float | None = None
        self._q = np.concatenate(([*self._place, STAND_HEIGHT, 0.0, 0.0, 0.0, 1.0], STAND_JOINTS))
        self._v = np.zeros(18)

    def update(self, reading: SensorReading) -> StateEstimate:
        """Take one reading in; give the estimate at its tick and time.

        Never raises. A reading that is not finite is left out: the last estimate comes back as
        "diverged" ("starting" before the first usable reading). A filter that diverges restarts
        from kinematics where it last was, and says "diverged" once. A reading as old as the last
        one adds its measurements without prediction; after a gap beyond `largest_gap` or a step
        back in time the filter restarts.
        """
        row = reading_row(reading)
        if not (usable(row) and np.isfinite(reading.time)):
            self.divergences += 1
            return self._estimate(reading, "starting" if self._time is None else "diverged")
        status = self._advance(row, reading.time)
        self._time = reading.time
        self._assemble(row)
        return self._estimate(reading, status)

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

    def _advance(self, row: Array, time: float) -> Status:
        if self._time is None:
            restart(self._memory, row, self._place, self._ground, self._parameters)
            return "ok"
        dt = time - self._time
        if 0.0 <= dt <= self.options.largest_gap:
            if advance(self._memory, row, dt, self._ground, self._parameters):
                return "ok"
        self.divergences += 1
        restart(self._memory, row, self._q[:2], self._ground, self._parameters)
        return "diverged"

    def _assemble(self, row: Array) -> None:
        """Write q (19) and v (18) from the state and the row that it has just taken in."""
        quaternion = row[:4] / np.sqrt(row[:4] @ row[:4])
        self._q = np.concatenate((self._memory.x[:, POSITION], quaternion, row[10:22]))
        linear = rotation_from_quaternion(quaternion).T @ self._memory.x[:, VELOCITY]
        self._v = np.concatenate((linear, row[4:7], row[22:34]))

    def _estimate(self, reading: SensorReading, status: Status) -> StateEstimate:
        return StateEstimate(
            tick=reading.tick,
            time=reading.time,
            q=self._q.copy(),
            v=self._v.copy(),
            contact=self._memory.contact[1].copy(),
            status=status,
        )

    def _compile(self) -> None:
        row = np.zeros(READING)
        row[3], row[9], row[10:22] = 1.0, self.options.gravity, STAND_JOINTS
        memory = new_memory()
        usable(row)
        restart(memory, row, np.zeros(2), self._ground, self._parameters)
        advance(memory, row, 1e-3, self._ground, self._parameters)
        rotation_from_quaternion(row[:4])
