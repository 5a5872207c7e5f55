"""What a reading's rows tell: their H by finite differences, their gains by the textbook.

The residual as a function of the true state gives H; a batch update with it says what P and the
corrections must become.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from estimator import rows
from estimator.rows import ROW
from estimator.salted.measurements import (
    mirror,
    take_accelerometer,
    take_encoders,
    take_gyroscope,
    take_orientation,
)
from estimator.salted.memory import ANGULAR, SIZE
from robots.conventions import GRAVITY
from robots.rotations import exp3, log3, quaternion_from_rotation, rotation_from_quaternion, skew
from tests.differences import slopes
from tests.estimator.salted_case import (
    batch_update,
    check_rows,
    disturbed,
    random_memory,
    with_options,
)

DT = 0.05  # long, and the noises large: the rows are as well conditioned as P
NOISY = with_options(
    accelerometer_noise=2.0, accelerometer_relative_noise=0.1, gyro_noise=0.5,
    orientation_noise=0.4, joint_position_noise=0.3, joint_velocity_noise=0.7,
)  # fmt: skip
RANDOM_SEEDS = given(st.integers(0, 10_000))


def specific_force(m):
    R = rotation_from_quaternion(m.q[3:7])
    return (m.v[:3] - m.previous) / DT + GRAVITY * R[2] + m.bias[3:6]


def attitude(m):
    return rotation_from_quaternion(m.q[3:7]) @ exp3(m.bias[6:9])


def random_row(seed):
    return np.random.default_rng(seed + 1).uniform(-3.0, 3.0, ROW)


@RANDOM_SEEDS
@settings(max_examples=10)
def test_accelerometer(seed):
    m, row = random_memory(seed), random_row(seed)
    measured = row[rows.ACCELERATION : rows.POSITION]
    H = slopes(lambda d: specific_force(disturbed(m, d)), np.zeros(SIZE))
    # Errors of the past attitude are beyond the state; that of today's rate stands for them.
    H[:, ANGULAR : ANGULAR + 3] = -skew(m.previous)
    doubt = np.array([0.0, 1.0, 3.0])
    deviations = 2.0 + doubt + 0.1 * np.abs(measured)
    y = measured - specific_force(m)

    def take(m, d):
        take_accelerometer(m, d, measured, doubt, DT, NOISY)

    check_rows(m, take, H, y, deviations)


@RANDOM_SEEDS
@settings(max_examples=10)
def test_gyroscope(seed):
    m, row = random_memory(seed), random_row(seed)

    def residual(m):
        return row[rows.GYRO : rows.ACCELERATION] - m.v[3:6] - m.bias[:3]

    H = -slopes(lambda d: residual(disturbed(m, d)), np.zeros(SIZE))
    check_rows(m, lambda m, d: take_gyroscope(m, d, row, NOISY), H, residual(m), np.full(3, 0.5))


@RANDOM_SEEDS
@settings(max_examples=10)
def test_orientation(seed):
    """To first order in residual and misalignment, which are milliradians on the robot."""
    m, row = random_memory(seed), random_row(seed)
    m.bias[6:9] *= 1e-8
    small = 1e-8 * np.array([1.0, -2.0, 3.0])
    row[:4] = -3.0 * quaternion_from_rotation(attitude(m) @ exp3(small))  # sign and size are free
    H = slopes(lambda d: log3(attitude(m).T @ attitude(disturbed(m, d))), np.zeros(SIZE))
    d, wanted = np.zeros(SIZE), batch_update(m.P, H, small, np.full(3, 0.16))
    take_orientation(m, d, row, NOISY)
    assert_allclose(d, wanted[0], rtol=1e-5, atol=1e-13)
    mirror(m.P)
    assert_allclose(m.P, wanted[1], atol=1e-7)


@RANDOM_SEEDS
@settings(max_examples=10)
def test_encoders_that_are_sound(seed):
    m, row, random = random_memory(seed), random_row(seed), np.random.default_rng(seed)
    sound = random.random((2, 12)) < 0.6
    m.past.sound[rows.POSITION_SENSOR : rows.TORQUE_SENSOR] = sound.ravel()

    def residual(m):
        joints = row[rows.POSITION : rows.TORQUE] - np.concatenate((m.q[7:], m.v[6:]))
        return joints[sound.ravel()]

    H = -slopes(lambda d: residual(disturbed(m, d)), np.zeros(SIZE))
    deviations = np.repeat([0.3, 0.7], 12)[sound.ravel()]
    check_rows(m, lambda m, d: take_encoders(m, d, row, NOISY), H, residual(m), deviations)
