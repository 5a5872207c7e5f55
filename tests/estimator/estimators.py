"""The estimators that every fault is tried on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from estimator.invariant.filter import InvariantFilter
from estimator.leg_odometry import LegOdometryFilter
from estimator.salted.estimator import SaltedEstimator

JUDGING: dict[str, Callable[[], Any]] = {"salted": SaltedEstimator}
"""They leave faulty sensors out, and stay good meanwhile."""
PLAIN: dict[str, Callable[[], Any]] = {
    "leg odometry": LegOdometryFilter,
    "invariant": InvariantFilter,
}
"""They use what is finite, and leave whole readings out."""


@functools.cache
def fresh(name: str) -> Any:
    """One estimator of each name a test run; `reset` it before use."""
    return (JUDGING | PLAIN)[name]()


def check_covariance(covariance: np.ndarray) -> None:
    """Finite, symmetric and positive up to rounding."""
    assert np.isfinite(covariance).all()
    assert np.abs(covariance - covariance.T).max() <= 1e-14 * np.abs(covariance).max()
    lowest, *_, highest = np.linalg.eigvalsh(covariance)
    assert lowest > -1e-12 * highest
    assert covariance.diagonal().min() > 0.0
