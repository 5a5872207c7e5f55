"""Closed-form kinematics of four legs of three joints: feet, Jacobians, the inverse, compiled.

With hip, thigh, calf angles a, b, c, lengths l of thigh and k l from knee to foot, the lean g of
the line from knee to foot at c = 0, and the distance y of the leg's plane from the hip's axis, the
centre of the foot's sphere in the base is

    hip + Rx(a) [x, y, z],   x = -l (sin b + k sin(b + c + g)),   z = -l (cos b + k cos(b + c + g)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.rotations import Array, rotation_from_quaternion


class Legs(NamedTuple):
    """The geometry of four legs in the order FR, FL, RR, RL, and the ranges of their joints."""

    hip: Array  # (4, 3) of the hip's axis, at the thigh's x, in the base [m]
    plane: Array  # (4,) y of the leg's plane from the hip's axis, negative on the right [m]
    thigh: Array  # (4,) l, from the thigh's axis to the knee's [m]
    ratio: Array  # (4,) k
    lean: Array  # (4,) g [rad]
    bend: Array  # (4,) sign of c + g in every posture: -1 for a knee behind the foot's line
    foot_radius: float  # of the feet's spheres [m]
    lower: Array  # (12,) [rad]
    upper: Array  # (12,) [rad]


@njit(cache=True)
def foot_positions_in_base(legs: Legs, joints: Array) -> Array:
    """Return the foot sphere centres (4, 3) [m] in the base.

    Args:
        legs: of the robot.
        joints: (12) [rad] in motor order.
    """
    feet = np.empty((4, 3))
    for i in range(4):
        a, b, c = joints[3 * i], joints[3 * i + 1], joints[3 * i + 2] + legs.lean[i]
        x = -legs.thigh[i] * (np.sin(b) + legs.ratio[i] * np.sin(b + c))
        z = -legs.thigh[i] * (np.cos(b) + legs.ratio[i] * np.cos(b + c))
        y, (hip_x, hip_y, hip_z) = legs.plane[i], legs.hip[i]
        feet[i] = (
            hip_x + x, hip_y + y * np.cos(a) - z * np.sin(a),
            hip_z + y * np.sin(a) + z * np.cos(a),
        )  # fmt: skip
    return feet


@njit(cache=True)
def ground_below(legs: Legs, q: Array, contacts: Array) -> float:
    """Height of the lowest point of the feet in contact [m], at q (19,); infinite without one."""
    feet, lowest = foot_positions_in_base(legs, q[7:]), np.inf
    up = rotation_from_quaternion(q[3:7])[2]
    for i in range(4):
        if contacts[i] > 0.5:
            height = up[0] * feet[i, 0] + up[1] * feet[i, 1] + up[2] * feet[i, 2]
            lowest = min(lowest, q[2] + height - legs.foot_radius)
    return lowest


@njit(cache=True)
def foot_jacobians_in_base(legs: Legs, joints: Array) -> Array:
    """Return d foot / d (hip, thigh, calf) of each leg in the base (4, 3, 3) [m/rad]."""
    jacobians = np.empty((4, 3, 3))
    for i in range(4):
        a, b, c = joints[3 * i], joints[3 * i + 1], joints[3 * i + 2] + legs.lean[i]
        sa, ca, length = np.sin(a), np.cos(a), legs.thigh[i]
        shank = length * legs.ratio[i]
        x_c, z_c = -shank * np.cos(b + c), shank * np.sin(b + c)
        x_b, z_b = x_c - length * np.cos(b), z_c + length * np.sin(b)
        y, z = legs.plane[i], -length * (np.cos(b) + legs.ratio[i] * np.cos(b + c))
        jacobians[i, 0] = 0.0, x_b, x_c
        jacobians[i, 1] = -y * sa - z * ca, -z_b * sa, -z_c * sa
        jacobians[i, 2] = y * ca - z * sa, z_b * ca, z_c * ca
    return jacobians


@njit(cache=True)
def inverse_kinematics(legs: Legs, feet: Array) -> Array:
    """Return the joints (12) [rad] that put the foot centres at `feet` (4, 3) [m] in the base.

    The branch is the robot's own: the knee bends to its side, the foot is below the hip's axis. A
    foot out of reach is drawn in along the line to the hip, and every joint ends within its limits:
    the result is always a posture that the robot can take, and is exact when `feet` is reachable.
    """
    joints = np.empty(12)
    for i in range(4):
        x, y, z = feet[i] - legs.hip[i]
        offset, length, ratio = legs.plane[i], legs.thigh[i], legs.ratio[i]
        depth = -np.sqrt(max(y * y + z * z - offset * offset, 0.0))  # z in the leg's own plane
        a = _wrapped(np.arctan2(z, y) - np.arctan2(depth, offset))
        # cos^2(c/2) = (d^2 - (l - k l)^2) / (4 k l^2), and by the law of tangents the angle between
        # thigh and the line to the foot is c/2 + atan((k - 1) / (k + 1) tan(c/2)).
        short = length - length * ratio
        squared = max(x * x + depth * depth - short * short, 0.0)
        half_reach = np.sqrt(squared) / (2.0 * length * np.sqrt(ratio))
        c = 2.0 * legs.bend[i] * np.arccos(min(half_reach, 1.0))
        c = _clamped(legs, c - legs.lean[i], 3 * i + 2)
        half = 0.5 * (c + legs.lean[i])
        b = np.arctan2(-x, -depth) - half
        b -= np.arctan((ratio - 1.0) / (ratio + 1.0) * np.tan(half))
        joints[3 * i] = _clamped(legs, a, 3 * i)
        joints[3 * i + 1] = _clamped(legs, b, 3 * i + 1)
        joints[3 * i + 2] = c
    return joints


@njit(cache=True)
def _wrapped(angle: float) -> float:
    """Return the same angle in [-pi, pi)."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


@njit(cache=True)
def _clamped(legs: Legs, angle: float, joint: int) -> float:
    """Return the angle within the range of a joint (0 to 11)."""
    return min(max(angle, legs.lower[joint]), legs.upper[joint])


@njit(cache=True)
def calf_angular_velocity_in_base(omega: Array, joints: Array, joint_velocities: Array) -> Array:
    """Angular velocity of one calf [rad/s], base axes (3).

    The hip turns about x; thigh and calf turn about the y axis that the hip has turned.
    omega (3) of the base [rad/s], joints (3) [rad], joint_velocities (3) [rad/s].
    """
    pitch_rate = joint_velocities[1] + joint_velocities[2]
    turn = joint_velocities[0], np.cos(joints[0]) * pitch_rate, np.sin(joints[0]) * pitch_rate
    return omega + np.array(turn)


@njit(cache=True)
def cross(a: Array, b: Array) -> Array:
    """The cross product of two (3) vectors; numpy's own is slow in compiled code."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


@njit(cache=True)
def leg_measurements(
    legs: Legs, rotation: Array, omega: Array, joints: Array, joint_velocities: Array,
    foot_radius: float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Foot positions, foot velocities and rolling velocities (4, 3) each, world axes.

    positions: R r_i(q), foot centre relative to the base [m].
    velocities: R (omega x r_i + J_i dq), of the foot centre relative to the base [m/s]
        (Bledt et al. 2018, the time derivative of the former).
    rolling: R omega_calf x (foot_radius e_z), velocity in the world of the centre of a foot that
        rolls on flat ground without slipping [m/s]; "velocity zero" holds at the contact point.
    rotation (3, 3) base to world, omega (3) [rad/s] base, joints (12) [rad], their velocities (12).
    """
    feet = foot_positions_in_base(legs, joints)
    jacobians = foot_jacobians_in_base(legs, joints)
    positions, velocities, rolling = np.empty((3, 4, 3))
    to_centre = np.array([0.0, 0.0, foot_radius])
    for i in range(4):
        dq = joint_velocities[3 * i : 3 * i + 3]
        in_base = cross(omega, feet[i]) + jacobians[i] @ dq
        omega_calf = calf_angular_velocity_in_base(omega, joints[3 * i : 3 * i + 3], dq)
        positions[i] = rotation @ feet[i]
        velocities[i] = rotation @ in_base
        rolling[i] = cross(rotation @ omega_calf, to_centre)
    return positions, velocities, rolling


@njit(cache=True)
def slip_speeds(legs: Legs, q: Array, v: Array) -> Array:
    """Horizontal speeds (4,) of the lowest points of the foot spheres, q (19), v (18) [m/s]."""
    rotation = rotation_from_quaternion(q[3:7])
    _, feet, rolling = leg_measurements(legs, rotation, v[3:6], q[7:], v[6:], legs.foot_radius)
    slip = rotation @ v[:3] + feet - rolling
    return np.sqrt(slip[:, 0] ** 2 + slip[:, 1] ** 2)
