"""An estimator of one's own: `saltus launch sim --set estimator=FILE.py:FeetAndImu`.

Feet that stand do not move, so their legs tell the velocity of the base; the IMU tells it at once,
and drifts. A first-order filter joins both. Orientation is the IMU's, the height is the legs'.
"""

import numpy as np
from numpy.typing import NDArray

from robots.legs import foot_jacobians_in_base, foot_positions_in_base
from robots.rotations import rotation_from_quaternion
from runtime.messages import SensorReading, StateEstimate
from saltus.configuration.launch import LaunchConfig

Array = NDArray[np.float64]
STANDING = 15.0  # a foot with more force stands [N]
TIME_CONSTANT = 0.02  # of the legs' correction [s]
GRAVITY = np.array([0.0, 0.0, -9.81])  # world axes [m/s2]
DEVIATION = 0.05  # of the velocity, assumed [m/s]


class FeetAndImu:
    """Velocity of the base from accelerometer and standing legs."""

    def __init__(self, config: LaunchConfig) -> None:
        """`config.plugin.values` could hold the constants above."""
        self.robot = config.robot_model
        self.divergences = 0
        self.velocity_covariance = DEVIATION**2 * np.eye(3)
        self.reset()

    def reset(self, position: Array | None = None) -> None:
        """Start anew at `position` (2 or 3) [m], at rest."""
        self._position = np.array([0.0, 0.0, self.robot.stand_height])
        if position is not None:
            self._position[: len(position)] = position
        self._velocity = np.zeros(3)  # base axes [m/s]
        self._time: float | None = None
        self._joints, self._quaternion = self.robot.stand, np.array([0.0, 0.0, 0.0, 1.0])

    def update(self, reading: SensorReading) -> StateEstimate:
        """One reading; one that is not finite gives the last estimate as diverged."""
        numbers = np.concatenate([
            reading.quaternion_imu_in_world, reading.angular_velocity_imu,
            reading.linear_acceleration_imu, reading.joint_position, reading.joint_velocity,
            reading.foot_force,
        ])  # fmt: skip
        if not np.all(np.isfinite(numbers)):
            self.divergences += 1
            return self._estimate(reading, np.zeros(3), np.zeros(12), np.zeros(4), "diverged")
        dt = 0.0 if self._time is None else reading.time - self._time
        self._time = reading.time
        return self._advance(reading, dt)

    def _advance(self, reading: SensorReading, dt: float) -> StateEstimate:
        """Integrate the IMU over `dt` [s], then move towards what the standing legs say."""
        omega = reading.angular_velocity_imu
        self._quaternion, self._joints = reading.quaternion_imu_in_world, reading.joint_position
        rotation = rotation_from_quaternion(self._quaternion)
        legs = self.robot.legs
        feet = foot_positions_in_base(legs, self._joints)
        standing = reading.foot_force > STANDING
        acceleration = reading.linear_acceleration_imu + rotation.T @ GRAVITY
        self._velocity += dt * (acceleration - np.cross(omega, self._velocity))
        if standing.any():
            jacobians = foot_jacobians_in_base(legs, self._joints)
            rates = reading.joint_velocity.reshape(4, 3)
            # v + omega x p + J dq = 0 at the point of contact
            contact = feet[standing] - legs.foot_radius * rotation[2]
            moving = np.einsum("ijk,ik->ij", jacobians[standing], rates[standing])
            measured = -(moving + np.cross(omega, contact)).mean(axis=0)
            self._velocity += dt / TIME_CONSTANT * (measured - self._velocity)
            self._position[2] = legs.foot_radius - (feet[standing] @ rotation[2]).mean()
        self._position[:2] += dt * (rotation @ self._velocity)[:2]
        contacts = standing.astype(float)
        return self._estimate(reading, omega, reading.joint_velocity, contacts, "ok")

    def _estimate(self, reading, omega, joint_velocity, contact, status) -> StateEstimate:
        return StateEstimate(
            tick=reading.tick, time=reading.time,
            q=np.concatenate([self._position, self._quaternion, self._joints]),
            v=np.concatenate([self._velocity, omega, joint_velocity]),
            contact=contact, status=status,
        )  # fmt: skip
