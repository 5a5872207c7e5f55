"""Tangent vectors of states on manifolds, as matrices by which kernels map Jacobians.

With E(x) = d plus(x, d)/dd at d = 0 and D(x) = d minus(y, x)/dy at y = x, a map with the Jacobian
M from x to y has D(y) M E(x) on tangent vectors. In R^n both are the identity, and left out.
"""

from __future__ import annotations

import numpy as np

from hybrid.derivatives import jacobian
from hybrid.filters.model import Manifold
from hybrid.systems import Array


def tangent_basis(manifold: Manifold, x: Array) -> Array:
    """E(x) (n, k): what tangent vectors at x (n,) are in coordinates."""
    return jacobian(lambda d: manifold.plus(x, d), np.zeros(manifold.tangent_dim))


def tangent_part(manifold: Manifold, x: Array) -> Array:
    """D(x) (k, n): the tangent vectors of small changes of x (n,); D E is the identity."""
    return jacobian(lambda y: manifold.minus(y, x), x)


def transport(manifold: Manifold, x: Array, d: Array) -> Array:
    """J (k, k): tangent vectors at y = plus(x, d) of small changes of d (k,), D(y) d plus/dd."""
    return tangent_part(manifold, manifold.plus(x, d)) @ jacobian(
        lambda e: manifold.plus(x, e), d
    )
