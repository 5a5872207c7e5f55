"""Tangent vectors of states on manifolds: a Jacobian of coordinates as one of tangent vectors.

With E(x) = d plus(x, d)/dd at d = 0 and D(x) = d minus(y, x)/dy at y = x, a map with the Jacobian
M from x to y has D(y) M E(x) on tangent vectors. In R^n both are the identity, and left out.
"""

from __future__ import annotations

import numpy as np

from hybrid.derivatives import jacobian
from hybrid.filters.model import Manifold
from hybrid.systems import Array

# ruff: noqa: N802, N803 (the letters are the thesis's)


def tangent_basis(manifold: Manifold, x: Array) -> Array:
    """E(x) (n, k): what tangent vectors at x (n,) are in coordinates."""
    return jacobian(lambda d: manifold.plus(x, d), np.zeros(manifold.tangent_dim))


def tangent_part(manifold: Manifold, x: Array) -> Array:
    """D(x) (k, n): the tangent vectors of small changes of x (n,); D E is the identity."""
    return jacobian(lambda y: manifold.minus(y, x), x)


def tangent_map(
    M: Array, x: Array, before: Manifold | None, y: Array, after: Manifold | None
) -> Array:
    """D(y) M E(x) (k_after, k_before) of a Jacobian M (n_after, n_before) from x to y."""
    if before is not None:
        M = M @ tangent_basis(before, x)
    return M if after is None else tangent_part(after, y) @ M


def moved(manifold: Manifold | None, x: Array, d: Array) -> Array:
    """The state (n,) that lies a tangent vector d (k,) from x (n,)."""
    return x + d if manifold is None else manifold.plus(x, d)


def put_back(manifold: Manifold | None, x: Array) -> Array:
    """The state (n,) of the manifold at x (n,), which a flow has left by its rounding."""
    return x if manifold is None else manifold.plus(x, np.zeros(manifold.tangent_dim))


def transported(manifold: Manifold | None, x: Array, d: Array, Sigma: Array) -> Array:
    """Covariance (k, k) of tangent vectors at plus(x, d), from one of plus(x, d + e) by e."""
    if manifold is None:
        return Sigma
    J = tangent_part(manifold, manifold.plus(x, d)) @ jacobian(lambda e: manifold.plus(x, e), d)
    return J @ Sigma @ J.T
