"""What one measurement does to a Gaussian: gain, innovation and Joseph's form (4.9)-(4.11)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from hybrid.systems import Array

# ruff: noqa: N803, N806, N815 (the letters are the thesis's)


class Innovation(NamedTuple):
    """How a measurement differed from the one that was expected."""

    residual: Array  # y - h (p,)
    S: Array  # its covariance C Sigma C' + V (p, p)
    squared: float  # residual' S^-1 residual, chi-squared with p degrees of freedom
    log_likelihood: float  # of the measurement before it was used [nat]


class Correction(NamedTuple):
    """A measurement's effect."""

    step: Array  # K (y - h) (k,), from the mean before
    Sigma: Array  # (k, k)
    innovation: Innovation


def correction(Sigma: Array, C: Array, V: Array, residual: Array) -> Correction | None:
    """Kalman's update of a covariance Sigma (k, k) by a residual y - h (p,).

    Sigma becomes (I - K C) Sigma (I - K C)' + K V K', Joseph's form of (4.11): symmetric and
    positive semidefinite whatever the rounding in K.

    Args:
        Sigma: covariance before.
        C: derivative of the measurement (p, k), (4.23).
        V: covariance of its noise (p, p).
        residual: y - h (p,).

    Returns:
        The update; None where something is not finite or S = C Sigma C' + V not positive definite.
    """
    if not all(np.isfinite(given).all() for given in (Sigma, C, V, residual)):
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # numbers too large for S are seen in it
        CSigma = C @ Sigma
        S = _symmetric(CSigma @ C.T + V)
    root = _root(S)
    if root is None:
        return None
    K = cho_solve((root, True), CSigma).T  # (4.9)
    keep = np.eye(len(Sigma)) - K @ C
    after = _symmetric(keep @ Sigma @ keep.T + K @ V @ K.T)
    return Correction(K @ residual, after, _innovation(residual, S, root))


def _innovation(residual: Array, S: Array, root: Array) -> Innovation:
    """From the Cholesky factor of S."""
    squared = float(residual @ cho_solve((root, True), residual))
    volume = 2.0 * float(np.sum(np.log(np.diag(root)))) + len(residual) * np.log(2.0 * np.pi)
    return Innovation(residual, S, squared, float(-0.5 * (squared + volume)))


def _root(S: Array) -> Array | None:
    """Cholesky factor of S (p, p); None where there is none."""
    if not np.isfinite(S).all():
        return None
    try:
        return np.asarray(np.linalg.cholesky(S), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None


def _symmetric(M: Array) -> Array:
    return 0.5 * (M + M.T)
