"""Spatial vectors and inertias (Featherstone), compiled; order: linear first, then angular.

A motion is (velocity of the point at the origin, angular velocity), a force (force, moment about
the origin). Every function writes into its last argument and allocates nothing.
"""

from __future__ import annotations

from numba import njit

from robots.rotations import Array


@njit(cache=True)
def cross(a: Array, b: Array, out: Array) -> None:
    """Write a x b (3); `out` must not be a or b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def cross_add(a: Array, b: Array, out: Array) -> None:
    """Add a x b (3) to `out`."""
    out[0] += a[1] * b[2] - a[2] * b[1]
    out[1] += a[2] * b[0] - a[0] * b[2]
    out[2] += a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def add_scaled(factor: float, a: Array, out: Array) -> None:
    """Add factor * a (n) to `out`."""
    for i in range(a.shape[0]):
        out[i] += factor * a[i]


@njit(cache=True)
def add_matrix(a: Array, out: Array) -> None:
    """Add a (n, m) to `out`."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] += a[i, j]


@njit(cache=True)
def motion_cross(v: Array, s: Array, out: Array) -> None:
    """Write v x s (6): how the motion s changes when it is carried along with v."""
    cross(v[3:], s[:3], out[:3])
    cross_add(v[:3], s[3:], out[:3])
    cross(v[3:], s[3:], out[3:])


@njit(cache=True)
def force_cross_add(v: Array, f: Array, out: Array) -> None:
    """Add v x* f (6): how the force f changes when it is carried along with v."""
    cross_add(v[3:], f[:3], out[:3])
    cross_add(v[3:], f[3:], out[3:])
    cross_add(v[:3], f[:3], out[3:])


@njit(cache=True)
def multiply(matrix: Array, vector: Array, out: Array) -> None:
    """Write matrix (n, m) @ vector (m)."""
    for i in range(matrix.shape[0]):
        total = 0.0
        for j in range(matrix.shape[1]):
            total += matrix[i, j] * vector[j]
        out[i] = total


@njit(cache=True)
def multiply6(matrix: Array, vector: Array, out: Array) -> None:
    """Write matrix (6, 6) @ vector (6); sums in pairs, which need not wait for each other."""
    a, b, c, d, e, f = vector[0], vector[1], vector[2], vector[3], vector[4], vector[5]
    for i in range(6):
        m = matrix[i]
        out[i] = (m[0] * a + m[1] * b) + (m[2] * c + m[3] * d) + (m[4] * e + m[5] * f)


@njit(cache=True)
def dot6(a: Array, b: Array) -> float:
    """Return a . b of two vectors (6)."""
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])


@njit(cache=True)
def rigid_inertia(mass: float, com: Array, central: Array, out: Array) -> None:
    """Write the inertia (6, 6) about the origin of a body with its centre of mass at `com` (3) [m].

    Args:
        mass: [kg].
        com: (3) [m].
        central: rotational inertia about the centre of mass (3, 3) [kg m^2].
        out: [[m 1, -m [c]x], [m [c]x, central + m (c.c 1 - c c')]].
    """
    x, y, z = com[0], com[1], com[2]
    out[:] = 0.0
    for i in range(3):
        out[i, i] = mass
        for j in range(3):
            out[3 + i, 3 + j] = central[i, j] - mass * com[i] * com[j]
        out[3 + i, 3 + i] += mass * (x * x + y * y + z * z)
    out[0, 4] = out[4, 0] = mass * z
    out[1, 3] = out[3, 1] = -mass * z
    out[0, 5] = out[5, 0] = -mass * y
    out[2, 3] = out[3, 2] = mass * y
    out[1, 5] = out[5, 1] = mass * x
    out[2, 4] = out[4, 2] = -mass * x


@njit(cache=True)
def twice_coriolis(inertia: Array, v: Array, momentum: Array, work: Array, out: Array) -> None:
    """Write 2 B(I, v) (6, 6): what a motion s adds to I a + v x* I v as v changes with it.

    2 B = (v x*) I - I (v x) + (I v) xbar*, Singh, Russell, Wensing 2022, (5).

    Args:
        inertia: I (6, 6).
        v: (6).
        momentum: I v (6).
        work: (6, 6), overwritten by I (v x), whose transpose is -(v x*) I.
        out: (6, 6).
    """
    u0, u1, u2, w0, w1, w2 = v[0], v[1], v[2], v[3], v[4], v[5]
    for i in range(6):
        a0, a1, a2 = inertia[i, 0], inertia[i, 1], inertia[i, 2]
        b0, b1, b2 = inertia[i, 3], inertia[i, 4], inertia[i, 5]
        work[i, 0] = a1 * w2 - a2 * w1
        work[i, 1] = a2 * w0 - a0 * w2
        work[i, 2] = a0 * w1 - a1 * w0
        work[i, 3] = a1 * u2 - a2 * u1 + b1 * w2 - b2 * w1
        work[i, 4] = a2 * u0 - a0 * u2 + b2 * w0 - b0 * w2
        work[i, 5] = a0 * u1 - a1 * u0 + b0 * w1 - b1 * w0
    for i in range(6):
        for j in range(6):
            out[i, j] = -work[j, i] - work[i, j]
    f0, f1, f2 = momentum[0], momentum[1], momentum[2]
    n0, n1, n2 = momentum[3], momentum[4], momentum[5]
    out[0, 4] += f2
    out[0, 5] -= f1
    out[1, 3] -= f2
    out[1, 5] += f0
    out[2, 3] += f1
    out[2, 4] -= f0
    out[3, 1] += f2
    out[3, 2] -= f1
    out[4, 0] -= f2
    out[4, 2] += f0
    out[5, 0] += f1
    out[5, 1] -= f0
    out[3, 4] += n2
    out[3, 5] -= n1
    out[4, 3] -= n2
    out[4, 5] += n0
    out[5, 3] += n1
    out[5, 4] -= n0
