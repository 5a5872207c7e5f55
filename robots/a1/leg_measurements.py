"""What four legs say about the base: encoders and gyroscope, turned into the world frame."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.a1.constants import FOOT_RADIUS
from robots.a1.kinematics import foot_jacobians_in_base, foot_positions_in_base
from robots.rotations import rotation_from_quaternion

Array = NDArray[np.float64]


@njit(cache=True)
def calf_angular_velocity_in_base(omega: Array, joints: Array, joint_velocities: Array) -> Array:
    """Angular velocity of one calf [rad/s], base axes (3).

    The hip turns about x; thigh and calf turn about the y axis that the hip has turned.
    omega (3) of the base [rad/s], joints (3) [rad], joint_velocities (3) [rad/s].
    """
    pitch_rate = joint_velocities[1] + joint_velocities[2]
    result = omega.copy()
    result[0] += joint_velocities[0]
    result[1] += np.cos(joints[0]) * pitch_rate
    result[2] += np.sin(joints[0]) * pitch_rate
    return result


@njit(cache=True)
def cross(a: Array, b: Array) -> Array:
    """The cross product of two (3) vectors; numpy's own is slow in compiled code."""
    return np.array(
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    )


@njit(cache=True)
def leg_measurements(
    rotation: Array, omega: Array, joints: Array, joint_velocities: Array, foot_radius: float
) -> tuple[Array, Array, Array]:
    """Foot positions, foot velocities and rolling velocities (4, 3) each, world axes.

    positions: R r_i(q), foot centre relative to the base [m].
    velocities: R (omega x r_i + J_i dq), of the foot centre relative to the base [m/s]
        (Bledt et al. 2018, the time derivative of the former).
    rolling: R omega_calf x (foot_radius e_z), velocity in the world of the centre of a foot that
        rolls on flat ground without slipping [m/s]; "velocity zero" holds at the contact point.
    rotation (3, 3) base to world, omega (3) [rad/s] base, joints (12) [rad], their velocities (12).
    """
    feet = foot_positions_in_base(joints)
    jacobians = foot_jacobians_in_base(joints)
    positions = np.empty((4, 3))
    velocities = np.empty((4, 3))
    rolling = np.empty((4, 3))
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
def slip_speeds(q: Array, v: Array) -> Array:
    """Horizontal speeds (4,) of the lowest points of the foot spheres, q (19), v (18) [m/s]."""
    rotation = rotation_from_quaternion(q[3:7])
    _, feet, rolling = leg_measurements(rotation, v[3:6], q[7:], v[6:], FOOT_RADIUS)
    slip = rotation @ v[:3] + feet - rolling
    return np.sqrt(slip[:, 0] ** 2 + slip[:, 1] ** 2)
