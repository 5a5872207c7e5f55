"""Ready manifolds for filters: the circle, R^n, and products of such; and their tangent maps.

With E(x) = d plus(x, d)/dd at d = 0 and D(x) = d minus(y, x)/dy at y = x, a map with the Jacobian
M from x to y has D(y) M E(x) on tangent vectors. In R^n both are the identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from saltation.derivatives import jacobian
from saltation.filters.model import Manifold
from saltation.systems import Array


def retraction_slope(manifold: Manifold, x: Array, d: Array) -> Array:
    """d plus(x, d)/dd (n, k); at d = 0 it is E(x), tangent vectors at x (n,) in coordinates."""
    return jacobian(lambda e: manifold.plus(x, e), d)


def tangent_part(manifold: Manifold, x: Array) -> Array:
    """D(x) (k, n): the tangent vectors of small changes of x (n,); D E is the identity."""
    return jacobian(lambda y: manifold.minus(y, x), x)


@dataclass(frozen=True)
class Euclidean:
    """R^n, as a part of a product."""

    tangent_dim: int  # n

    def plus(self, x: Array, d: Array) -> Array:
        """x + d (n,)."""
        return x + d

    def minus(self, y: Array, x: Array) -> Array:
        """y - x (n,)."""
        return y - x


@dataclass(frozen=True)
class Circle:
    """Angles as unit vectors [cos, sin]; tangent vectors are angles [rad], counterclockwise."""

    tangent_dim: int = 1

    def plus(self, x: Array, d: Array) -> Array:
        """x (2,) turned by d (1,) [rad], of unit length even where x is not."""
        length = np.sqrt(x[0] * x[0] + x[1] * x[1])
        sine, cosine = np.sin(d[0]), np.cos(d[0])
        return np.array([x[0] * cosine - x[1] * sine, x[0] * sine + x[1] * cosine]) / length

    def minus(self, y: Array, x: Array) -> Array:
        """The angle (1,) from x to y (2,), in [-pi, pi] [rad]."""
        cross, dot = x[0] * y[1] - x[1] * y[0], x[0] * y[0] + x[1] * y[1]
        return np.array([np.arctan2(cross, dot)])


class Part(NamedTuple):
    """One factor of a product, and how many coordinates it takes."""

    manifold: Manifold
    state_dim: int


class Product:
    """States that are lists of parts, each on its own manifold; errors are the lists of theirs."""

    def __init__(self, *parts: Part | tuple[Manifold, int]) -> None:
        """Take the parts, each with the number of its coordinates, in their order."""
        self._parts = tuple(Part(*part) for part in parts)
        self.tangent_dim = sum(part.manifold.tangent_dim for part in self._parts)
        self._x = np.cumsum([part.state_dim for part in self._parts])[:-1]
        self._d = np.cumsum([part.manifold.tangent_dim for part in self._parts])[:-1]

    def plus(self, x: Array, d: Array) -> Array:
        """Each part of x (n,) moved by its part of d (k,)."""
        moves = zip(self._parts, np.split(x, self._x), np.split(d, self._d), strict=True)
        return np.concatenate([part.manifold.plus(a, b) for part, a, b in moves])

    def minus(self, y: Array, x: Array) -> Array:
        """The tangent vectors (k,) of each part from x to y (n,)."""
        pairs = zip(self._parts, np.split(y, self._x), np.split(x, self._x), strict=True)
        return np.concatenate([part.manifold.minus(a, b) for part, a, b in pairs])
