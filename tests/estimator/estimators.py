"""The estimators that every fault is tried on."""

import functools

import numpy as np

from estimator.invariant.filter import InvariantFilter
from estimator.leg_odometry import LegOdometryFilter
from estimator.options import InvariantOptions, LegOdometryOptions, SaltedOptions
from estimator.salted.estimator import SaltedEstimator
from tests.a1 import A1


def salted(options=None, ground=None):
    return SaltedEstimator(options or SaltedOptions(), A1, ground)


def leg_odometry(options=None, ground=None):
    return LegOdometryFilter(options or LegOdometryOptions(), A1, ground)


def invariant(options=None, ground=None):
    return InvariantFilter(options or InvariantOptions(), A1, ground)


JUDGING = {"salted": salted}
"""They leave faulty sensors out, and stay good meanwhile."""
PLAIN = {"leg odometry": leg_odometry, "invariant": invariant}
"""They use what is finite, and leave whole readings out."""


@functools.cache
def fresh(name):
    """One estimator of each name a test run; `reset` it before use."""
    return (JUDGING | PLAIN)[name]()


def check_estimate(estimate):
    """Finite, with an attitude of unit length."""
    assert np.isfinite(estimate.q).all() and np.isfinite(estimate.v).all()
    assert abs(np.linalg.norm(estimate.q[3:7]) - 1.0) < 1e-6


def check_covariance(covariance):
    """Finite, symmetric and positive up to rounding."""
    assert np.isfinite(covariance).all()
    assert np.abs(covariance - covariance.T).max() <= 1e-14 * np.abs(covariance).max()
    lowest, *_, highest = np.linalg.eigvalsh(covariance)
    assert lowest > -1e-12 * highest
    assert covariance.diagonal().min() > 0.0
