"""What the A1's sensors say of the true state: noise, bias, drift and quantisation."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.rotations import quaternion_product
from sim_bridge.sensor_options import SensorOptions

Array = NDArray[np.float64]

# Where each sensor's numbers stand in the vector of all measurements.
_TILT, _GYRO, _FORCE = slice(0, 3), slice(3, 6), slice(6, 9)
_POSITION, _VELOCITY, _TORQUE, _FOOT = slice(9, 21), slice(21, 33), slice(33, 45), slice(45, 49)
_SIZE = 49
_BLOCK = 64  # readings whose noise is drawn at once


class Sensed(NamedTuple):
    """The numbers of one reading, in a SensorReading's units and orders."""

    quaternion_imu_in_world: Array  # (4) x, y, z, w
    angular_velocity_imu: Array  # (3) [rad/s]
    linear_acceleration_imu: Array  # (3) [m/s^2]
    joint_position: Array  # (12) [rad]
    joint_velocity: Array  # (12) [rad/s]
    joint_torque: Array  # (12) [N m]
    foot_force: Array  # (4) [N]


class Sensors:
    """The robot's sensors; the errors depend on the seed and the number of readings only."""

    def __init__(self, options: SensorOptions, seed: int) -> None:
        """Draw the constant errors from `seed`."""
        factor = float(options.noise)
        self._random = np.random.default_rng(seed)
        self._deviation = factor * _noise_deviation(options)
        self._offset = factor * _bias_deviation(options) * self._random.standard_normal(_SIZE)
        self._quantum = options.joint_position_quantum if factor > 0.0 else 0.0
        self._yaw_drift = factor * options.yaw_drift
        self._range = options.accelerometer_range
        self._normal, self._next = np.empty((_BLOCK, _SIZE)), -1

    def sense(
        self, time: float, q: Array, v: Array, force: Array, torque: Array, foot_force: Array
    ) -> Sensed:
        """Measure one state.

        Args:
            time: simulated time, for the drift [s].
            q: (19) true configuration.
            v: (18) true velocity.
            force: (3) true specific force in the base [m/s^2].
            torque: (12) true joint torque [N m].
            foot_force: (4) true normal force [N].
        """
        self._next = (self._next + 1) % _BLOCK
        if self._next == 0:
            self._random.standard_normal(out=self._normal)
        quaternion, measured = _measure(
            q, v, force, torque, foot_force, self._deviation, self._normal[self._next],
            self._offset, self._quantum, self._range, self._yaw_drift * time,
        )  # fmt: skip
        return Sensed(
            quaternion, measured[_GYRO], measured[_FORCE], measured[_POSITION],
            measured[_VELOCITY], measured[_TORQUE], measured[_FOOT],
        )  # fmt: skip


@njit(cache=True)
def _measure(
    q: Array, v: Array, force: Array, torque: Array, foot_force: Array, deviation: Array,
    normal: Array, offset: Array, quantum: float, most: float, yaw: float,
) -> tuple[Array, Array]:  # fmt: skip
    """Return the quaternion (4), turned by `yaw` about world z [rad], and all measurements."""
    measured = np.zeros(_SIZE)
    measured[_GYRO], measured[_FORCE], measured[_POSITION] = v[3:6], force, q[7:]
    measured[_VELOCITY], measured[_TORQUE], measured[_FOOT] = v[6:], torque, foot_force
    for i in range(_SIZE):
        measured[i] = measured[i] + offset[i] + deviation[i] * normal[i]
    for i in range(6, 9):
        measured[i] = min(most, max(-most, measured[i]))
    if quantum > 0.0:
        for i in range(9, 21):
            measured[i] = quantum * np.rint(measured[i] / quantum)
    return _tilted(q[3:7], measured[_TILT], yaw), measured


@njit(cache=True)
def _tilted(quaternion: Array, error: Array, yaw: float) -> Array:
    """The attitude turned by a small `error` (3) in the base and by `yaw` about world z [rad]."""
    small = np.array((0.5 * error[0], 0.5 * error[1], 0.5 * error[2], 1.0))
    heading = np.array((0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)))
    small /= math.sqrt(np.sum(small**2))
    return quaternion_product(heading, quaternion_product(quaternion, small))


def _noise_deviation(options: SensorOptions) -> Array:
    deviation = np.zeros(_SIZE)
    deviation[_TILT] = options.orientation_noise
    deviation[_GYRO] = options.gyro_noise
    deviation[_FORCE] = options.accelerometer_noise
    deviation[_POSITION] = options.joint_position_noise
    deviation[_VELOCITY] = options.joint_velocity_noise
    deviation[_TORQUE] = options.joint_torque_noise
    deviation[_FOOT] = options.foot_force_noise
    return deviation


def _bias_deviation(options: SensorOptions) -> Array:
    deviation = np.zeros(_SIZE)
    deviation[_TILT] = options.orientation_bias
    deviation[_GYRO] = options.gyro_bias
    deviation[_FORCE] = options.accelerometer_bias
    deviation[_FOOT] = options.foot_force_offset
    return deviation
