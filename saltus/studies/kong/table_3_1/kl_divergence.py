"""Gaussian distributions: how far one covariance is from another."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from hybrid.systems import Array

# ruff: noqa: N803 (the letters are the thesis's)


def kl_divergence(Sigma_0: Array, Sigma_1: Array) -> float:
    """(tr(Sigma_1^-1 Sigma_0) - n + ln |Sigma_1| / |Sigma_0|) / 2: the divergence (3.161).

    Of two Gaussians with one mean [nat]: the information lost if Sigma_1 is used for Sigma_0. Zero
    where the two are equal, infinite where either (n, n) matrix is not positive definite. The
    print has an error: docs/errata.md.

    Raises:
        ValueError: the matrices are not square and of one size.
    """
    Sigma_0, Sigma_1 = np.asarray(Sigma_0), np.asarray(Sigma_1)
    n = len(Sigma_0)
    if Sigma_0.shape != (n, n) or Sigma_1.shape != (n, n):
        raise ValueError(
            f"covariances of shapes {Sigma_0.shape} and {Sigma_1.shape}: give two (n, n) of one n"
        )
    try:
        actual, estimate = np.linalg.cholesky(Sigma_0), np.linalg.cholesky(Sigma_1)
    except np.linalg.LinAlgError:
        return float(np.inf)
    trace = np.trace(cho_solve((estimate, True), Sigma_0))
    log_ratio = 2.0 * np.sum(np.log(np.diag(estimate) / np.diag(actual)))
    return float(max(0.0, 0.5 * (trace - n + log_ratio)))  # rounding may leave it below zero
