"""Saltation matrices of every touchdown along a trajectory, compiled.

The same sticking, plastic impact as `robots.touchdown`, solved leg by leg as in `step_kernel`:

    M dv = J' p,  J (v- + dv) = 0    on all feet that stand afterwards, v+ = v- + dv
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.leg_kernel import Legs, make_legs, place_leg, pose_leg
from robots.leg_tree import LegTree
from robots.rotations import Array, rotation_from_quaternion
from robots.spatial import add_matrix, add_scaled, cross, cross_add
from robots.step_kernel import (
    COLUMNS,
    Elimination,
    accelerate,
    carry,
    eliminate,
    factor,
    foot_force,
    inertial_columns,
    make_elimination,
    solve_columns,
)

_Q, _V, _END = 3, 15, 33  # of the columns: joint angles from _Q, velocity from _V


@njit(cache=True)
def acceleration(
    tree: LegTree, q: Array, v: Array, tau: Array, contacts: Array, legs: Legs, e: Elimination
) -> Array:
    """Return a (18), the derivative of v, with the feet of `contacts` (4) held."""
    gravity = rotation_from_quaternion(q[3:7]).T @ tree.gravity
    b, f, a = np.empty(6), np.zeros((4, 3)), np.empty(18)
    qd = v[6:].reshape(4, 3)
    a[6:] = accelerate(tree, q, v[3:6], qd, tau, contacts, gravity, legs, e, b, f).ravel()
    a[:6] = b
    cross_add(v[:3], v[3:6], a[:3])  # c - w x v
    return a


@njit(cache=True)
def impact(
    tree: LegTree, q: Array, v_minus: Array, contacts: Array, legs: Legs, e: Elimination,
    v_plus: Array, v_q: Array, v_v: Array,
) -> None:  # fmt: skip
    """Stop the feet of `contacts` (4) at once; write v+ (18), D_q v+ and D_v v+ (18, 18)."""
    still, calm, inertia = np.zeros(3), np.zeros((4, 3)), tree.base_inertia.copy()
    for i in range(4):
        place_leg(tree, i, q[7 + 3 * i : 10 + 3 * i], legs)
        pose_leg(tree, i, still, still, calm[i], legs)
        add_matrix(legs.I_C[i, 0], inertia)
    eliminate(inertia, legs, contacts, e)
    factor(e.H)
    jump = np.empty((18, 1))
    feet = np.zeros((4, 3, 1))
    for i in range(4):
        _foot_velocity(i, v_minus, legs, feet[i, :, 0])
    feet *= -1.0
    solve_columns(e, legs, contacts, np.zeros((6, 1)), np.zeros((4, 3, 1)), feet, jump)
    v_plus[:] = v_minus
    add_scaled(1.0, jump[:, 0], v_plus)
    dv_base, dv_joints = jump[:6, 0].copy(), jump[6:, 0].copy().reshape(4, 3)
    impulse = np.zeros((4, 3))
    for i in range(4):
        if contacts[i] > 0.5:
            foot_force(i, dv_base, dv_joints[i], still, legs, e.G[i], impulse[i])
    base, joints = np.zeros((6, COLUMNS)), np.zeros((4, 3, COLUMNS))
    inertial_columns(
        tree, still, calm, dv_joints, dv_base, impulse, contacts, still, legs, base, joints
    )
    _differentiate(e, legs, contacts, v_plus, base, joints, v_q, v_v)


@njit(cache=True)
def _differentiate(
    e: Elimination, legs: Legs, contacts: Array, v_plus: Array, base: Array, joints: Array,
    v_q: Array, v_v: Array,
) -> None:  # fmt: skip
    """Solve for the derivatives of v+, given those of M dv - J' p by the joints."""
    feet, out = np.zeros((4, 3, COLUMNS)), np.empty((18, COLUMNS))
    base[:, _V:], joints[:, :, _V:] = 0.0, 0.0
    X = np.empty((3, 6))
    for i in range(4):
        carry(legs.p[i], X)
        for m in range(3):
            change = np.zeros(3)  # of the foot's velocity after the impact
            cross(v_plus[3:6], legs.J[i, m], change)
            for k in range(3):
                add_scaled(v_plus[6 + 3 * i + k], legs.H[i, k, m], change)
            for r in range(3):
                feet[i, r, _Q + 3 * i + m] = -change[r]
                feet[i, r, _V + 6 + 3 * i + m] = -legs.J[i, m, r]
        feet[i, :, _V : _V + 6] = -X
    solve_columns(e, legs, contacts, base, joints, feet, out)
    v_q[:, :6] = 0.0
    v_q[:, 6:] = out[:, _Q:_V]
    v_v[:] = out[:, _V:_END]
    for r in range(18):
        v_v[r, r] += 1.0


@njit(cache=True)
def _foot_velocity(i: int, v: Array, legs: Legs, out: Array) -> None:
    """Write v_base + w x p + J qd of foot i (3), in the base's axes."""
    out[:] = v[:3]
    cross_add(v[3:6], legs.p[i], out)
    for k in range(3):
        add_scaled(v[6 + 3 * i + k], legs.J[i, k], out)


@njit(cache=True)
def _normal(q: Array, i: int, legs: Legs, out: Array) -> None:
    """Write D_x g = [J_n 0] (36): how the foot's height changes with the state, (3.77)."""
    up, p = rotation_from_quaternion(q[3:7])[2].copy(), legs.p[i]
    out[:] = 0.0
    out[:3] = up
    cross(p, up, out[3:6])
    for k in range(3):
        J = legs.J[i, k]
        out[6 + 3 * i + k] = up[0] * J[0] + up[1] * J[1] + up[2] * J[2]


@njit(cache=True, nogil=True, error_model="numpy")
def saltate_landings(
    tree: LegTree, states: Array, inputs: Array, contacts: Array, dt: float,
    minimum_speed: float, knots: NDArray[np.int64], feet: NDArray[np.int64],
    saltation: Array, reset: Array,
) -> None:  # fmt: skip
    """Write Xi (3.2) and D_x R (3.76) of E touchdowns, in the order in which they happen.

    A foot lands at the end of its knot's interval: the velocity before is that of the step with
    the feet of before, the configuration that of the next knot. Of the feet that land together the
    last one takes the next knot's torque for its F+: an optimal input jumps at an event.

    Args:
        tree: the robot.
        states: x = [q, v] (N+1, 37).
        inputs: joint torques (N, 12) [N m].
        contacts: (N, 4), 1 where a foot stands.
        dt: [s].
        minimum_speed: a foot that comes down more slowly gets Xi = D_x R [m/s].
        knots, feet: (E,) each, knots below N - 1 and in increasing order.
        saltation, reset: (E, 36, 36), filled.
    """
    legs, e = make_legs(), make_elimination()
    v, v_plus, after, gradient = np.empty(18), np.empty(18), np.empty(4), np.empty(36)
    before = np.empty(4)
    for n in range(len(knots)):
        k, foot = knots[n], feet[n]
        q = states[k + 1, :19]
        if n > 0 and knots[n - 1] == k:
            v[:], before[:] = v_plus, after
        else:
            before[:], v[:] = contacts[k], states[k, 19:]
            a = acceleration(tree, states[k, :19], states[k, 19:], inputs[k], before, legs, e)
            add_scaled(dt, a, v)
        after[:] = before
        after[foot] = 1.0
        last = n + 1 == len(knots) or knots[n + 1] != k
        D, xi = reset[n], saltation[n]
        D[:] = 0.0
        for r in range(18):
            D[r, r] = 1.0
        impact(tree, q, v, after, legs, e, v_plus, D[18:, :18], D[18:, 18:])
        _normal(q, foot, legs, gradient)
        flow_before, flow_after = np.empty(36), np.empty(36)
        flow_before[:18], flow_after[:18] = v, v_plus
        flow_before[18:] = acceleration(tree, q, v, inputs[k], before, legs, e)
        torque = inputs[k + 1] if last else inputs[k]
        flow_after[18:] = acceleration(tree, q, v_plus, torque, after, legs, e)
        _saltation(D, flow_before, flow_after, gradient, minimum_speed, xi)


@njit(cache=True, error_model="numpy")
def _saltation(
    D: Array, flow_before: Array, flow_after: Array, gradient: Array, minimum_speed: float,
    xi: Array,
) -> None:  # fmt: skip
    """Xi = D_x R + (F+ - D_x R F-) D_x g / (D_x g F-), equation (3.2)."""
    rate = 0.0
    for c in range(36):
        rate += gradient[c] * flow_before[c]
    xi[:] = D
    if not rate < -minimum_speed:
        return
    for r in range(36):
        correction = flow_after[r]
        for c in range(36):
            correction -= D[r, c] * flow_before[c]
        add_scaled(correction / rate, gradient, xi[r])
