"""The torques that a motion takes on its standing feet, compiled.

Inverse dynamics give what the base's motion needs; ridge regression shares it among the standing
feet, whose forces are then brought into their friction pyramids.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from hybrid.cholesky import factorise, solve_lower, solve_lower_transposed
from robots.inverse_dynamics import forces_of, motions_of
from robots.kinematic_tree import Tree, joint_frames
from robots.rotations import Array
from robots.vectors import Vector

FRICTION: Final = 0.5  # of the pyramid that forces stay in, below the real one
RIDGE: Final = 1e-6  # weight of the squared forces against the base's squared wrench


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
