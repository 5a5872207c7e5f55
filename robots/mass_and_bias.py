"""M(q) and h(q, v) of M a + h = tau, compiled: what forward dynamics need of a tree."""

from __future__ import annotations

import numpy as np
from numba import njit

from robots.inverse_dynamics import inertias_of, motions_of, project_inward
from robots.kinematic_tree import JointFrames, Tree
from robots.rotations import Array
from robots.vectors import Vector, cross, triple, unit


@njit(cache=True)
def mass_and_bias(
    tree: Tree, frames: JointFrames, upward: Vector, v: Array, M: Array, h: Array
) -> None:
    """Write M (nv, nv), the armature included, and h (nv).

    Args:
        tree: the robot; frames: of its joints.
        upward: minus gravity in the base [m/s^2].
        v: velocity (nv), as in `robots.state`.
        M, h: filled.
    """
    motions = motions_of(tree, frames, upward, v, np.zeros(v.shape[0]))
    moments, J, B, force = inertias_of(tree, frames, motions)
    S, parents, armature, row_of = motions.S, tree.parent, tree.armature, np.empty((2, 6))
    M[:] = 0.0
    first = triple(moments[0, 1:])
    for j in range(3):
        moment = cross(first, unit(j))
        M[j, j] = moments[0, 0]
        for i in range(3):
            M[3 + i, j] = M[j, 3 + i] = moment[i]
            M[3 + i, 3 + j] = J[0, i, j]
    for i in range(6):
        h[i] = force[0, i]
    for k in range(S.shape[0]):
        project_inward(S[k], moments[k + 1], J[k + 1], B[k + 1], row_of)
        row, j = 6 + k, k
        h[row] = 0.0
        for i in range(6):
            M[row, i] = M[i, row] = row_of[0, i]
            h[row] += S[k, i] * force[k + 1, i]
        while j >= 0:
            m = 0.0
            for i in range(6):
                m += S[j, i] * row_of[0, i]
            M[row, 6 + j] = M[6 + j, row] = m
            j = parents[j] - 1
        M[row, row] += armature[k]
