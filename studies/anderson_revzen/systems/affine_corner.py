"""Three affine states whose guards are the coordinate planes, and their exact flow.

Table 4.1 of Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems". The z
velocity is negative on both sides of its plane, so that the event function that rises there is
-z; it is continuous there, while the other two velocities jump.
"""

# ruff: noqa: N806 (A is the matrix of an affine flow)

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from hybrid.event_selected.system import EventSelectedSystem
from hybrid.systems import Array

START = np.array([-0.4, -0.15, 0.3])
DURATION = 0.5  # [s]
RISING = np.array([1.0, 1.0, -1.0])  # h = RISING * (x, y, z)


def flow(x, side, p):
    """Table 4.1, (3,)."""
    f = np.empty(3)
    if side[1] < 0.0:
        f[0] = (-x[1] if side[0] < 0.0 else -2.0 * x[1]) + 1.0
        f[1] = x[0] + 1.0 if side[0] < 0.0 else 0.5 * x[0] + 2.0
    else:
        f[0] = (x[1] if side[0] < 0.0 else 10.0 * x[0]) + 1.0
        f[1] = (-x[0] if side[0] < 0.0 else x[1]) + 1.0
    f[2] = (-x[2] if side[2] < 0.0 else 3.0 * x[2]) - 1.0
    return f


def events(x, p):
    """h (3,): the coordinates, each so that it rises."""
    return np.array([x[0], x[1], -x[2]])


def events_state(x, p):
    """Dh (3, 3)."""
    return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])


def affine_corner() -> EventSelectedSystem:
    """The system; each plane is crossed once."""
    return EventSelectedSystem("affine corner", 3, 3, flow, events, events_state)


class ExactPiece(NamedTuple):
    """The flow from a time on, until the next piece starts."""

    time: float  # [s]
    state: Array  # (3,)
    A: Array  # (4, 4) of d/dt (x, 1) = A (x, 1)

    def at(self, t: float) -> Array:
        """State (3,) at a time [s] by the matrix exponential."""
        propagator = np.asarray(expm(self.A * (t - self.time)), dtype=np.float64)
        return (propagator @ np.append(self.state, 1.0))[:3]


class Exact(NamedTuple):
    """The exact trajectory."""

    pieces: tuple[ExactPiece, ...]
    guards: tuple[int, ...]  # crossed between them

    def at(self, times: Array) -> Array:
        """States (T, 3) at times (T,) [s]."""
        starts = [piece.time for piece in self.pieces]
        roots = np.searchsorted(starts, times, side="right") - 1
        return np.array([self.pieces[i].at(t) for i, t in zip(roots, times, strict=True)])


def exact_flow(x: Array, duration: float) -> Exact:
    """From the state x (3,) for a duration [s]; crossings are located to rounding."""
    side = np.where(RISING * x < 0.0, -1.0, 1.0)
    pieces, guards = [ExactPiece(0.0, np.asarray(x, dtype=np.float64), matrix(side))], []
    while (crossing := first_crossing(pieces[-1], side, duration)) is not None:
        time, guard = crossing
        side[guard] = 1.0
        pieces.append(ExactPiece(time, pieces[-1].at(time), matrix(side)))
        guards.append(guard)
    return Exact(tuple(pieces), tuple(guards))


def first_crossing(piece: ExactPiece, side: Array, end: float) -> tuple[float, int] | None:
    """Time [s] and number of the guard that is crossed first before ``end``, if one is."""
    roots: list[tuple[float, int]] = []
    for k in np.flatnonzero(side < 0.0):
        if RISING[k] * piece.at(end)[k] > 0.0:
            root: Any = brentq(lambda t, k=k: piece.at(t)[k], piece.time, end, xtol=1e-15)
            roots.append((root, int(k)))
    return min(roots, default=None)


def matrix(side: Array) -> Array:
    """A (4, 4) of the affine flow on a side (3,), read off ``flow`` at the unit vectors."""
    none = np.zeros(0)
    constant = flow(np.zeros(3), side, none)
    A = np.zeros((4, 4))
    A[:3, 3] = constant
    A[:3, :3] = np.stack([flow(e, side, none) - constant for e in np.eye(3)], axis=1)
    return A
