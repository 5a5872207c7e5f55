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
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    rotation = np.empty((3, 3))
    rotation[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    rotation[0, 1] = 2.0 * (x * y - z * w)
    rotation[0, 2] = 2.0 * (x * z + y * w)
    rotation[1, 0] = 2.0 * (x * y + z * w)
    rotation[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    rotation[1, 2] = 2.0 * (y * z - x * w)
    rotation[2, 0] = 2.0 * (x * z - y * w)
    rotation[2, 1] = 2.0 * (y * z + x * w)
    rotation[2, 2] = 1.0 - 2.0 * (x * x + y * y)
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
    ax, ay, az, aw = a[0], a[1], a[2], a[3]
    bx, by, bz, bw = b[0], b[1], b[2], b[3]
    product = np.empty(4)
    product[0] = aw * bx + ax * bw + ay * bz - az * by
    product[1] = aw * by - ax * bz + ay * bw + az * bx
    product[2] = aw * bz + ax * by - ay * bx + az * bw
    product[3] = aw * bw - ax * bx - ay * by - az * bz
    return product


@njit(cache=True)
def tilt_of(quaternion: Array) -> float:
    """Return the angle [rad] of z to the vertical, of a unit quaternion (x, y, z, w); NaN of 0."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    if x == y == z == w == 0.0:
        return np.nan
    return math.acos(min(1.0, max(-1.0, 1.0 - 2.0 * (x * x + y * y))))


@njit(cache=True)
def _skew_polynomial(phi: Array, a: float, b: float) -> Array:
    """Return 1 + a S + b S^2 with S = skew(phi), (3, 3); written out, no product of matrices."""
    matrix = np.empty((3, 3))
    x, y, z = phi[0], phi[1], phi[2]
    matrix[0, 0] = 1.0 - b * (y * y + z * z)
    matrix[1, 1] = 1.0 - b * (x * x + z * z)
    matrix[2, 2] = 1.0 - b * (x * x + y * y)
    matrix[0, 1], matrix[1, 0] = b * x * y - a * z, b * x * y + a * z
    matrix[0, 2], matrix[2, 0] = b * x * z + a * y, b * x * z - a * y
    matrix[1, 2], matrix[2, 1] = b * y * z - a * x, b * y * z + a * x
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
    quaternion = quaternion_from_rotation(rotation)
    sine = np.sqrt(quaternion[0] ** 2 + quaternion[1] ** 2 + quaternion[2] ** 2)
    scale = 2.0 if sine < 1e-9 else 2.0 * np.arctan2(sine, quaternion[3]) / sine
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
