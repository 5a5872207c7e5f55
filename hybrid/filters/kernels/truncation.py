"""Moments of a Gaussian on either side of a plane, in closed form.

With g = g_0 + D (x - mean) and sigma^2 = D Sigma D', the side g > 0 is that of z > -g_0 / sigma for
a standard normal z along D; its mean and variance are those of a truncated normal.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def above(a):
    """Probability, mean and variance of a standard normal z where z > a."""
    probability = 0.5 * math.erfc(a / math.sqrt(2.0))
    if probability < 1e-300:  # a beyond 37: an exponential tail
        return probability, a, 0.0
    hazard = math.exp(-0.5 * a * a) / math.sqrt(2.0 * math.pi) / probability
    return probability, hazard, max(0.0, 1.0 - hazard * (hazard - a))


@njit(cache=True, error_model="numpy")
def shrunk(Sigma, D, sigma, variance):
    """Sigma (k, k) where that along D (k,), sigma^2, becomes sigma^2 times ``variance``."""
    k = len(D)
    along, after = np.zeros(k), np.empty((k, k))
    for i in range(k):
        for j in range(k):
            along[i] += Sigma[i, j] * D[j] / sigma
    for i in range(k):
        for j in range(k):
            after[i, j] = 0.5 * (Sigma[i, j] + Sigma[j, i])
            after[i, j] -= (1.0 - variance) * (along[i] * along[j])
    return along, after


@njit(cache=True, error_model="numpy")
def sides(g, D, Sigma):
    """(probability, mean's shift (k,), Sigma (k, k)) where g > 0, and the same where g < 0."""
    k, square = len(D), 0.0
    for i in range(k):
        for j in range(k):
            square += D[i] * Sigma[i, j] * D[j]
    sigma = math.sqrt(square) if square > 0.0 else 0.0
    if not sigma > 0.0:  # all of it is on one side
        whole = 1.0 if g > 0.0 else 0.0
        return (whole, np.zeros(k), Sigma.copy()), (1.0 - whole, np.zeros(k), Sigma.copy())
    p, mean, variance = above(-g / sigma)
    along, over = shrunk(Sigma, D, sigma, variance)
    q, low, variance = above(g / sigma)
    _, under = shrunk(Sigma, D, sigma, variance)
    return (p, mean * along, over), (q, -low * along, under)
