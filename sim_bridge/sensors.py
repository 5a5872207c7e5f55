"""Measurements of the true state: noise, bias, drift and quantisation."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.rotations import quaternion_product
from runtime.messages import SensorReading
from runtime.rows import layout_of
from sim_bridge.options import SensorOptions

Array = NDArray[np.float64]

READING = layout_of(SensorReading)
_ATTITUDE = READING.spans["quaternion_imu_in_world"]
_OTHERS = slice(_ATTITUDE.stop, READING.width)
# Errors of a reading (49): tilt, then angular velocity, acceleration, the joints' positions,
# velocities and torques, and the feet's forces, as a reading's row has them.
_SIZES = (3, 3, 3, 12, 12, 12, 4)
_BLOCK = 64  # readings whose noise is drawn at once


class Sensors:
    """The errors of the robot's sensors; they depend on the seed and the number of readings."""

    def __init__(self, options: SensorOptions, seed: int) -> None:
        """Draw the constant errors from `seed`."""
        factor = float(options.noise)
        self._random = np.random.default_rng(seed)
        self._deviation = factor * np.repeat((
            options.orientation_noise, options.gyro_noise, options.accelerometer_noise,
            options.joint_position_noise, options.joint_velocity_noise,
            options.joint_torque_noise, options.foot_force_noise,
        ), _SIZES)  # fmt: skip
        bias = np.repeat((
            options.orientation_bias, options.gyro_bias, options.accelerometer_bias,
            0.0, 0.0, 0.0, options.foot_force_offset,
        ), _SIZES)  # fmt: skip
        self._offset = factor * bias * self._random.standard_normal(len(bias))
        quantum = options.joint_position_quantum if factor > 0.0 else 0.0
        self._bounds = np.array((quantum, options.accelerometer_range, factor * options.yaw_drift))
        self._noise: list[Array] = []

    def draw(self) -> tuple[Array, Array, Array]:
        """The last arguments of `measure` but for its row, for one reading."""
        if not self._noise:
            normal = self._random.standard_normal((_BLOCK, len(self._offset)))
            self._noise = list(self._deviation * normal)[::-1]
        return self._offset, self._noise.pop(), self._bounds


@njit(cache=True)
def measure(
    time: float, q: Array, v: Array, force: Array, torque: Array, foot_force: Array,
    offset: Array, noise: Array, bounds: Array, row: Array,
) -> None:  # fmt: skip
    """Write what the sensors make of one state into a reading's row; its tick and time stay.

    Args:
        time: simulated time, for the drift [s].
        q: (19) true configuration.
        v: (18) true velocity.
        force: (3) true specific force in the base [m/s^2].
        torque: (12) true joint torque [N m].
        foot_force: (4) true normal force [N].
        offset, noise: (49) errors, constant and of this reading.
        bounds: (3) the encoders' quantum [rad], the accelerometer's range [m/s^2], the drift of
            the heading [rad/s].
        row: of a reading.
    """
    measured, quantum, most = row[_OTHERS], bounds[0], bounds[1]
    measured[:3], measured[3:6], measured[6:18] = v[3:6], force, q[7:]
    measured[18:30], measured[30:42], measured[42:] = v[6:], torque, foot_force
    for i in range(len(measured)):
        measured[i] = measured[i] + offset[3 + i] + noise[3 + i]
    for i in range(3, 6):
        measured[i] = min(most, max(-most, measured[i]))
    if quantum > 0.0:
        for i in range(6, 18):
            measured[i] = quantum * np.rint(measured[i] / quantum)
    row[_ATTITUDE] = _tilted(q[3:7], np.zeros(3) + offset[:3] + noise[:3], bounds[2] * time)


@njit(cache=True)
def _tilted(quaternion: Array, error: Array, yaw: float) -> Array:
    """The attitude turned by a small `error` (3) in the base and by `yaw` about world z [rad]."""
    small = np.array((0.5 * error[0], 0.5 * error[1], 0.5 * error[2], 1.0))
    heading = np.array((0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)))
    small /= math.sqrt(np.sum(small**2))
    return quaternion_product(heading, quaternion_product(quaternion, small))
