"""Closed-form kinematics of the legs: foot centres, Jacobians and the inverse, compiled.

With hip, thigh, calf angles a, b, c, side s (+1 left), hip offset d and links l, the centre of the
foot's sphere in the base is

    hip + Rx(a) [x, s d, z],   x = -l (sin b + sin(b + c)),   z = -l (cos b + cos(b + c)).
"""

import numpy as np
from numba import njit

from robots.a1.constants import (
    FOOT_RADIUS,
    HIP_POSITION_IN_BASE,
    JOINT_LOWER,
    JOINT_UPPER,
    LEG_SIDE,
    LINK_LENGTH,
    THIGH_OFFSET,
)
from robots.rotations import Array, rotation_from_quaternion


@njit(cache=True)
def foot_positions_in_base(joints: Array) -> Array:
    """Return the foot sphere centres (4, 3) [m] in the base, order FR, FL, RR, RL.

    Args:
        joints: (12) [rad] in motor order.
    """
    feet = np.empty((4, 3))
    for leg in range(4):
        a, b, c = joints[3 * leg], joints[3 * leg + 1], joints[3 * leg + 2]
        x = -LINK_LENGTH * (np.sin(b) + np.sin(b + c))
        z = -LINK_LENGTH * (np.cos(b) + np.cos(b + c))
        y = LEG_SIDE[leg] * THIGH_OFFSET
        feet[leg, 0] = HIP_POSITION_IN_BASE[leg, 0] + x
        feet[leg, 1] = HIP_POSITION_IN_BASE[leg, 1] + y * np.cos(a) - z * np.sin(a)
        feet[leg, 2] = HIP_POSITION_IN_BASE[leg, 2] + y * np.sin(a) + z * np.cos(a)
    return feet


@njit(cache=True)
def ground_below(q: Array, contacts: Array) -> float:
    """Height of the lowest point of the feet in contact [m], at q (19,); infinite without one."""
    feet, up, lowest = foot_positions_in_base(q[7:]), rotation_from_quaternion(q[3:7])[2], np.inf
    for i in range(4):
        if contacts[i] > 0.5:
            height = up[0] * feet[i, 0] + up[1] * feet[i, 1] + up[2] * feet[i, 2]
            lowest = min(lowest, q[2] + height - FOOT_RADIUS)
    return lowest


@njit(cache=True)
def foot_jacobians_in_base(joints: Array) -> Array:
    """Return d foot / d (hip, thigh, calf) of each leg in the base (4, 3, 3) [m/rad]."""
    jacobians = np.empty((4, 3, 3))
    for leg in range(4):
        a, b, c = joints[3 * leg], joints[3 * leg + 1], joints[3 * leg + 2]
        sa, ca = np.sin(a), np.cos(a)
        x_c, z_c = -LINK_LENGTH * np.cos(b + c), LINK_LENGTH * np.sin(b + c)
        x_b, z_b = x_c - LINK_LENGTH * np.cos(b), z_c + LINK_LENGTH * np.sin(b)
        y, z = LEG_SIDE[leg] * THIGH_OFFSET, -LINK_LENGTH * (np.cos(b) + np.cos(b + c))
        jacobian = jacobians[leg]
        jacobian[0, 0], jacobian[0, 1], jacobian[0, 2] = 0.0, x_b, x_c
        jacobian[1, 0], jacobian[1, 1], jacobian[1, 2] = -y * sa - z * ca, -z_b * sa, -z_c * sa
        jacobian[2, 0], jacobian[2, 1], jacobian[2, 2] = y * ca - z * sa, z_b * ca, z_c * ca
    return jacobians


@njit(cache=True)
def inverse_kinematics(feet: Array) -> Array:
    """Return the joints (12) [rad] that put the foot centres at `feet` (4, 3) [m] in the base.

    The branch is the robot's own: knee bent backward (calf below zero), foot below the hip's axis.
    A foot out of reach is drawn in along the line to the hip, and every joint ends within its
    limits: the result is always a posture that the robot can take, and is exact when `feet` is
    reachable.
    """
    joints = np.empty(12)
    for leg in range(4):
        x = feet[leg, 0] - HIP_POSITION_IN_BASE[leg, 0]
        y = feet[leg, 1] - HIP_POSITION_IN_BASE[leg, 1]
        z = feet[leg, 2] - HIP_POSITION_IN_BASE[leg, 2]
        offset = LEG_SIDE[leg] * THIGH_OFFSET
        depth = -np.sqrt(max(y * y + z * z - offset * offset, 0.0))  # z in the leg's own plane
        a = _wrapped(np.arctan2(z, y) - np.arctan2(depth, offset))
        half_reach = np.sqrt(x * x + depth * depth) / (2.0 * LINK_LENGTH)
        c = _clamped(-2.0 * np.arccos(min(half_reach, 1.0)), 3 * leg + 2)
        b = np.arctan2(-x, -depth) - 0.5 * c
        joints[3 * leg] = _clamped(a, 3 * leg)
        joints[3 * leg + 1] = _clamped(b, 3 * leg + 1)
        joints[3 * leg + 2] = c
    return joints


@njit(cache=True)
def _wrapped(angle: float) -> float:
    """Return the same angle in [-pi, pi)."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


@njit(cache=True)
def _clamped(angle: float, joint: int) -> float:
    """Return the angle within the limits of a joint (0 to 11)."""
    return min(max(angle, JOINT_LOWER[joint]), JOINT_UPPER[joint])
