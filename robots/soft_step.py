"""One step of MuJoCo with soft contacts, differentiated analytically.

    M a + h = S tau + J' f(r),   r = J (a + b v) + k imp(d) d
    (M + J' K J) da = S dtau - d(M a + h) + dJ' f + J' (f'_d dd - K (dJ (a + b v) + b J dv + ...))

with K = -df/dr of the rows as MuJoCo's solver left them: the implicit function theorem at the
solver's optimum, so its iterations are not differentiated. The step is semi-implicit Euler's.

A touchdown lies between two steps: the contact's force, mostly damping, sets in at once, and the
acceleration jumps. The derivative of a step does not hold that jump; `saltate` adds its mean over
where in the step the foot meets the ground.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from robots.conventions import GRAVITY
from robots.foot_contacts import FEET, LEG, FootContacts, add_foot, column, foot_contacts
from robots.inverse_dynamics import differentiate_inverse_dynamics
from robots.kinematic_tree import Tree, joint_frames
from robots.rotations import Array, exp3, right_jacobian
from robots.soft_contact import SoftContact, impedance
from robots.vectors import apply, apply_transposed, cross, minus, plus, times, triple, unit
from saltation.cholesky import factorise, solve_lower, solve_lower_transposed

APPROACH_SPEED = 0.05  # a foot that lands more slowly gets no saltation matrix [m/s]


@njit(cache=True)
def differentiate_step(
    tree: Tree, contact: SoftContact, R: Array, x: Array, a: Array, dt: float, saltation: bool,
    A: Array, B: Array,
) -> None:  # fmt: skip
    """Write A (36, 36) and B (36, 12) of one step: dx+ = A dx + B dtau in the tangents at x, x+.

    Args:
        tree: the robot; contact: the law of its feet and joint limits.
        R: rotation (3, 3) of the base.
        x: [q, v] (37,) before the step.
        a: acceleration (18,) of the step: of the base's linear velocity as the world sees it, in
            the axes of the base [m/s^2]; of all other velocities their derivatives.
        dt: length of the step [s].
        saltation: whether a foot that lands in this step brings its saltation matrix.
        A, B: filled; with NaN where the mass matrix is not finite.
    """
    H, da, L = np.empty((18, 18)), np.empty((18, 48)), np.zeros((18, 18))
    feet = differentiate_motion(tree, contact, R, x, a, H, da)
    if not factorise(H, L):  # numbers that are not finite: the backward pass sees it
        A[:], B[:] = np.nan, np.nan
        return
    solve_lower(L, da)
    solve_lower_transposed(L, da)
    if saltation:
        for foot in range(FEET):
            if feet.distance[foot] < 0.0:
                saltate(feet, foot, x[19:], dt, H, da)
    _integrate(x[19:], a, da, dt, A, B)


@njit(cache=True)
def differentiate_motion(
    tree: Tree, contact: SoftContact, R: Array, x: Array, a: Array, H: Array, rhs: Array
) -> FootContacts:
    """Write H (18, 18) and rhs (18, 48) of H da = rhs [dq; dv; dtau]; return the feet."""
    v, local, M_q, M_v = x[19:], a.copy(), np.empty((18, 18)), np.empty((18, 18))
    frames = joint_frames(tree, x[7:19])
    u, w = triple(v), triple(v[3:])
    local[:3] = minus(triple(a), cross(w, u))  # of the base's velocity in its own axes
    upward = times(GRAVITY, triple(R[2]))
    differentiate_inverse_dynamics(tree, frames, upward, v, local, H, M_q, M_v)
    rhs[:] = 0.0
    for i in range(18):
        row = triple(H[i])
        for j in range(18):
            rhs[i, j], rhs[i, 18 + j] = -M_q[i, j], -M_v[i, j]
        rhs[i, 18:21] = plus(triple(rhs[i, 18:]), cross(row, w))
        rhs[i, 21:24] = minus(triple(rhs[i, 21:]), cross(row, u))
        if i >= 6:
            rhs[i, 30 + i] = 1.0
    motion = a + contact.damping * v
    feet = foot_contacts(contact, frames, R, x[:3], motion)
    for foot in range(FEET):
        if feet.distance[foot] < 0.0:
            add_foot(contact, frames, foot, motion, feet, H, rhs)
    _add_limits(contact, x, a, H, rhs)
    return feet


@njit(cache=True)
def _add_limits(contact: SoftContact, x: Array, a: Array, H: Array, rhs: Array) -> None:
    """Add the joints that are beyond a limit."""
    k, b = contact.limit_stiffness, contact.limit_damping
    for joint in range(12):
        sign, distance = 1.0, x[7 + joint] - contact.lower[joint]
        if distance >= 0.0:
            sign, distance = -1.0, contact.upper[joint] - x[7 + joint]
        if distance >= 0.0:
            continue
        imp, slope = impedance(distance, contact.limit_impedance)
        i, D = 6 + joint, contact.limit_weight[joint] * imp / (1.0 - imp)
        r = sign * (a[i] + b * x[19 + i]) + k * imp * distance
        if r < 0.0:
            H[i, i] += D
            rhs[i, 18 + i] -= D * b
            rhs[i, i] -= D * (k * (slope * distance + imp) + r * slope / ((1.0 - imp) * imp))


@njit(cache=True)
def saltate(feet: FootContacts, foot: int, v: Array, dt: float, H: Array, da: Array) -> None:
    """Add the jump of a, averaged over a step, where this step is the foot's first on the ground.

    With g the foot's distance, a jumps by delta_a at g = 0. A step's travel is -dt dg/dt, so that
    the mean of the jump's derivative over it is delta_a D_q g / (dt dg/dt). In the velocity after
    the step this is the term of (3.2) with R = 1, (F+ - F-) D_x g / (D_x g F).

    The foot's force accelerates the robot by (M + J_o' K_o J_o)^-1 J' f, where o are the others.

    Args:
        feet: that touch; foot: one of them.
        v: velocity (18,) before the step.
        dt: length of the step [s].
        H: (18, 18) of `differentiate_motion`.
        da: (18, 48), changed.
    """
    J, K, force = feet.jacobian[foot], feet.curvature[foot], feet.force[foot]
    rate = 0.0
    for i in range(LEG):
        rate += J[0, i] * v[column(foot, i)]
    above_before = feet.distance[foot] - dt * rate >= 0.0  # the last step moved by dt v
    if not above_before or rate > -APPROACH_SPEED:
        return
    others, jump, L = H.copy(), np.zeros((18, 1)), np.zeros((18, 18))
    stiff, load = J.T @ K @ J, J.T @ force
    for i in range(LEG):
        jump[column(foot, i), 0] = load[i]
        for j in range(LEG):
            others[column(foot, i), column(foot, j)] -= stiff[i, j]
    factorise(others, L)
    solve_lower(L, jump)
    solve_lower_transposed(L, jump)
    for i in range(18):
        for j in range(LEG):
            da[i, column(foot, j)] += jump[i, 0] * J[0, j] / (dt * rate)


@njit(cache=True)
def _integrate(v: Array, a: Array, da: Array, dt: float, A: Array, B: Array) -> None:
    """Write A and B of v' = v + a dt, q+ = q (+) v' dt, and v+ = v' in the axes of the base then.

    With E = exp3(w' dt): dp+ = E' (dp - dt [u']x dphi + dt du'), dphi+ = E' dphi + dt Jr dw', and
    the base's linear velocity u+ = E' u' changes by du+ = E' du' + u+ x dt Jr dw'.

    Args:
        v, a: (18,) as in `differentiate_step`.
        da: (18, 48) derivatives of a by x and by the torques.
        dt: [s].
        A, B: filled.
    """
    A[18:], B[18:] = dt * da[:, :36], dt * da[:, 36:]
    for i in range(18, 36):
        A[i, i] += 1.0
    phi = dt * (v[3:6] + dt * a[3:6])
    E, Jr = exp3(phi), right_jacobian(phi)
    u = plus(triple(v), times(dt, triple(a)))
    u_next = apply_transposed(E, u)
    for j in range(48):
        out, k = (A, j) if j < 36 else (B, j - 36)
        du, turn = triple(out[18:, k]), times(dt, apply(Jr, triple(out[21:, k])))
        dp, dphi = times(dt, du), turn
        if j < 3:
            dp = plus(dp, unit(j))
        elif j < 6:
            dp = plus(dp, times(-dt, cross(u, unit(j - 3))))
            dphi = plus(turn, triple(E[j - 3]))
        out[:6, k] = apply_transposed(E, dp) + dphi
        out[18:21, k] = plus(apply_transposed(E, du), cross(u_next, turn))
        for i in range(12):
            out[6 + i, k] = dt * out[24 + i, k]
    for i in range(6, 18):
        A[i, i] += 1.0
