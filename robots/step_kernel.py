"""Derivatives of the discrete step at every knot of a trajectory, in one compiled call.

The same dynamics as `ContactDynamics`, (3.59)-(3.60), solved leg by leg: the six equations of the
base remain once each standing leg's joints follow from its foot, qdd = J^-1 (gamma - X b), and
each swinging leg's from its torques. b = [c, alpha] is the base's classical acceleration in its
own axes, X = [1, -[p]x] carries it to the foot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.leg_kernel import Legs, differentiate_leg, make_legs, place_leg, pose_leg
from robots.leg_tree import LegTree
from robots.rotations import Array, rotation_from_quaternion
from robots.spatial import (
    add_matrix,
    add_scaled,
    cross,
    cross_add,
    force_cross_add,
    multiply6,
    twice_coriolis,
)
from robots.step_assembly import assemble_step

COLUMNS = 42  # of the derivatives: attitude 3, joints 12, turning 3, joint speeds 12, torques 12
_Q, _W, _QD, _TAU = 3, 15, 18, 30  # where the joints', w, joint speeds, torques columns begin


class Elimination(NamedTuple):
    """The reduced system of one contact set and configuration."""

    H: Array  # (6, 6) of the base, legs eliminated
    G: Array  # (4, 3, 3) J^-1 of standing legs, M^-1 of swinging ones
    P: Array  # (4, 3, 6) joints' acceleration = G r - P b


@njit(cache=True, error_model="numpy")
def invert3(m: Array, out: Array) -> None:
    """Write the inverse of m (3, 3)."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        cross(m[j], m[k], out[i])
    inverse = 1.0 / (m[0, 0] * out[0, 0] + m[0, 1] * out[0, 1] + m[0, 2] * out[0, 2])
    for i in range(3):
        for j in range(i, 3):
            out[i, j], out[j, i] = inverse * out[j, i], inverse * out[i, j]


@njit(cache=True)
def _carry(p: Array, out: Array) -> None:
    """Write X = [1, -[p]x] (3, 6)."""
    out[:] = 0.0
    for i in range(3):
        out[i, i] = 1.0
    out[0, 4], out[0, 5] = p[2], -p[1]
    out[1, 3], out[1, 5] = -p[2], p[0]
    out[2, 3], out[2, 4] = p[1], -p[0]


@njit(cache=True)
def eliminate(base_inertia: Array, legs: Legs, contacts: Array, e: Elimination) -> None:
    """Fill `e` for placed and posed legs; base_inertia (6, 6) is the whole robot's.

    Standing: H -= M_b P + P' M_b' - P' M P with P = J^-1 X; swinging: H -= M_b M^-1 M_b'.
    """
    X, jacobian, MP = np.empty((3, 6)), np.empty((3, 3)), np.empty((3, 6))
    e.H[:] = base_inertia
    for i in range(4):
        M_b, M, P = legs.M_b[i], legs.M[i], e.P[i]
        if contacts[i] > 0.5:
            for k in range(3):
                jacobian[:, k] = legs.J[i, k]
            invert3(jacobian, e.G[i])
            _carry(legs.p[i], X)
        else:
            invert3(M, e.G[i])
            X[:] = M_b
        for k in range(3):
            for c in range(6):
                P[k, c] = e.G[i, k, 0] * X[0, c] + e.G[i, k, 1] * X[1, c] + e.G[i, k, 2] * X[2, c]
        if contacts[i] > 0.5:
            for k in range(3):
                for c in range(6):
                    MP[k, c] = M[k, 0] * P[0, c] + M[k, 1] * P[1, c] + M[k, 2] * P[2, c]
            for r in range(6):
                for c in range(6):
                    for k in range(3):
                        e.H[r, c] += P[k, r] * (MP[k, c] - M_b[k, c]) - M_b[k, r] * P[k, c]
        else:
            for r in range(6):
                for c in range(6):
                    for k in range(3):
                        e.H[r, c] -= M_b[k, r] * P[k, c]


@njit(cache=True, error_model="numpy")
def factor(H: Array) -> None:
    """Overwrite the lower triangle of H (6, 6), symmetric positive definite, by its factor."""
    for j in range(6):
        for k in range(j):
            for i in range(j, 6):
                H[i, j] -= H[i, k] * H[j, k]
        root = np.sqrt(H[j, j])
        for i in range(j, 6):
            H[i, j] /= root


@njit(cache=True)
def solve_columns(
    e: Elimination, legs: Legs, contacts: Array, base: Array, joints: Array, feet: Array,
    out: Array,
) -> None:  # fmt: skip
    """Solve the constrained dynamics for n right-hand sides.

    Args:
        e: eliminated, H factored.
        legs: posed.
        contacts: (4).
        base: (6, n) wrench on the base, overwritten by its acceleration.
        joints: (4, 3, n) torques.
        feet: (4, 3, n) accelerations that standing feet have to make up for.
        out: (18, n) accelerations.
    """
    n = base.shape[1]
    for i in range(4):
        G, M, M_b, P, rows = e.G[i], legs.M[i], legs.M_b[i], e.P[i], out[6 + 3 * i : 9 + 3 * i]
        right = feet[i] if contacts[i] > 0.5 else joints[i]
        for k in range(3):
            for c in range(n):
                rows[k, c] = G[k, 0] * right[0, c] + G[k, 1] * right[1, c] + G[k, 2] * right[2, c]
        for r in range(6):
            for k in range(3):
                coupling = M_b[k, r]
                for c in range(n):
                    base[r, c] -= coupling * rows[k, c]
        if contacts[i] > 0.5:
            for k in range(3):
                for c in range(n):
                    joints[i, k, c] -= (
                        M[k, 0] * rows[0, c] + M[k, 1] * rows[1, c] + M[k, 2] * rows[2, c]
                    )
            for r in range(6):
                for k in range(3):
                    coupling = P[k, r]
                    for c in range(n):
                        base[r, c] -= coupling * joints[i, k, c]
    _solve_factored(e.H, base)
    out[:6] = base
    for i in range(4):
        for k in range(3):
            for r in range(6):
                coupling = e.P[i, k, r]
                for c in range(n):
                    out[6 + 3 * i + k, c] -= coupling * base[r, c]


@njit(cache=True, error_model="numpy")
def _solve_factored(L: Array, Y: Array) -> None:
    """Y (6, n) <- (L L')^-1 Y."""
    n = Y.shape[1]
    for i in range(6):
        for j in range(i):
            for c in range(n):
                Y[i, c] -= L[i, j] * Y[j, c]
        inverse = 1.0 / L[i, i]
        for c in range(n):
            Y[i, c] *= inverse
    for i in range(5, -1, -1):
        for j in range(i + 1, 6):
            for c in range(n):
                Y[i, c] -= L[j, i] * Y[j, c]
        inverse = 1.0 / L[i, i]
        for c in range(n):
            Y[i, c] *= inverse


@njit(cache=True)
def acceleration_derivatives(
    tree: LegTree, q: Array, v: Array, tau: Array, contacts: Array, legs: Legs, e: Elimination,
    a: Array, a_q: Array, a_v: Array, a_tau: Array,
) -> None:  # fmt: skip
    """Write a (18) and its derivatives a_q, a_v (18, 18), a_tau (18, 12), in the local tangent."""
    w, qd = v[3:6], v[6:].reshape(4, 3)
    gravity = rotation_from_quaternion(q[3:7]).T @ tree.gravity
    b, f = np.empty(6), np.zeros((4, 3))
    qdd = _accelerate(tree, q, w, qd, tau, contacts, gravity, legs, e, b, f)
    base, joints = np.zeros((6, COLUMNS)), np.zeros((4, 3, COLUMNS))
    feet, out = np.zeros((4, 3, COLUMNS)), np.empty((18, COLUMNS))
    _inertial_columns(tree, w, qd, qdd, b, f, contacts, gravity, legs, base, joints)
    for i in range(4):
        for k in range(3):
            joints[i, k, _TAU + 3 * i + k] = 1.0
        if contacts[i] > 0.5:
            _foot_columns(i, w, b, qd[i], qdd[i], legs, feet[i])
    solve_columns(e, legs, contacts, base, joints, feet, out)
    _unpack(v, b, qdd, out, a, a_q, a_v, a_tau)


@njit(cache=True)
def _accelerate(
    tree: LegTree, q: Array, w: Array, qd: Array, tau: Array, contacts: Array, gravity: Array,
    legs: Legs, e: Elimination, b: Array, f: Array,
) -> Array:  # fmt: skip
    """Place, pose and eliminate; write b (6) and the feet's forces f (4, 3); return qdd (4, 3)."""
    momentum, twist, still = np.empty(6), np.zeros(6), np.zeros(6)
    twist[3:], still[:3] = w, -gravity
    multiply6(tree.base_inertia, still, legs.base_bias)
    multiply6(tree.base_inertia, twist, momentum)
    force_cross_add(twist, momentum, legs.base_bias)
    inertia = tree.base_inertia.copy()
    joints, feet = np.empty((4, 3, 1)), np.empty((4, 3, 1))
    for i in range(4):
        place_leg(tree, i, q[7 + 3 * i : 10 + 3 * i], legs)
        pose_leg(tree, i, w, gravity, qd[i], legs)
        add_matrix(legs.I_C[i, 0], inertia)
        for k in range(3):
            joints[i, k, 0] = tau[3 * i + k] - legs.bias[i, k]
            feet[i, k, 0] = -legs.drift[i, k]
    eliminate(inertia, legs, contacts, e)
    factor(e.H)
    base, out, torques = -legs.base_bias.reshape(6, 1), np.empty((18, 1)), joints.copy()
    solve_columns(e, legs, contacts, base, joints, feet, out)
    b[:] = out[:6, 0]
    qdd = out[6:, 0].copy().reshape(4, 3)
    for i in range(4):
        if contacts[i] > 0.5:
            _foot_force(i, b, qdd[i], torques[i, :, 0], legs, e.G[i], f[i])
    return qdd


@njit(cache=True)
def _foot_force(
    i: int, b: Array, qdd: Array, torques: Array, legs: Legs, inverse: Array, f: Array
) -> None:
    """f = J^-T (M_b' b + M qdd - torques), in the base's axes [N]."""
    for k in range(3):
        total = -torques[k]
        for c in range(6):
            total += legs.M_b[i, k, c] * b[c]
        for c in range(3):
            total += legs.M[i, k, c] * qdd[c]
        for r in range(3):
            f[r] += inverse[k, r] * total


@njit(cache=True)
def _inertial_columns(
    tree: LegTree, w: Array, qd: Array, qdd: Array, b: Array, f: Array, contacts: Array,
    gravity: Array, legs: Legs, base: Array, joints: Array,
) -> None:  # fmt: skip
    """Minus the derivatives of inverse dynamics less the feet's forces: base (6), joints (4, 3)."""
    momentum, twist, work, B = np.empty(6), np.zeros(6), np.empty((6, 6)), np.empty((6, 6))
    twist[3:] = w
    felt, inertia = b.copy(), tree.base_inertia.copy()
    felt[:3] -= gravity
    multiply6(inertia, twist, momentum)
    twice_coriolis(inertia, twist, momentum, work, B)
    to_q, to_qd = np.empty((3, 6)), np.empty((3, 6))
    to_w, by_q, by_qd = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    turn = np.empty((3, 3))  # [g]x: the change of gravity in the base's axes as the base turns
    turn[0, 0] = turn[1, 1] = turn[2, 2] = 0.0
    turn[0, 1], turn[0, 2], turn[1, 2] = -gravity[2], gravity[1], -gravity[0]
    turn[1, 0], turn[2, 0], turn[2, 1] = gravity[2], -gravity[1], gravity[0]
    for i in range(4):
        differentiate_leg(
            i, w, felt, qd[i], qdd[i], legs, inertia, B, to_q, to_qd, to_w, by_q, by_qd
        )
        for j in range(3):
            at = _Q + 3 * i + j
            if contacts[i] > 0.5:
                cross_add(f[i], legs.J[i, j], to_q[j, 3:])  # less J x f
            for r in range(6):
                base[r, at] = -to_q[j, r]
                base[r, _QD + 3 * i + j] = -to_qd[j, r]
            for k in range(3):
                joints[i, k, at] = -by_q[k, j]
                joints[i, k, _QD + 3 * i + j] = -by_qd[k, j]
                joints[i, k, _W + j] = -to_w[k, j]
                if contacts[i] > 0.5:
                    for r in range(3):
                        joints[i, k, at] += legs.H[i, k, j, r] * f[i, r]
                for r in range(3):
                    joints[i, k, j] += legs.M_b[i, k, r] * turn[r, j]
    for r in range(6):
        for j in range(3):
            base[r, _W + j] = -B[r, 3 + j]
            for k in range(3):
                base[r, j] += inertia[r, k] * turn[k, j]
        base[r, _W] -= inertia[r, 4] * w[2] - inertia[r, 5] * w[1]
        base[r, _W + 1] -= inertia[r, 5] * w[0] - inertia[r, 3] * w[2]
        base[r, _W + 2] -= inertia[r, 3] * w[1] - inertia[r, 4] * w[0]


@njit(cache=True)
def _foot_columns(
    i: int, w: Array, b: Array, qd: Array, qdd: Array, legs: Legs, out: Array
) -> None:
    """Minus the derivatives of the foot's acceleration, out (3, 42).

    acceleration = c + alpha x p + w x (w x p) + 2 w x (J qd) + J qdd + Jdot qd
    """
    H, J, z, p = legs.H[i], legs.J[i], legs.z[i], legs.p[i]
    speed, change = np.empty(3), np.empty(3)
    tilt, swing, relative, unit = np.empty(3), np.empty(3), np.zeros(3), np.zeros(3)
    for k in range(3):
        add_scaled(qd[k], J[k], relative)
    for m in range(3):
        speed[:], change[:] = 0.0, 0.0
        for k in range(3):
            add_scaled(qd[k], H[k, m], speed)  # d (J qd) / d q_m
            add_scaled(qdd[k], H[k, m], change)
            for j in range(3):  # d H[k, j] / d q_m, where H[k, j] = z_low x J_high
                low, high = min(k, j), max(k, j)
                cross(z[low], H[high, m], swing)
                if m < low:
                    cross(z[m], z[low], tilt)
                    cross_add(tilt, J[high], swing)
                add_scaled(qd[k] * qd[j], swing, change)
        cross_add(b[3:], J[m], change)
        cross(w, J[m], swing)
        for r in range(3):
            out[r, _QD + 3 * i + m] = -2.0 * (swing[r] + speed[r])
        add_scaled(2.0, speed, swing)
        cross_add(w, swing, change)
        for r in range(3):
            out[r, _Q + 3 * i + m] = -change[r]
        unit[:] = 0.0
        unit[m] = 1.0
        cross(w, p, swing)
        add_scaled(2.0, relative, swing)
        cross(unit, swing, change)
        cross(unit, p, swing)
        cross_add(w, swing, change)
        for r in range(3):
            out[r, _W + m] = -change[r]


@njit(cache=True)
def _unpack(
    v: Array, b: Array, qdd: Array, out: Array, a: Array, a_q: Array, a_v: Array, a_tau: Array
) -> None:
    """From the classical acceleration c of the base to its a = c - w x v, the derivative of v."""
    a[:6], a[6:] = b, qdd.ravel()
    a_q[:, :3] = 0.0
    a_q[:, 3:6], a_q[:, 6:] = out[:, :_Q], out[:, _Q:_W]
    a_v[:, :3] = 0.0
    a_v[:, 3:6], a_v[:, 6:] = out[:, _W:_QD], out[:, _QD:_TAU]
    a_tau[:] = out[:, _TAU:]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        a[i] -= v[3 + j] * v[k] - v[3 + k] * v[j]
        a_v[i, j] += v[3 + k]
        a_v[i, k] -= v[3 + j]
        a_v[i, 3 + j] -= v[k]
        a_v[i, 3 + k] += v[j]


@njit(cache=True, nogil=True)
def linearise_steps(
    tree: LegTree, states: Array, inputs: Array, contacts: Array, dt: float, first: int, last: int,
    A: Array, B: Array,
) -> None:  # fmt: skip
    """Write the derivatives of the semi-implicit step at the knots from `first` to before `last`.

    Args:
        tree: the robot.
        states: x = [q, v] (N or more, 37).
        inputs: joint torques (N, 12) [N m].
        contacts: (N, 4), above 0.5 where a foot stands.
        dt: [s].
        first, last: knots.
        A: (N, 36, 36), filled; B: (N, 36, 12), filled.
    """
    legs = make_legs()
    e = Elimination(np.empty((6, 6)), np.empty((4, 3, 3)), np.empty((4, 3, 6)))
    a, a_q, a_v, a_tau = np.empty(18), np.empty((18, 18)), np.empty((18, 18)), np.empty((18, 12))
    for k in range(first, last):
        q, v = states[k, :19], states[k, 19:]
        acceleration_derivatives(tree, q, v, inputs[k], contacts[k], legs, e, a, a_q, a_v, a_tau)
        assemble_step(v, a, a_q, a_v, a_tau, dt, A[k], B[k])
