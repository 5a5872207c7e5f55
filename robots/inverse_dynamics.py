"""Inverse dynamics of a floating base with legs, differentiated analytically and compiled.

    M(q) a + h(q, v) = tau

of a tree of revolute joints on a free body. Singh, Russell, Wensing, Efficient Analytical
Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra, RA-L 2022, in the coordinates of
the base: motions are [linear; angular], of a point at the base's origin. With S_j the axis of joint
j, V and a the velocity and the acceleration of the body before it, I_i, B_i, f_i the inertia, the
velocity terms and the force of all bodies from i outwards, and j at or before i in its leg:

    psi_j = V x S_j,   psi'_j = a x S_j + V x psi_j
    d tau_i / d q_j = S_i' (2 B_i psi_j + I_i psi'_j)
    d tau_j / d q_i = S_j' (2 B_i psi_i + I_i psi'_i + S_i x* f_i)
    d tau_i / d v_j = 2 S_i' (B_i S_j + I_i psi_j),   M_ij = S_i' I_i S_j

Of a rigid body with mass m, first moment h and inertia J about the base's origin, that moves with
V = [u; w] and has the momentum p = m u + w x h,

    B [x_u; x_w] = [x_w x p;  (w x (J - tr(J)/2) - h x u x) x_w]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.kinematic_tree import JointFrames, Tree
from robots.rotations import Array
from robots.vectors import (
    Vector,
    apply,
    apply_transposed,
    cross,
    dot,
    plus,
    times,
    triple,
    unit,
)


class Motions(NamedTuple):
    """Motions of bodies and joints, in the base; n joints."""

    velocity: Array  # (n + 1, 6) of the bodies
    acceleration: Array  # (n + 1, 6), with minus gravity
    S: Array  # (n, 6) of the joints
    psi: Array  # (n, 6)
    psi_dot: Array  # (n, 6) psi'


class Inertias(NamedTuple):
    """Inertia, velocity terms and force of each body, or of all bodies from it outwards."""

    moments: Array  # (n + 1, 7): m, h, p
    J: Array  # (n + 1, 3, 3)
    B: Array  # (n + 1, 3, 3): the lower right block
    force: Array  # (n + 1, 6): I a + V x* I V


@njit(cache=True)
def differentiate_inverse_dynamics(
    tree: Tree, frames: JointFrames, upward: Vector, v: Array, a: Array,
    M: Array, by_q: Array, by_v: Array,
) -> None:  # fmt: skip
    """Write M, d(M a + h)/dq in the local tangent, and d(M a + h)/dv, each (nv, nv).

    Args:
        tree: the robot; frames: of its joints.
        upward: minus gravity in the base [m/s^2].
        v: velocity (nv), as in `robots.state`.
        a: its derivative (nv).
        M, by_q, by_v: filled.
    """
    motions = motions_of(tree, frames, upward, v, a)
    inertias = inertias_of(tree, frames, motions)
    velocity, _, S, psi, psi_dot = motions
    moments, J, B, force = inertias
    _write_mass(tree, S, inertias, M)
    by_q[:] = 0.0
    by_v[:] = 0.0
    _base_block(velocity[0], upward, moments[0], J[0], B[0], by_q, by_v)
    ahead, behind = np.empty((2, 6)), np.empty((2, 6))
    for k in range(frames.axes.shape[0]):
        _outward(S[k], psi[k], psi_dot[k], moments[k + 1], J[k + 1], B[k + 1], force[k + 1], ahead)
        project_inward(S[k], moments[k + 1], J[k + 1], B[k + 1], behind)
        row = 6 + k
        by_q[:6, row], by_v[:6, row] = ahead[0], ahead[1]
        _base_columns(velocity[0], upward, behind, by_q[row], by_v[row])
        _leg(tree, S, psi, psi_dot, ahead, behind, k, by_q, by_v)


@njit(cache=True)
def motions_of(tree: Tree, frames: JointFrames, upward: Vector, v: Array, a: Array) -> Motions:
    """The pass from the base outwards."""
    n = frames.axes.shape[0]
    motions = Motions(
        np.empty((n + 1, 6)), np.empty((n + 1, 6)),
        np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6)),
    )  # fmt: skip
    velocity, acceleration, S, psi, psi_dot = motions
    velocity[0], acceleration[0] = v[:6], plus(triple(a), upward) + triple(a[3:])
    for k in range(n):
        parent = tree.parent[k]
        origin, z = triple(frames.origins[k]), triple(frames.axes[k])
        s = cross(origin, z)
        u, w = triple(velocity[parent]), triple(velocity[parent, 3:])
        b, beta = triple(acceleration[parent]), triple(acceleration[parent, 3:])
        x, y = plus(cross(w, s), cross(u, z)), cross(w, z)  # psi
        line = plus(plus(cross(beta, s), cross(b, z)), plus(cross(w, x), cross(u, y)))
        turn = plus(cross(beta, z), cross(w, y))
        S[k], psi[k], psi_dot[k] = s + z, x + y, line + turn
        rate, push = v[6 + k], a[6 + k]
        for i in range(6):
            velocity[k + 1, i] = velocity[parent, i] + rate * S[k, i]
            acceleration[k + 1, i] = acceleration[parent, i] + push * S[k, i] + rate * psi[k, i]
    return motions


@njit(cache=True)
def inertias_of(tree: Tree, frames: JointFrames, motions: Motions) -> Inertias:
    """The pass from the feet inwards: each body's terms with those of the bodies beyond it."""
    n = frames.axes.shape[0]
    inertias = Inertias(
        np.empty((n + 1, 7)), np.empty((n + 1, 3, 3)), np.empty((n + 1, 3, 3)),
        np.empty((n + 1, 6)),
    )  # fmt: skip
    moments, J, B, force = inertias
    for k in range(n + 1):
        origin = (0.0, 0.0, 0.0) if k == 0 else triple(frames.origins[k - 1])
        _body_terms(tree, k, origin, frames.rotations[k], motions.velocity[k],
                    motions.acceleration[k], moments[k], J[k], B[k], force[k])  # fmt: skip
    for k in range(n, 0, -1):
        parent = tree.parent[k - 1]
        for i in range(7):
            moments[parent, i] += moments[k, i]
        for i in range(6):
            force[parent, i] += force[k, i]
        for i in range(3):
            for j in range(3):
                J[parent, i, j] += J[k, i, j]
                B[parent, i, j] += B[k, i, j]
    return inertias


@njit(cache=True)
def forces_of(tree: Tree, frames: JointFrames, motions: Motions) -> Array:
    """The same pass for the forces alone, (n + 1, 6): all that inverse dynamics need."""
    n = frames.axes.shape[0]
    force = np.zeros((n + 1, 6))
    for k in range(n, -1, -1):
        frame, m, local = frames.rotations[k], tree.mass[k], tree.inertia[k]
        c = apply(frame, triple(tree.centre[k]))
        if k > 0:
            c = plus(triple(frames.origins[k - 1]), c)
        h = times(m, c)
        u, w = triple(motions.velocity[k]), triple(motions.velocity[k, 3:])
        a, alpha = triple(motions.acceleration[k]), triple(motions.acceleration[k, 3:])
        p = plus(times(m, u), cross(w, h))
        # J x = R I R' x + h x (x x c)
        spin = apply(frame, apply(local, apply_transposed(frame, w)))
        angular = plus(plus(spin, cross(h, cross(w, c))), cross(h, u))
        spin_up = apply(frame, apply(local, apply_transposed(frame, alpha)))
        f = plus(plus(times(m, a), cross(alpha, h)), cross(w, p))
        moment = plus(plus(spin_up, cross(h, cross(alpha, c))), cross(h, a))
        moment = plus(moment, plus(cross(u, p), cross(w, angular)))
        total = f + moment
        for i in range(6):
            force[k, i] += total[i]
            if k > 0:
                force[tree.parent[k - 1], i] += force[k, i]
    return force


@njit(cache=True)
def _body_terms(
    tree: Tree, body: int, origin: Vector, frame: Array, velocity: Array, acceleration: Array,
    moments: Array, inertia: Array, velocity_terms: Array, force: Array,
) -> None:  # fmt: skip
    """Write what one body adds to the sums over its leg.

    moments (7): m, h, p; inertia: J (3, 3); velocity_terms: the lower right block of B (3, 3);
    force (6): I a + V x* I V.
    """
    m = tree.mass[body]
    c = plus(origin, apply(frame, triple(tree.centre[body])))
    local = tree.inertia[body]
    square = m * dot(c, c)
    for i in range(3):
        row = apply(local, triple(frame[i]))
        for j in range(3):
            turned = dot(row, triple(frame[j]))
            inertia[i, j] = turned - m * c[i] * c[j] + (square if i == j else 0.0)
    u, w = triple(velocity), triple(velocity[3:])
    h = times(m, c)
    p = plus(times(m, u), cross(w, h))
    moments[0], moments[1:] = m, h + p
    half = 0.5 * (inertia[0, 0] + inertia[1, 1] + inertia[2, 2])
    hu = dot(h, u)
    for j in range(3):
        column = cross(w, triple(inertia[:, j]))
        for i in range(3):  # h x (u x e_j) = u h_j - (h . u) e_j
            velocity_terms[i, j] = column[i] - u[i] * h[j] + (hu if i == j else 0.0)
    velocity_terms[0, 1] += half * w[2]
    velocity_terms[0, 2] -= half * w[1]
    velocity_terms[1, 0] -= half * w[2]
    velocity_terms[1, 2] += half * w[0]
    velocity_terms[2, 0] += half * w[1]
    velocity_terms[2, 1] -= half * w[0]
    a, alpha = triple(acceleration), triple(acceleration[3:])
    angular = plus(apply(inertia, w), cross(h, u))
    f = plus(plus(times(m, a), cross(alpha, h)), cross(w, p))
    n = plus(plus(apply(inertia, alpha), cross(h, a)), plus(cross(u, p), cross(w, angular)))
    force[:] = f + n


@njit(cache=True)
def _base_block(
    velocity: Array, upward: Vector, moments: Array, J: Array, B: Array, by_q: Array, by_v: Array
) -> None:
    """Write the blocks (6, 6) of the base: S = 1, psi = 0, psi' = a x, and V x in place of psi."""
    m, h, p = moments[0], triple(moments[1:]), triple(moments[4:])
    u, w = triple(velocity), triple(velocity[3:])
    for j in range(3):
        e = unit(j)
        lift = cross(upward, e)
        lifted, lift_moment = times(m, lift), cross(h, lift)
        # linear columns: V x [e; 0] = [w x e; 0]
        turned = cross(w, e)
        line, line_moment = times(m, turned), cross(h, turned)
        # angular columns: V x [0; e] = [u x e; w x e]
        moved = cross(u, e)
        bend = plus(times(m, moved), cross(turned, h))
        bend_moment = plus(apply(J, turned), cross(h, moved))
        swing = cross(e, p)
        by_q[:6, 3 + j], by_v[:6, j] = lifted + lift_moment, line + line_moment
        by_v[:3, 3 + j] = plus(times(2.0, swing), bend)
        by_v[3:6, 3 + j] = plus(times(2.0, triple(B[:, j])), bend_moment)


@njit(cache=True)
def _leg(
    tree: Tree, S: Array, psi: Array, psi_dot: Array, ahead: Array, behind: Array, k: int,
    by_q: Array, by_v: Array,
) -> None:  # fmt: skip
    """Write the entries of joint k with itself and the joints before it in its leg."""
    row, j = 6 + k, k
    while j >= 0:
        q_k = v_k = q_j = v_j = 0.0
        for i in range(6):
            q_j += S[j, i] * ahead[0, i]
            v_j += S[j, i] * ahead[1, i]
            q_k += 2.0 * behind[1, i] * psi[j, i] + behind[0, i] * psi_dot[j, i]
            v_k += 2.0 * (behind[1, i] * S[j, i] + behind[0, i] * psi[j, i])
        by_q[6 + j, row], by_v[6 + j, row] = q_j, v_j
        by_q[row, 6 + j], by_v[row, 6 + j] = q_k, v_k
        j = tree.parent[j] - 1


@njit(cache=True, inline="always")
def _outward(
    S: Array, psi: Array, psi_dot: Array, moments: Array, J: Array, B: Array, force: Array,
    out: Array,
) -> None:  # fmt: skip
    """Write 2 B psi + I psi' + S x* f and 2 (B S + I psi) to out (2, 6)."""
    m, h, p = moments[0], triple(moments[1:]), triple(moments[4:])
    s, z = triple(S), triple(S[3:])
    x, y = triple(psi), triple(psi[3:])
    b, beta = triple(psi_dot), triple(psi_dot[3:])
    f, n = triple(force), triple(force[3:])
    q = plus(times(2.0, cross(y, p)), plus(times(m, b), cross(beta, h)))
    q = plus(q, cross(z, f))
    q_turn = plus(times(2.0, apply(B, y)), plus(apply(J, beta), cross(h, b)))
    q_turn = plus(q_turn, plus(cross(s, f), cross(z, n)))
    d = plus(cross(z, p), plus(times(m, x), cross(y, h)))
    d_turn = plus(apply(B, z), plus(apply(J, y), cross(h, x)))
    out[0], out[1] = q + q_turn, times(2.0, d) + times(2.0, d_turn)


@njit(cache=True, inline="always")
def project_inward(S: Array, moments: Array, J: Array, B: Array, out: Array) -> None:
    """Write the rows S' I and S' B to out (2, 6)."""
    m, h, p = moments[0], triple(moments[1:]), triple(moments[4:])
    s, z = triple(S), triple(S[3:])
    i_line = plus(times(m, s), cross(z, h))
    i_turn = plus(apply(J, z), cross(h, s))
    b_turn = plus(cross(p, s), apply_transposed(B, z))  # s . (x x p) = x . (p x s)
    out[0], out[1] = i_line + i_turn, (0.0, 0.0, 0.0) + b_turn


@njit(cache=True, inline="always")
def _base_columns(velocity: Array, upward: Vector, behind: Array, by_q: Array, by_v: Array) -> None:
    """Write the base's columns of one joint's rows: S_0 = 1, psi'_0 = a x and V x for psi."""
    line, turn = triple(behind[0]), triple(behind[0, 3:])
    u, w = triple(velocity), triple(velocity[3:])
    # r . (x x e) = (r x x) . e
    lift = cross(line, upward)
    v_line = cross(line, w)
    v_turn = plus(cross(line, u), cross(turn, w))
    by_q[:6] = (0.0, 0.0, 0.0) + lift
    by_v[:6] = v_line + plus(times(2.0, triple(behind[1, 3:])), v_turn)


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
    inertias = inertias_of(tree, frames, motions)
    S, force = motions.S, inertias.force
    _write_mass(tree, S, inertias, M)
    h[:6] = force[0]
    for k in range(S.shape[0]):
        h[6 + k] = 0.0
        for i in range(6):
            h[6 + k] += S[k, i] * force[k + 1, i]


@njit(cache=True)
def _write_mass(tree: Tree, S: Array, inertias: Inertias, M: Array) -> None:
    """Write M (nv, nv), the armature included."""
    moments, J, B, _ = inertias
    first, inward = triple(moments[0, 1:]), np.empty((2, 6))
    M[:] = 0.0
    for j in range(3):
        M[j, j], M[3:6, 3 + j] = moments[0, 0], J[0, :, j]
        M[3:6, j] = M[j, 3:6] = cross(first, unit(j))
    for k in range(S.shape[0]):
        project_inward(S[k], moments[k + 1], J[k + 1], B[k + 1], inward)
        row, j = 6 + k, k
        M[row, :6] = M[:6, row] = inward[0]
        while j >= 0:
            m = 0.0
            for i in range(6):
                m += S[j, i] * inward[0, i]
            M[row, 6 + j] = M[6 + j, row] = m
            j = tree.parent[j] - 1
        M[row, row] += tree.armature[k]
