"""The reference of one planning horizon, from a base path and footholds, in one compiled call."""

from __future__ import annotations

import numpy as np
from numba import njit

from controller.driving.base_path import HEIGHT
from controller.driving.feedforward import feed_forward
from controller.driving.footholds import feet_in_base, place_feet
from robots.a1.kinematics import foot_jacobians_in_base, foot_positions_in_base, inverse_kinematics
from robots.kinematic_tree import Tree
from robots.rotations import Array

SINGULAR = 1e-5  # [m^3] of a leg's Jacobian, below which its joints are taken not to move


@njit(cache=True)
def joint_rates(jacobian: Array, speed: Array, rates: Array) -> None:
    """Write the rates (3) [rad/s] that give a foot a speed (3) [m/s]; zeros of a stretched leg."""
    a, b, c = jacobian[:, 0], jacobian[:, 1], jacobian[:, 2]
    rates[:] = 0.0
    ab = _cross(a, b)
    volume = ab[0] * c[0] + ab[1] * c[1] + ab[2] * c[2]
    if abs(volume) < SINGULAR:
        return
    bc, ca = _cross(b, c), _cross(c, a)
    for i in range(3):
        rates[0] += bc[i] * speed[i] / volume
        rates[1] += ca[i] * speed[i] / volume
        rates[2] += ab[i] * speed[i] / volume


@njit(cache=True)
def _cross(a: Array, b: Array) -> tuple[float, float, float]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def fill_window(
    tree: Tree, path: Array, start: int, period: float, swings: Array, targets: Array,
    holds: Array, q: Array, v: Array, inputs: Array, contacts: Array,
) -> None:  # fmt: skip
    """Write the reference of N intervals from knot `start` on.

    The trunk stays level; inverse kinematics give the joints. An interval's torque is that of its
    middle, with accelerations that are the differences of the velocities at its ends.

    Args:
        tree: the robot.
        path: (K, 7) of the base, K > N + 1, see `base_path`.
        start: knot of its first row.
        period: between knots [s].
        swings, targets, holds: see `place_feet`.
        q, v, inputs, contacts: (N+1, 19), (N+1, 18), (N, 12), (N+1, 4), written.
    """
    n = len(inputs)
    feet, speeds, standing = np.empty((4, 3)), np.empty((4, 3)), np.empty(4)
    relative = np.empty((2, 4, 3))
    for k in range(n + 1):
        base, height_rate = path[k], (path[k + 1, HEIGHT] - path[k, HEIGHT]) / period
        place_feet(start + k, period, swings, targets, holds, feet, speeds, contacts[k])
        feet_in_base(feet, speeds, base, height_rate, relative)
        q[k] = 0.0
        q[k, 0], q[k, 1], q[k, 2] = base[0], base[1], base[HEIGHT]
        q[k, 5], q[k, 6] = np.sin(0.5 * base[2]), np.cos(0.5 * base[2])
        q[k, 7:] = inverse_kinematics(relative[0])
        v[k] = 0.0
        v[k, 0], v[k, 1], v[k, 2], v[k, 5] = base[3], base[4], height_rate, base[5]
        jacobians = foot_jacobians_in_base(q[k, 7:])
        for leg in range(4):
            joint_rates(jacobians[leg], relative[1, leg], v[k, 6 + 3 * leg : 9 + 3 * leg])
    for k in range(n):
        place_feet(start + k + 0.5, period, swings, targets, holds, feet, speeds, standing)
        joints = 0.5 * (q[k, 7:] + q[k + 1, 7:])
        feed_forward(
            tree, joints, 0.5 * (v[k] + v[k + 1]), (v[k + 1] - v[k]) / period,
            foot_positions_in_base(joints), foot_jacobians_in_base(joints), standing, inputs[k],
        )  # fmt: skip
