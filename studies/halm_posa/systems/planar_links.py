"""Points of a planar mechanism of straight links, and the inertia of the bodies on them.

A link hangs straight down at angle zero and turns counter-clockwise. Coordinates begin with the
position of the base [m]; the rest are angles [rad], of which each link adds up some.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from saltation.systems import Array


class Link(NamedTuple):
    """One straight link of a path from the base to a point."""

    length: float  # [m]
    angles: Array  # (n,) of 0 and 1: the coordinates whose sum is its angle


def point(q: Array, path: Sequence[Link]) -> Array:
    """Position (2,) [m] at the end of ``path`` from the base (q[0], q[1])."""
    at = np.array(q[:2], dtype=np.float64)
    for length, angles in path:
        angle = angles @ q
        at += length * np.array([np.sin(angle), -np.cos(angle)])
    return at


def point_jacobian(q: Array, path: Sequence[Link]) -> Array:
    """Derivative (2, n) of ``point`` by the coordinates."""
    J = np.zeros((2, len(q)))
    J[0, 0] = J[1, 1] = 1.0
    for length, angles in path:
        angle = angles @ q
        J += length * np.outer([np.cos(angle), np.sin(angle)], angles)
    return J


def body_inertia(
    q: Array, path: Sequence[Link], mass: float, about_centre: float = 0.0
) -> Array:  # fmt: skip
    """Inertia (n, n) of a body whose centre of mass ends ``path``, and that turns with its end.

    Args:
        q: (n,) coordinates.
        path: from the base to the centre of mass.
        mass: [kg].
        about_centre: moment of inertia about the centre of mass [kg m^2].
    """
    J = point_jacobian(q, path)
    turning = path[-1].angles if path else np.zeros(len(q))
    return mass * J.T @ J + about_centre * np.outer(turning, turning)
