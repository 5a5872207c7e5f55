"""The reference of one planning horizon, from a base path and footholds, in one compiled call.

Inverse dynamics give what the base's motion needs; ridge regression shares it among the standing
feet, whose forces are then brought into their friction pyramids.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from controller.driving.course import HEIGHT
from controller.driving.footholds import feet_in_base, place_feet, tilt_of
from robots.conventions import GRAVITY
from robots.inverse_dynamics import forces_of, motions_of
from robots.kinematic_tree import Tree, joint_frames
from robots.legs import Legs, foot_jacobians_in_base, foot_positions_in_base, inverse_kinematics
from robots.rotations import Array
from robots.vectors import Vector, apply_transposed, cross, dot, triple
from saltation.cholesky import factorise, solve_lower, solve_lower_transposed

FRICTION: Final = 0.5  # of the pyramid that forces stay in, below the real one
RIDGE: Final = 1e-6  # weight of the squared forces against the base's squared wrench
SINGULAR = 1e-5  # [m^3] of a leg's Jacobian, below which its joints are taken not to move


@njit(cache=True)
def share_wrench(wrench: Array, feet: Array, standing: Array, forces: Array) -> None:
    """Write forces (4, 3) [N] of the standing feet whose wrench on the base is nearly `wrench`.

    They minimise |A f - wrench|^2 + RIDGE |f|^2, and are then clipped: pushing, and inside the
    friction pyramid.

    Args:
        wrench: (6) force [N] and moment [N m] about the base, in its axes.
        feet: (4, 3) where they push, in the base [m]; standing: (4) 1 on the ground.
        forces: (4, 3) written; zero of feet in the air.
    """
    # A A' by blocks: sums of 1, of [p]x, and of [p]x [p]x' = |p|^2 - p p'.
    H, L, Y = np.zeros((6, 6)), np.zeros((6, 6)), np.empty((6, 1))
    for i in range(4):
        if standing[i] < 0.5:
            continue
        x, y, z = p = feet[i]
        for j in range(3):
            H[j, j] += 1.0
            H[3 + j, 3 + j] += x * x + y * y + z * z
            for r in range(3):
                H[3 + j, 3 + r] -= p[j] * p[r]
        H[3, 1], H[3, 2], H[4, 2] = H[3, 1] - z, H[3, 2] + y, H[4, 2] - x
    H[4, 0], H[5, 0], H[5, 1] = -H[3, 1], -H[3, 2], -H[4, 2]
    H[:3, 3:] = H[3:, :3].T
    for i in range(6):
        H[i, i] += RIDGE
        Y[i, 0] = wrench[i]
    forces[:] = 0.0
    if not factorise(H, L):
        return
    solve_lower(L, Y)
    solve_lower_transposed(L, Y)
    for i in range(4):
        if standing[i] < 0.5:
            continue
        x, y, z = feet[i]
        forces[i, 0] = Y[0, 0] + Y[4, 0] * z - Y[5, 0] * y
        forces[i, 1] = Y[1, 0] + Y[5, 0] * x - Y[3, 0] * z
        forces[i, 2] = max(0.0, Y[2, 0] + Y[3, 0] * y - Y[4, 0] * x)
        for j in range(2):
            most = FRICTION * forces[i, 2]
            forces[i, j] = min(most, max(-most, forces[i, j]))


@njit(cache=True)
def feed_forward(
    tree: Tree, joints: Array, v: Array, a: Array, upward: Vector, feet: Array, jacobians: Array,
    standing: Array, most: Array, torque: Array,
) -> None:  # fmt: skip
    """Write the torque (12) [N m] of a motion of the base.

    Args:
        tree: the robot.
        joints: (12) [rad]; v, a: velocity (18) and its derivative, as in `robots.state`.
        upward: gravity's opposite in the axes of the base [m/s^2].
        feet, jacobians: (4, 3), (4, 3, 3) of the joints, in the base.
        standing: (4) 1 on the ground.
        most: of the torques (12) [N m].
        torque: written.
    """
    frames = joint_frames(tree, joints)
    motions = motions_of(tree, frames, upward, v, a)
    force = forces_of(tree, frames, motions)
    forces = np.empty((4, 3))
    share_wrench(force[0], feet, standing, forces)
    for k in range(12):
        leg = k // 3
        torque[k] = tree.armature[k] * a[6 + k]
        for i in range(6):
            torque[k] += motions.S[k, i] * force[k + 1, i]
        for i in range(3):
            torque[k] -= jacobians[leg, i, k % 3] * forces[leg, i]
        torque[k] = min(most[k], max(-most[k], torque[k]))


@njit(cache=True)
def joint_rates(jacobian: Array, speed: Array, rates: Array) -> None:
    """Write the rates (3) [rad/s] that give a foot a speed (3) [m/s]; zeros of a stretched leg."""
    a, b, c = triple(jacobian[:, 0]), triple(jacobian[:, 1]), triple(jacobian[:, 2])
    rates[:] = 0.0
    ab, bc, ca = cross(a, b), cross(b, c), cross(c, a)
    volume = dot(ab, c)
    if abs(volume) < SINGULAR:
        return
    for i in range(3):
        rates[0] += bc[i] * speed[i] / volume
        rates[1] += ca[i] * speed[i] / volume
        rates[2] += ab[i] * speed[i] / volume


@njit(cache=True)
def tilt_base(pitch: float, roll: float, T: Array) -> None:
    """Write the axes of a base as columns (3, 3), in the level axes of its heading."""
    c, s, cr, sr = np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    T[0] = c, s * sr, s * cr
    T[1] = 0.0, cr, -sr
    T[2] = -s, c * sr, c * cr


@njit(cache=True)
def set_orientation(yaw: float, pitch: float, roll: float, quaternion: Array) -> None:
    """Write the quaternion x, y, z, w (4) of turns by yaw, then pitch, then roll."""
    cy, sy = np.cos(0.5 * yaw), np.sin(0.5 * yaw)
    cp, sp = np.cos(0.5 * pitch), np.sin(0.5 * pitch)
    cr, sr = np.cos(0.5 * roll), np.sin(0.5 * roll)
    quaternion[0] = cy * cp * sr - sy * sp * cr
    quaternion[1] = cy * sp * cr + sy * cp * sr
    quaternion[2] = sy * cp * cr - cy * sp * sr
    quaternion[3] = cy * cp * cr + sy * sp * sr


@njit(cache=True)
def fill_window(
    tree: Tree, legs: Legs, torque_limit: Array, path: Array, planes: Array, start: int,
    period: float, swings: Array, targets: Array, holds: Array, q: Array, v: Array, inputs: Array,
    contacts: Array,
) -> None:  # fmt: skip
    """Write the reference of N intervals from knot `start` on.

    The trunk is parallel to the plane below it; inverse kinematics give the joints. An interval's
    torque is that of its middle, with accelerations that are the differences of the velocities at
    its ends.

    Args:
        tree, legs: the robot; torque_limit: of its motors (12) [N m].
        path: (K, 7) of the base, K > N + 1, see `extend_path`; planes: (K, 3) see `fit_planes`.
        start: knot of its first row.
        period: between knots [s].
        swings, targets, holds: see `place_feet`.
        q, v, inputs, contacts: (N+1, 19), (N+1, 18), (N, 12), (N+1, 4), written.
    """
    n = len(inputs)
    feet, speeds, standing = np.empty((4, 3)), np.empty((4, 3)), np.empty(4)
    relative = np.empty((2, 4, 3))
    T, spin, upward = np.empty((3, 3)), np.empty(3), np.empty((n + 1, 3))
    for k in range(n + 1):
        base, height = path[k], path[k, HEIGHT] + planes[k, 0]
        height_rate = (path[k + 1, HEIGHT] + planes[k + 1, 0] - height) / period
        (pitch, roll), (next_pitch, next_roll) = tilt_of(planes[k]), tilt_of(planes[k + 1])
        tilt_base(pitch, roll, T)
        pitch_rate = (next_pitch - pitch) / period
        spin[0] = (next_roll - roll) / period
        spin[1], spin[2] = np.cos(roll) * pitch_rate, -np.sin(roll) * pitch_rate
        place_feet(start + k, period, swings, targets, holds, feet, speeds, contacts[k])
        feet_in_base(feet, speeds, base, height, height_rate, T, spin, relative)
        q[k, :3] = base[0], base[1], height
        set_orientation(base[2], pitch, roll, q[k, 3:7])
        q[k, 7:] = inverse_kinematics(legs, relative[0])
        v[k] = 0.0
        velocity = apply_transposed(T, (base[3], base[4], height_rate))
        turn = apply_transposed(T, (0.0, 0.0, base[5]))
        up = apply_transposed(T, (0.0, 0.0, GRAVITY))
        for i in range(3):
            v[k, i], v[k, 3 + i], upward[k, i] = velocity[i], turn[i] + spin[i], up[i]
        jacobians = foot_jacobians_in_base(legs, q[k, 7:])
        for leg in range(4):
            joint_rates(jacobians[leg], relative[1, leg], v[k, 6 + 3 * leg : 9 + 3 * leg])
    for k in range(n):
        place_feet(start + k + 0.5, period, swings, targets, holds, feet, speeds, standing)
        joints = 0.5 * (q[k, 7:] + q[k + 1, 7:])
        feed_forward(
            tree, joints, 0.5 * (v[k] + v[k + 1]), (v[k + 1] - v[k]) / period, triple(upward[k]),
            foot_positions_in_base(legs, joints), foot_jacobians_in_base(legs, joints), standing,
            torque_limit, inputs[k],
        )  # fmt: skip
