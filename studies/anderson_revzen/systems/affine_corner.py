"""Three affine states whose guards are the coordinate planes, and their exact flow.

Table 4.1 of Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems". The z
velocity is negative on both sides of its plane, so that the event function that rises there is
-z; it is continuous there, while the other two velocities jump.
"""

# ruff: noqa: N806 (A is the matrix of an affine flow)

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from saltation.event_selected.system import EventSelectedSystem
from saltation.systems import Array

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


def affine_corner() -> EventSelectedSystem:
    """The system, h the coordinates, each so that it rises; each plane is crossed once."""
    return EventSelectedSystem(
        "affine corner", 3, 3, flow, lambda x, p: np.array([x[0], x[1], -x[2]]),
        lambda x, p: np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
    )  # fmt: skip


def exact_states(x: Array, times: Array) -> Array:
    """States (T, 3) at ascending times (T,) [s] from x (3,) at time 0, by matrix exponentials.

    Crossings are located to rounding.
    """
    side = np.where(RISING * x < 0.0, -1.0, 1.0)
    start, state, states, end = 0.0, np.asarray(x, dtype=np.float64), [], times[-1]
    while True:
        A = matrix(side)

        def at(t: float, A: Array = A, start: float = start, state: Array = state) -> Array:
            return (expm(A * (t - start)) @ np.append(state, 1.0))[:3]

        roots: list[tuple[Any, int]] = [
            (brentq(lambda t, k=k: at(t)[k], start, end, xtol=1e-15), k)
            for k in np.flatnonzero(side < 0.0).tolist() if RISING[k] * at(end)[k] > 0.0
        ]  # fmt: skip
        time, guard = min(roots, default=(np.inf, 0))
        states += [at(t) for t in times[(times >= start) & (times < time)]]
        if not roots:
            return np.array(states)
        start, state, side[guard] = time, at(time), 1.0


def matrix(side: Array) -> Array:
    """A (4, 4) of d/dt (x, 1) = A (x, 1) on a side (3,), read off ``flow`` at the unit vectors."""
    none = np.zeros(0)
    constant = flow(np.zeros(3), side, none)
    A = np.zeros((4, 4))
    A[:3, 3] = constant
    A[:3, :3] = np.stack([flow(e, side, none) - constant for e in np.eye(3)], axis=1)
    return A
