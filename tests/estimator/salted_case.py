"""Random memories of the salted filter, errors of them, and what rows of measurements tell."""

import numpy as np
from msgspec.structs import replace
from numpy.testing import assert_allclose

from estimator.options import SaltedOptions
from estimator.record import record_of, robot_record
from estimator.salted.measurements import mirror
from estimator.salted.memory import GYRO_BIAS, PREVIOUS, ROBOT, SIZE, STATES, new_memory
from robots.rotations import exp3, quaternion_from_rotation
from robots.state import integrate
from tests.a1 import A1

RECORD = robot_record(A1)
LEGS = RECORD[0].legs
PARAMETERS = record_of(SaltedOptions())[0]


def with_options(**changes):
    """The record of the options with changes."""
    return record_of(replace(SaltedOptions(), **changes))[0]


def random_memory(seed):
    """Any attitude, joints about those of a stand, brisk velocities, biases, a dense P."""
    random, m = np.random.default_rng(seed), new_memory(RECORD)[0]
    m.q[:3] = random.uniform(-1.0, 1.0, 3)
    m.q[3:7] = quaternion_from_rotation(exp3(random.uniform(-1.5, 1.5, 3)))
    m.q[7:] = A1.stand + random.uniform(-0.3, 0.3, 12)
    m.v[:] = random.uniform(-2.0, 2.0, 18)
    m.bias[:] = random.uniform(-0.1, 0.1, 9)
    m.previous[:] = m.v[:3] + random.uniform(-0.1, 0.1, 3)
    m.torque[:] = random.uniform(-10.0, 10.0, 12)
    m.P[:] = random_covariance(random, SIZE)
    return m


def random_covariance(random, size):
    """Positive definite (size, size) with a condition number of about 100, exactly symmetric."""
    root = random.standard_normal((size, size)) / np.sqrt(size)
    covariance = root @ root.T + 0.05 * np.eye(size)
    return 0.5 * (covariance + covariance.T)


def disturbed(m, d):
    """The memory whose state differs from that of `m` by the errors d (48)."""
    other = m.copy()
    other.q[:], other.v[:] = integrate(m.q, m.v, d[:ROBOT].copy())
    other.bias[:] += d[GYRO_BIAS:STATES]
    other.previous[:] += d[PREVIOUS:]
    return other


def batch_update(P, H, residual, variances):
    """The textbook's update of all rows at once: corrections (n) and covariance (n, n)."""
    S = H @ P @ H.T + np.diag(variances)
    K = np.linalg.solve(S, H @ P).T
    joseph = np.eye(len(P)) - K @ H
    return K @ residual, joseph @ P @ joseph.T + (K * variances) @ K.T


def check_rows(m, take, H, y, deviations):
    """`take` does to P and to d what the batch of the rows H (k, 48) with residuals y (k) does."""
    for P in (np.eye(SIZE), m.P.copy()):
        wanted_d, wanted_P = batch_update(P, H, y, deviations**2)
        m.P[:], d = P, np.zeros(SIZE)
        take(m, d)
        mirror(m.P)
        assert_allclose(d, wanted_d, atol=1e-7)
        assert_allclose(m.P, wanted_P, atol=1e-7)
