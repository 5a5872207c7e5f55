"""Random states of the invariant filter, and errors between two of them."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm, logm

from estimator.invariant.state import ERRORS, GYROSCOPE, Memory, new_memory
from robots.rotations import Array, exp3, skew
from tests.a1 import A1

RADIUS, DT = 0.02, 1e-2


@dataclass
class Case:
    """A true state, and what gyroscope, accelerometer and joints say in it, biases included."""

    truth: Memory
    omega: Array
    acceleration: Array
    joints: Array
    rates: Array


def random_case(seed):
    random = np.random.default_rng(seed)
    truth = new_memory()[0]
    truth.rotation[:] = exp3(random.uniform(-1.5, 1.5, 3))
    truth.vectors[:] = random.uniform(-2.0, 2.0, (6, 3))
    truth.biases[:] = random.uniform(-0.1, 0.1, (3, 3))
    return Case(
        truth,
        random.uniform(-3.0, 3.0, 3),
        random.uniform(-10.0, 10.0, 3),
        A1.stand + random.uniform(-0.3, 0.3, 12),
        random.uniform(-5.0, 5.0, 12),
    )


def matrix(rotation, vectors):
    """X (9, 9) of SE_6(3), equation (11) of Hartley et al. with six columns."""
    X = np.eye(9)
    X[:3, :3], X[:3, 3:] = rotation, vectors.T
    return X


def hat(xi):
    """The algebra's matrix (9, 9) of xi (21)."""
    result = np.zeros((9, 9))
    result[:3, :3], result[:3, 3:] = skew(xi[:3]), xi[3:].reshape(6, 3).T
    return result


def disturbed(truth, error):
    """The estimate whose right-invariant error is `error` (30), by matrix exponentials."""
    estimate = truth.copy()
    X = expm(hat(error[:GYROSCOPE])) @ matrix(truth.rotation, truth.vectors)
    estimate.rotation[:], estimate.vectors[:] = X[:3, :3], X[:3, 3:].T
    estimate.biases[:] += error[GYROSCOPE:].reshape(3, 3)
    return estimate


def error_between(estimate, truth):
    """The error (30) of an estimate: the logarithm of X_estimate X_true^-1, and the biases'."""
    eta = matrix(estimate.rotation, estimate.vectors) @ np.linalg.inv(
        matrix(truth.rotation, truth.vectors)
    )
    log = np.real(logm(eta))
    xi = np.concatenate(([log[2, 1], log[0, 2], log[1, 0]], log[:3, 3:].T.ravel()))
    return np.concatenate((xi, (estimate.biases - truth.biases).ravel()))


def random_error(seed, size):
    return size * np.random.default_rng(seed).uniform(-1.0, 1.0, ERRORS)
