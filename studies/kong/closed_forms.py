"""Saltation matrices of a rigid body's transitions in closed form (3.68)-(3.97).

States x = [q, qd] are those just before the event, Xi is (2 m, 2 m). Superscripts - and + mean the
velocities before and after. The print has errors: docs/errata.md.
"""

# ruff: noqa: N803, N806

from __future__ import annotations

import numpy as np

from saltation.derivatives import jacobian
from saltation.rigid_body.body import RigidBody
from saltation.rigid_body.dynamics import (
    Contact,
    constraint_jacobian,
    constraint_rate,
    mode_dagger,
    motion,
    saddle,
)
from saltation.rigid_body.hybrid_system import CONTACTS
from saltation.rigid_body.impacts import impact_map
from saltation.systems import Array, Transition


def closed_form(body: RigidBody, transition: Transition, x: Array, u: Array) -> Array:
    """Xi (2 m, 2 m) of any transition of ``rigid_body_system(body)``.

    Xi = I at an apex (3.68) and at every liftoff (3.72), (3.73): friction vanishes with the normal
    force, so nothing jumps.
    """
    source, target = CONTACTS[transition.source], CONTACTS[transition.target]
    if transition.name == "apex" or (target is Contact.NONE and source is not Contact.NONE):
        return np.eye(2 * body.dof)
    if source is Contact.NONE and target is Contact.NONE:
        return elastic_impact(body, x, u)
    if source is Contact.NONE:
        return plastic_impact(body, x, u, target)
    if source is Contact.STICKING:
        return stick_slip(body, x, u, target)
    return slip_stick(body, x, u, source, target)


def plastic_impact(body: RigidBody, x: Array, u: Array, contact: Contact) -> Array:
    """Xi (U, S), (3.81), (3.82), and Xi (U, C), (3.83), (3.84), with friction of any size.

    With M_i and M_k for the dagger matrices (3.61) with the friction of the impulse and of
    sliding, and P = M_i M,

        Z_S = (M_k r+ - M_i r- - J_k^T dJ/dt+ qd+ - D_q(P qd-) qd-) J_n / (J_n qd-),
        r = Upsilon - N - C qd.

    The thesis has the case without friction, in which M_k = M_i and Upsilon drops out.
    """
    q, qd = body.split(x)
    J_n, J = body.normal(q), constraint_jacobian(body, contact, q)
    impulse = mode_dagger(body, contact, q, body.impact_friction)
    force = mode_dagger(body, contact, q, body.mu_k)
    P = impulse.M @ body.mass(q)
    P_q = jacobian(lambda p: impact_map(body, contact, p) @ qd, q)
    after = P @ qd
    jump = force.M @ body.bias(q, after, u) - impulse.M @ body.bias(q, qd, u)
    jump -= force.J_T @ (constraint_rate(body, contact, q, after) @ after) + P_q @ qd
    fraction = J_n / (J_n @ qd)
    upper = np.eye(body.dof) - np.outer(impulse.J_T @ (J @ qd), fraction)
    return np.block([[upper, np.zeros_like(P)], [np.outer(jump, fraction) + P_q, P]])


def elastic_impact(body: RigidBody, x: Array, u: Array) -> Array:
    """Xi (U, V), (3.88) and (3.89)."""
    q, qd = body.split(x)
    e = body.restitution
    M_inverse = np.linalg.inv(body.mass(q))
    D = mode_dagger(body, Contact.FORWARD, q, 0.0)
    J_n = body.normal(q)
    P = D.M @ body.mass(q) - e * np.outer(D.J_T, J_n)
    P_q = jacobian(lambda p: impact_map(body, Contact.NONE, p) @ qd, q)
    after = P @ qd
    velocity_terms = (
        body.coriolis(q, qd) @ qd
        - body.coriolis(q, after) @ after
        + body.other_forces(q, qd)
        - body.other_forces(q, after)
    )
    jump = M_inverse @ velocity_terms - P_q @ qd
    jump += (1.0 + e) * D.J_T[:, 0] * (J_n @ M_inverse @ body.bias(q, qd, u))
    Z_V = np.outer(jump, J_n) / (J_n @ qd)
    return np.block([[P, np.zeros_like(P)], [Z_V + P_q, P]])


def stick_slip(body: RigidBody, x: Array, u: Array, contact: Contact) -> Array:
    """Xi (C, S) = I + (F_S - F_C) D_x g / (D_x g F_C), (3.94); I where mu_s = mu_k, (3.92).

    D_x g is that of the face mu_s f_n + s f_t of the cone (see ``guards.slip_guard`` for the
    norms in (3.90)), from the derivative of (3.60) solved for D_x f.
    """
    identity = np.eye(2 * body.dof)
    if body.mu_s == body.mu_k:
        return identity
    q, qd = body.split(x)
    before = motion(body, Contact.STICKING, q, qd, u).acceleration
    after = motion(body, contact, q, qd, u).acceleration
    forces_state = sticking_forces_state(body, x, u)
    g_state = body.mu_s * forces_state[1] + contact.direction * forces_state[0]
    jump = np.concatenate((np.zeros(body.dof), after - before))
    return identity + np.outer(jump, g_state) / (g_state @ np.concatenate((qd, before)))


def slip_stick(
    body: RigidBody, x: Array, u: Array, contact: Contact, then: Contact = Contact.STICKING
) -> Array:
    """Xi (S, C), (3.97), out of sliding along a direction; ``then`` may be the other direction.

    The first block of (3.96) is D_q(J_t qd) (see ``guards.stop_guard_state``).
    """
    q, qd = body.split(x)
    J_t = body.tangent(q)
    before = motion(body, contact, q, qd, u).acceleration
    after = motion(body, then, q, qd, u).acceleration
    g_state = np.concatenate((jacobian(lambda p: body.tangent(p) @ qd, q), J_t))
    rate = body.tangent_rate(q, qd) @ qd + J_t @ before
    jump = np.concatenate((np.zeros(body.dof), after - before))
    return np.eye(2 * body.dof) + np.outer(jump, g_state) / rate


def sticking_forces_state(body: RigidBody, x: Array, u: Array) -> Array:
    """D_x (f_t, f_n) (2, 2 m) of the contact forces (3.69) in mode C.

    (3.60) as K(q) [qdd, f] = r(x, u) gives K D_x [qdd, f] = D_x (r - K [qdd, f]), solution held.
    """
    q, qd = body.split(x)
    solution = np.concatenate(motion(body, Contact.STICKING, q, qd, u))

    def system(y: Array) -> tuple[Array, Array]:
        p, pd = body.split(y)
        J = constraint_jacobian(body, Contact.STICKING, p)
        rate = constraint_rate(body, Contact.STICKING, p, pd) @ pd
        return saddle(body.mass(p), -J.T, J), np.concatenate((body.bias(p, pd, u), -rate))

    def residual(y: Array) -> Array:
        K, right = system(y)
        return right - K @ solution

    slopes = np.linalg.solve(system(x)[0], jacobian(residual, x))
    return np.asarray(slopes[body.dof :], dtype=np.float64)
