"""One leg's inverse dynamics and its derivatives, in the axes of the base and about its origin.

The base stands at the origin of an inertial frame that coincides with it at this instant, and its
linear velocity is zero: dynamics does not depend on it. Letters: S joint motion, I_C and 2B_C
inertia and Coriolis matrix of a joint and all beyond it, f_C the force it transmits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.leg_tree import LegTree
from robots.rotations import Array
from robots.spatial import (
    add_matrix,
    add_scaled,
    cross,
    cross_add,
    dot6,
    force_cross_add,
    motion_cross,
    multiply,
    multiply6,
    rigid_inertia,
    twice_coriolis,
)


class Legs(NamedTuple):
    """Working memory: what the passes over the legs leave behind."""

    S: Array  # (4, 3, 6) motion of each joint
    z: Array  # (4, 3, 3) axis of each joint
    J: Array  # (4, 3, 3) J[i, l] = velocity of foot i for unit speed of its joint l
    H: Array  # (4, 3, 3, 3) H[i, k, l] = d J[i, k] / d q_l
    p: Array  # (4, 3) foot
    I: Array  # (4, 3, 6, 6) inertia of each link  # noqa: E741
    I_C: Array  # (4, 3, 6, 6)
    v: Array  # (4, 3, 6) velocity of each link
    M_b: Array  # (4, 3, 6) I_C S: coupling of base and joint
    M: Array  # (4, 3, 3) joint-space inertia, rotors included
    bias: Array  # (4, 3) joint torques of motion and gravity without acceleration
    base_bias: Array  # (6) wrench of the same on the base, the base's own included
    drift: Array  # (4, 3) acceleration of the foot without that of base and joints


@njit(cache=True)
def make_legs() -> Legs:
    """Allocate."""
    return Legs(
        np.empty((4, 3, 6)), np.empty((4, 3, 3)), np.empty((4, 3, 3)), np.empty((4, 3, 3, 3)),
        np.empty((4, 3)), np.empty((4, 3, 6, 6)), np.empty((4, 3, 6, 6)), np.empty((4, 3, 6)),
        np.empty((4, 3, 6)), np.empty((4, 3, 3)), np.empty((4, 3)), np.empty(6), np.empty((4, 3)),
    )  # fmt: skip


@njit(cache=True)
def _turn(axis: Array, angle: float, rotation: Array) -> None:
    """rotation (3, 3) <- rotation @ exp(angle [axis]x) for a coordinate axis."""
    cosine, sine = np.cos(angle), np.sin(angle)
    i = 0 if axis[0] != 0.0 else (1 if axis[1] != 0.0 else 2)
    j, k = (i + 1) % 3, (i + 2) % 3
    for r in range(3):
        a, b = rotation[r, j], rotation[r, k]
        rotation[r, j] = cosine * a + sine * b
        rotation[r, k] = cosine * b - sine * a


@njit(cache=True)
def place_leg(tree: LegTree, i: int, q: Array, legs: Legs) -> None:
    """Kinematics and inertias of leg i at its joint angles q (3)."""
    rotation, p = np.eye(3), np.zeros((3, 3))
    com, arm, work, central = np.empty(3), np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    for k in range(3):
        multiply(rotation, tree.offset[i, k], p[k])
        if k > 0:
            add_scaled(1.0, p[k - 1], p[k])
        _turn(tree.axis[i, k], q[k], rotation)
        multiply(rotation, tree.axis[i, k], legs.z[i, k])
        cross(p[k], legs.z[i, k], legs.S[i, k, :3])
        legs.S[i, k, 3:] = legs.z[i, k]
        multiply(rotation, tree.com[i, k], com)
        add_scaled(1.0, p[k], com)
        for r in range(3):
            multiply(tree.inertia[i, k], rotation[r], work[r])
        for r in range(3):
            multiply(work, rotation[r], central[r])
        rigid_inertia(tree.mass[i, k], com, central, legs.I[i, k])
    multiply(rotation, tree.foot[i], legs.p[i])
    add_scaled(1.0, p[2], legs.p[i])
    for k in range(3):
        arm[:] = legs.p[i]
        add_scaled(-1.0, p[k], arm)
        cross(legs.z[i, k], arm, legs.J[i, k])
    for k in range(3):
        for m in range(3):
            cross(legs.z[i, min(k, m)], legs.J[i, max(k, m)], legs.H[i, k, m])


@njit(cache=True)
def pose_leg(tree: LegTree, i: int, w: Array, gravity: Array, qd: Array, legs: Legs) -> None:
    """Inertia matrix, bias and drift of leg i; adds to the base's bias.

    Args:
        tree: the robot.
        i: leg, placed.
        w: angular velocity of the base (3) [rad/s].
        gravity: in the base's axes (3) [m/s^2].
        qd: joint velocities (3) [rad/s].
        legs: filled.
    """
    velocity, acceleration, change = np.zeros(6), np.zeros(6), np.empty(6)
    force, momentum = np.zeros((3, 6)), np.empty(6)
    velocity[3:] = w
    add_scaled(-1.0, gravity, acceleration[:3])
    for k in range(3):
        S, I = legs.S[i, k], legs.I[i, k]  # noqa: E741
        motion_cross(velocity, S, change)
        add_scaled(qd[k], change, acceleration)
        add_scaled(qd[k], S, velocity)
        legs.v[i, k] = velocity
        multiply6(I, acceleration, force[k])
        multiply6(I, velocity, momentum)
        force_cross_add(velocity, momentum, force[k])
    legs.I_C[i, 2] = legs.I[i, 2]
    for k in (1, 0):
        legs.I_C[i, k] = legs.I[i, k]
        add_matrix(legs.I_C[i, k + 1], legs.I_C[i, k])
        add_scaled(1.0, force[k + 1], force[k])
    add_scaled(1.0, force[0], legs.base_bias)
    for k in range(3):
        legs.bias[i, k] = dot6(legs.S[i, k], force[k])
        multiply6(legs.I_C[i, k], legs.S[i, k], legs.M_b[i, k])
        for m in range(k + 1):
            legs.M[i, k, m] = legs.M[i, m, k] = dot6(legs.S[i, m], legs.M_b[i, k])
        legs.M[i, k, k] += tree.armature[i, k]
    _drift(i, w, qd, legs)


@njit(cache=True)
def _drift(i: int, w: Array, qd: Array, legs: Legs) -> None:
    """w x (w x p) + 2 w x (J qd) + Jdot qd of foot i."""
    inner, relative = np.empty(3), np.zeros(3)
    drift = legs.drift[i]
    drift[:] = 0.0
    for k in range(3):
        add_scaled(qd[k], legs.J[i, k], relative)
        for m in range(3):
            add_scaled(qd[k] * qd[m], legs.H[i, k, m], drift)
    cross(w, legs.p[i], inner)
    add_scaled(2.0, relative, inner)
    cross_add(w, inner, drift)


@njit(cache=True)
def differentiate_leg(
    i: int, w: Array, base_acceleration: Array, qd: Array, qdd: Array, legs: Legs,
    I_base: Array, B_base: Array, to_q: Array, to_qd: Array,
    torque_to_w: Array, torque_to_q: Array, torque_to_qd: Array,
) -> None:  # fmt: skip
    """Derivatives of leg i's inverse dynamics, without the foot's force.

    Singh, Russell, Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial
    vector algebra" (2022), (25)-(28), with the base as the parent of the first joint.

    Args:
        i: leg, posed.
        w: angular velocity of the base (3).
        base_acceleration: (6) of the base less gravity.
        qd, qdd: of the joints (3).
        legs: posed.
        I_base, B_base: (6, 6), to which the leg's I_C and 2 B_C are added.
        to_q, to_qd: wrench on the base for a change of each joint (3, 6).
        torque_to_w, torque_to_q, torque_to_qd: (3, 3), row: joint torque, column: variable.
    """
    momentum, work = np.empty(6), np.empty((6, 6))
    velocity, acceleration = np.zeros(6), base_acceleration.copy()
    velocity[3:] = w
    psi_d, psi_dd, f = np.empty((3, 6)), np.empty((3, 6)), np.empty((3, 6))
    B, carried = np.empty((3, 6, 6)), np.empty(6)
    for k in range(3):
        S, I = legs.S[i, k], legs.I[i, k]  # noqa: E741
        motion_cross(velocity, S, psi_d[k])
        motion_cross(velocity, psi_d[k], psi_dd[k])
        motion_cross(acceleration, S, carried)
        add_scaled(1.0, carried, psi_dd[k])
        add_scaled(qdd[k], S, acceleration)
        add_scaled(qd[k], psi_d[k], acceleration)
        velocity[:] = legs.v[i, k]
        multiply6(I, acceleration, f[k])
        multiply6(I, velocity, momentum)
        force_cross_add(velocity, momentum, f[k])
        twice_coriolis(I, velocity, momentum, work, B[k])
    for k in (1, 0):
        add_matrix(B[k + 1], B[k])
        add_scaled(1.0, f[k + 1], f[k])
    add_matrix(legs.I_C[i, 0], I_base)
    add_matrix(B[0], B_base)
    _project(i, legs, B, psi_d, psi_dd, f, to_q, to_qd, torque_to_q, torque_to_qd)
    _to_base_rotation(i, w, legs, B, torque_to_w)


@njit(cache=True)
def _project(
    i: int, legs: Legs, B: Array, psi_d: Array, psi_dd: Array, f: Array,
    to_q: Array, to_qd: Array, torque_to_q: Array, torque_to_qd: Array,
) -> None:  # fmt: skip
    """Wrench and torques for a change of each joint's angle and velocity."""
    left = np.empty(6)
    for j in range(3):
        I_C, S = legs.I_C[i, j], legs.S[i, j]
        for r in range(6):
            to_q[j, r] = dot6(B[j, r], psi_d[j]) + dot6(I_C[r], psi_dd[j])
            to_qd[j, r] = dot6(B[j, r], S) + 2.0 * dot6(I_C[r], psi_d[j])
        force_cross_add(S, f[j], to_q[j])
        for k in range(j + 1):  # torques of the joints before it
            torque_to_q[k, j] = dot6(legs.S[i, k], to_q[j])
            torque_to_qd[k, j] = dot6(legs.S[i, k], to_qd[j])
    for k in range(3):  # torques of the joints after it
        for c in range(6):
            left[c] = 0.0
            for r in range(6):
                left[c] += legs.S[i, k, r] * B[k, r, c]
        for j in range(k):
            M_b, S = legs.M_b[i, k], legs.S[i, j]
            torque_to_q[k, j] = dot6(left, psi_d[j]) + dot6(M_b, psi_dd[j])
            torque_to_qd[k, j] = dot6(left, S) + 2.0 * dot6(M_b, psi_d[j])


@njit(cache=True)
def _to_base_rotation(i: int, w: Array, legs: Legs, B: Array, torque_to_w: Array) -> None:
    """Torques for a change of the base's angular velocity."""
    for k in range(3):
        for axis in range(3):
            total = 0.0
            for r in range(6):
                total += legs.S[i, k, r] * B[k, r, 3 + axis]
            torque_to_w[k, axis] = total
        # I_C (v x S) of a unit rotation: w x e in the angular part
        torque_to_w[k, 0] += legs.M_b[i, k, 4] * w[2] - legs.M_b[i, k, 5] * w[1]
        torque_to_w[k, 1] += legs.M_b[i, k, 5] * w[0] - legs.M_b[i, k, 3] * w[2]
        torque_to_w[k, 2] += legs.M_b[i, k, 3] * w[1] - legs.M_b[i, k, 4] * w[0]
