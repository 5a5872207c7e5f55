"""Rotations: matrices, unit quaternions (x, y, z, w) and rotation vectors, compiled.

The formulas and letters of exp, log and the right Jacobian are those of Sola, Deray, Atchuthan, "A
micro Lie theory" (arXiv 1812.01537), equations (134), (133), (143), (144).
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]


@njit(cache=True)
def skew(w: Array) -> Array:
    """Return the matrix (3, 3) of the cross product: skew(w) @ u = w x u."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


@njit(cache=True)
def rotation_from_quaternion(quaternion: Array) -> Array:
    """Return the rotation matrix (3, 3) of a unit quaternion (x, y, z, w)."""
    x, y, z, w = quaternion
    rotation = np.empty((3, 3))
    rotation[0] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)
    rotation[1] = 2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)
    rotation[2] = 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)
    return rotation


@njit(cache=True)
def quaternion_from_rotation(rotation: Array) -> Array:
    """Return the unit quaternion (x, y, z, w) with w >= 0 of a rotation matrix (3, 3).

    The largest of the four squares is taken first (Shepperd), so nothing is divided by a small
    number.
    """
    trace = rotation[0, 0] + rotation[1, 1] + rotation[2, 2]
    squares = np.array([rotation[0, 0], rotation[1, 1], rotation[2, 2], trace])
    i = int(np.argmax(squares))
    quaternion = np.empty(4)
    if i == 3:
        quaternion[0] = rotation[2, 1] - rotation[1, 2]
        quaternion[1] = rotation[0, 2] - rotation[2, 0]
        quaternion[2] = rotation[1, 0] - rotation[0, 1]
        quaternion[3] = 1.0 + trace
    else:
        j, k = (i + 1) % 3, (i + 2) % 3
        quaternion[i] = 1.0 + rotation[i, i] - rotation[j, j] - rotation[k, k]
        quaternion[j] = rotation[j, i] + rotation[i, j]
        quaternion[k] = rotation[k, i] + rotation[i, k]
        quaternion[3] = rotation[k, j] - rotation[j, k]
    quaternion /= np.sqrt(np.sum(quaternion**2))
    return -quaternion if quaternion[3] < 0.0 else quaternion


@njit(cache=True)
def quaternion_product(a: Array, b: Array) -> Array:
    """Return the quaternion (x, y, z, w) of the rotation R(a) R(b)."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return np.array((
        aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz,
    ))  # fmt: skip


@njit(cache=True)
def tilt_of(quaternion: Array) -> float:
    """Return the angle [rad] of z to the vertical, of a unit quaternion (x, y, z, w); NaN of 0."""
    x, y, z, w = quaternion
    if x == y == z == w == 0.0:
        return np.nan
    return math.acos(min(1.0, max(-1.0, 1.0 - 2.0 * (x * x + y * y))))


@njit(cache=True)
def _skew_polynomial(phi: Array, a: float, b: float) -> Array:
    """Return 1 + a S + b S^2 with S = skew(phi), (3, 3); written out, no product of matrices."""
    matrix, (x, y, z) = np.empty((3, 3)), phi
    matrix[0] = 1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    matrix[1] = b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x
    matrix[2] = b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)
    return matrix


@njit(cache=True)
def exp3(phi: Array) -> Array:
    """Return the rotation matrix (3, 3) of the rotation vector phi (3) [rad]."""
    angle2 = phi[0] ** 2 + phi[1] ** 2 + phi[2] ** 2
    if angle2 < 1e-8:
        a, b = 1.0 - angle2 / 6.0, 0.5 - angle2 / 24.0
    else:
        angle = np.sqrt(angle2)
        a, b = np.sin(angle) / angle, (1.0 - np.cos(angle)) / angle2
    return _skew_polynomial(phi, a, b)


@njit(cache=True)
def log3(rotation: Array) -> Array:
    """Return the rotation vector (3) [rad] of a rotation matrix (3, 3), at most pi long."""
    return quaternion_log(quaternion_from_rotation(rotation))


@njit(cache=True)
def quaternion_log(quaternion: Array) -> Array:
    """Return the rotation vector (3) [rad] of a unit quaternion (x, y, z, w) with w >= 0."""
    x, y, z, w = quaternion
    sine = np.sqrt(x**2 + y**2 + z**2)
    scale = 2.0 / w if sine < 1e-9 else 2.0 * np.arctan2(sine, w) / sine
    return scale * quaternion[:3]


@njit(cache=True)
def right_jacobian(phi: Array) -> Array:
    """Return Jr(phi) (3, 3): exp3(phi + d) = exp3(phi) exp3(Jr d) + O(d^2)."""
    angle2 = phi[0] ** 2 + phi[1] ** 2 + phi[2] ** 2
    if angle2 < 1e-6:
        b, c = 0.5 - angle2 / 24.0, 1.0 / 6.0 - angle2 / 120.0
    else:
        angle = np.sqrt(angle2)
        b, c = (1.0 - np.cos(angle)) / angle2, (angle - np.sin(angle)) / (angle2 * angle)
    return _skew_polynomial(phi, -b, c)


@njit(cache=True)
def log3_jacobian(phi: Array) -> Array:
    """Return Jr^-1(phi) (3, 3): log3(exp3(phi) exp3(d)) = phi + Jr^-1(phi) d + O(d^2)."""
    angle2 = phi[0] ** 2 + phi[1] ** 2 + phi[2] ** 2
    if angle2 < 1e-6:
        c = 1.0 / 12.0 + angle2 / 720.0
    else:
        angle = np.sqrt(angle2)
        c = 1.0 / angle2 - 0.5 * np.cos(0.5 * angle) / (angle * np.sin(0.5 * angle))
    return _skew_polynomial(phi, 0.5, c)
