"""How fast and how high the feet's contact points are, and what that depends on.

The foot is a sphere of radius rho that rolls: its contact point moves at

    R u,  u = v + w x r + J dq - w_calf x (rho n),  w_calf = w + G dq,  n = R^T e_z

with r(q) the centre of the foot in the base and J = dr/dq. A foot that stands has R u = 0, and its
centre about rho above the ground.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.leg_measurements import cross
from robots.a1.kinematics import foot_jacobians_in_base, foot_positions_in_base
from robots.rotations import rotation_from_quaternion, skew

Array = NDArray[np.float64]

STEP = 1e-5
"""[s] over which J is differenced along dq."""


class FootRows(NamedTuple):
    """Of four feet: velocity of the contact points and height of the centres, world axes."""

    velocity: Array
    """(4, 3) [m/s]"""
    velocity_jacobian: Array
    """(4, 3, 15) by v, w, the leg's dq, the leg's q, rotation: three columns each."""
    height: Array
    """(4) [m]"""
    height_jacobian: Array
    """(4, 9) by position, rotation, the leg's q: three columns each."""


@njit(cache=True)
def foot_rows(q: Array, v: Array, radius: Array) -> FootRows:
    """Rows of the feet at a state q (19), v (18); radii (4) on which they roll [m]."""
    R = rotation_from_quaternion(q[3:7])
    joints, rates, w = q[7:], v[6:], v[3:6].copy()
    centres, J = foot_positions_in_base(joints), foot_jacobians_in_base(joints)
    # d(J dq)/dq is symmetric in its two derivatives, so it is dJ/dt along dq.
    ahead = foot_jacobians_in_base(joints + STEP * rates)
    J_rate = (ahead - foot_jacobians_in_base(joints - STEP * rates)) / (2.0 * STEP)
    velocity, by_state = np.empty((4, 3)), np.empty((4, 3, 15))
    height, height_by_state = np.empty(4), np.empty((4, 9))
    S_w = skew(w)
    for i in range(4):
        down = radius[i] * R[2]
        S_down = skew(down)
        leg = slice(3 * i, 3 * i + 3)
        dq, r, J_i = rates[leg].copy(), centres[i], J[i].copy()
        G, G_rate = _calf_axes(joints[3 * i], dq)
        calf = w + G @ dq
        u = v[:3] + cross(w, r) + J_i @ dq - cross(calf, down)
        velocity[i] = R @ u
        by_joints = S_w @ J_i + J_rate[i]
        by_joints[:, 0] += S_down @ G_rate
        by_state[i, :, 0:3] = R
        by_state[i, :, 3:6] = R @ (S_down - skew(r))
        by_state[i, :, 6:9] = R @ (J_i + S_down @ G)
        by_state[i, :, 9:12] = R @ by_joints
        by_state[i, :, 12:15] = -R @ (skew(u) + skew(calf) @ S_down)
        height[i] = q[2] + R[2] @ r
        height_by_state[i, 0:3] = R[2]
        height_by_state[i, 3:6] = -R[2] @ skew(r)
        height_by_state[i, 6:9] = R[2] @ J_i
    return FootRows(velocity, by_state, height, height_by_state)


@njit(cache=True)
def _calf_axes(hip: float, dq: Array) -> tuple[Array, Array]:
    """G (3, 3), what the leg's rates turn its calf by, and d(G dq)/d hip (3)."""
    sine, cosine = np.sin(hip), np.cos(hip)
    G = np.array([[1.0, 0.0, 0.0], [0.0, cosine, cosine], [0.0, sine, sine]])
    pitch = dq[1] + dq[2]
    return G, np.array([0.0, -sine * pitch, cosine * pitch])
