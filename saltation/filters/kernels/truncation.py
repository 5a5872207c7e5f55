"""Moments of a Gaussian on either side of a plane, in closed form.

With g = g_0 + D (x - mean) and sigma^2 = D Sigma D', the side g > 0 is that of z > -g_0 / sigma for
a standard normal z along D; its mean and variance are those of a truncated normal.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from saltation.filters.kernels.matrices import times
from saltation.kernels import kernel
from saltation.systems import Array


class Side(NamedTuple):
    """The part of a Gaussian on one side of a plane."""

    probability: float
    shift: Array  # of the mean (k,)
    Sigma: Array  # (k, k)


@kernel
def truncated_normal(a):
    """Probability, mean and variance of a standard normal z where z > a."""
    probability = 0.5 * math.erfc(a / math.sqrt(2.0))
    if probability < 1e-300:  # a beyond 37: an exponential tail
        return probability, a, 0.0
    hazard = math.exp(-0.5 * a * a) / math.sqrt(2.0 * math.pi) / probability
    return probability, hazard, max(0.0, 1.0 - hazard * (hazard - a))


@kernel
def side(a, along, Sigma, sign):
    """Side sign z > a, of a Gaussian whose covariance with z is ``along`` (k,)."""
    probability, mean, variance = truncated_normal(a)
    result = 0.5 * (Sigma + Sigma.T)
    for i in range(len(along)):
        for j in range(len(along)):
            result[i, j] -= (1.0 - variance) * (along[i] * along[j])
    return Side(probability, sign * mean * along, result)


@kernel
def sides(g, D, Sigma):
    """The parts of a Gaussian where g > 0 and where g < 0."""
    along = times(Sigma, D)
    square = np.sum(D * along)
    if not square > 0.0:  # all of it is on one side
        whole, none = 1.0 if g > 0.0 else 0.0, np.zeros(len(D))
        return Side(whole, none, Sigma.copy()), Side(1.0 - whole, none, Sigma.copy())
    sigma = math.sqrt(square)
    along /= sigma
    return side(-g / sigma, along, Sigma, 1.0), side(g / sigma, along, Sigma, -1.0)
