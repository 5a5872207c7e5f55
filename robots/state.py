"""The state of a floating-base robot: differences, integration, and MuJoCo's convention.

q = [position of the base in the world (3) [m], quaternion x y z w (4), joints (n) [rad]], v =
[linear velocity in the base (3) [m/s], angular velocity in the base (3) [rad/s], joint velocities
(n) [rad/s]]. For the A1 n = 12: q (19), v (18), and the tangent vector of the whole state has 36
numbers:

    x (-) x_ref = [R_ref' (p - p_ref), log3(R_ref' R), joints - joints_ref, v - v_ref]

which belongs to the group R^3 x SO(3) x R^n and agrees to first order with Pinocchio's SE(3)
difference. A velocity is differenced as plain numbers, each in its own base. All functions are
compiled and allocate only what they return.
"""

import numpy as np
from numba import njit

from robots.rotations import (
    Array,
    log3_jacobian,
    quaternion_log,
    quaternion_product,
    rotation_from_quaternion,
)


@njit(cache=True)
def difference(q_ref: Array, v_ref: Array, q: Array, v: Array) -> Array:
    """Return x (-) x_ref (2 nv).

    The tangent vector at the reference that leads to (q, v). It is what gains multiply.
    """
    nv, rotation_ref = v.shape[0], rotation_from_quaternion(q_ref[3:7])
    dx = np.zeros(2 * nv)
    for i in range(3):
        for k in range(3):
            dx[i] += rotation_ref[k, i] * (q[k] - q_ref[k])
    dx[3:6] = _log3_between(q_ref[3:7], q[3:7])
    for i in range(6, nv):
        dx[i] = q[i + 1] - q_ref[i + 1]
    for i in range(nv):
        dx[nv + i] = v[i] - v_ref[i]
    return dx


@njit(cache=True)
def _log3_between(a: Array, b: Array) -> Array:
    """Return log3(R(a)' R(b)) of two unit quaternions: accurate for small and for large angles."""
    conjugate = np.array([-a[0], -a[1], -a[2], a[3]])
    relative = quaternion_product(conjugate, b)
    if relative[3] < 0.0:  # q and -q are one rotation: take the short way round
        relative = -relative
    return quaternion_log(relative)


@njit(cache=True)
def integrate(q: Array, v: Array, dx: Array) -> tuple[Array, Array]:
    """Return (q, v) (+) dx: `difference(q, v, *integrate(q, v, dx))` = dx below half a turn.

    Args:
        q: (nq).
        v: (nv).
        dx: (2 nv) tangent vector at (q, v).
    """
    nv = v.shape[0]
    q_new = np.empty(q.shape[0])
    q_new[:3] = q[:3] + rotation_from_quaternion(q[3:7]) @ np.ascontiguousarray(dx[:3])
    q_new[3:7] = quaternion_product(q[3:7], _quaternion_exp(dx[3:6]))
    q_new[3:7] /= np.sqrt(np.sum(q_new[3:7] ** 2))
    q_new[7:] = q[7:] + dx[6:nv]
    return q_new, v + dx[nv:]


@njit(cache=True)
def _quaternion_exp(phi: Array) -> Array:
    """Return the unit quaternion (x, y, z, w) of the rotation vector phi [rad]."""
    angle = np.sqrt(phi[0] ** 2 + phi[1] ** 2 + phi[2] ** 2)
    scale = 0.5 - angle * angle / 48.0 if angle < 1e-4 else np.sin(0.5 * angle) / angle
    return np.array([scale * phi[0], scale * phi[1], scale * phi[2], np.cos(0.5 * angle)])


@njit(cache=True)
def difference_jacobian(q_ref: Array, q: Array) -> Array:
    """Return d(x (-) x_ref)[:6] / d(local change of q) (6, 6) = blkdiag(R_ref' R, Jr^-1(phi)).

    The local change is the tangent vector at q (the one `integrate` takes), phi = log3(R_ref' R).
    The other blocks of the whole Jacobian are identities.
    """
    rotation_ref, rotation = rotation_from_quaternion(q_ref[3:7]), rotation_from_quaternion(q[3:7])
    turned = log3_jacobian(_log3_between(q_ref[3:7], q[3:7]))
    jacobian = np.zeros((6, 6))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                jacobian[i, j] += rotation_ref[k, i] * rotation[k, j]
            jacobian[3 + i, 3 + j] = turned[i, j]
    return jacobian


@njit(cache=True)
def mujoco_from_pinocchio(q: Array, v: Array) -> tuple[Array, Array]:
    """Return MuJoCo's (qpos, qvel).

    Quaternion w first, linear velocity in the world, angular velocity in the base.
    """
    qpos, qvel = q.copy(), v.copy()
    qpos[3], qpos[4:7] = q[6], q[3:6]
    qvel[:3] = rotation_from_quaternion(q[3:7]) @ np.ascontiguousarray(v[:3])
    return qpos, qvel


@njit(cache=True)
def pinocchio_from_mujoco(qpos: Array, qvel: Array) -> tuple[Array, Array]:
    """Return (q, v) of MuJoCo's (qpos, qvel)."""
    q, v = qpos.copy(), qvel.copy()
    q[3:6], q[6] = qpos[4:7], qpos[3]
    v[:3] = rotation_from_quaternion(q[3:7]).T @ np.ascontiguousarray(qvel[:3])
    return q, v
