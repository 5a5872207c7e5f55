"""Guards of a rigid body's contact modes: positive in the mode, falling through zero at its end.

A guard of two conditions is the larger of two functions, so its set is where both are at most
zero; its derivative at an event is that of the one that reaches zero there.
"""

# ruff: noqa: N803, N806

from __future__ import annotations

from typing import Any

import numpy as np

from saltation.derivatives import jacobian
from saltation.rigid_body.body import RigidBody
from saltation.rigid_body.dynamics import Contact, motion
from saltation.rigid_body.impacts import sliding_after, sticking_impulse
from saltation.systems import Array, ScalarFunction, VectorFunction

_STICK_MARGIN = 1e-9  # part of mu_s f_n, so that rounding does not end a slip that just began


def impact_guard(body: RigidBody, contact: Contact) -> ScalarFunction:
    """Impact on the surface, g_n = 0, that ends in the given mode.

    ``NONE`` is the elastic impact, which has no further condition. With impact friction mu,
    sticking needs |p_t| <= mu p_n, and sliding along s needs s v_t+ >= 0. Where the gap falls below
    zero and the other condition holds with equality, the guard stays at zero.
    """

    def guard(t: float, x: Any, u: Any) -> float:
        q, qd = body.split(x)
        gap = body.gap(q)
        if contact is Contact.NONE:
            return gap
        if contact is Contact.STICKING:
            p_t, p_n = sticking_impulse(body, q, qd)
            return max(gap, abs(p_t) - body.impact_friction * p_n)
        return max(gap, -sliding_after(body, contact, q, qd))

    return guard


def impact_guard_state(body: RigidBody) -> VectorFunction:
    """D_x g (2 m,) of an impact, [J_n, 0] (3.77), (3.52)."""

    still = np.zeros(body.dof)
    return lambda t, x, u: np.concatenate((body.normal(x[: body.dof]), still))


def apex_guard(body: RigidBody) -> ScalarFunction:
    """Velocity away from the surface, J_n qd: it falls through zero at the apex (3.6.2)."""
    return lambda t, x, u: body.normal(x[: body.dof]) @ x[body.dof :]


def liftoff_guard(body: RigidBody, contact: Contact) -> ScalarFunction:
    """Normal force f_n of a mode, (3.70), (3.71). The print has an error: docs/errata.md."""
    return lambda t, x, u: motion(body, contact, *body.split(x), u).forces[-1]


def slip_guard(body: RigidBody, direction: float) -> ScalarFunction:
    """Distance mu_s f_n + s f_t to the face of the friction cone behind which it slips along s.

    (3.90) is the nearer of the two faces. Friction at this face points along -s, so s is the
    direction of the slip. The print has an error: docs/errata.md.
    """

    def guard(t: float, x: Any, u: Any) -> Any:
        f_t, f_n = motion(body, Contact.STICKING, *body.split(x), u).forces
        return body.mu_s * f_n + direction * f_t

    return guard


def stop_guard(body: RigidBody, contact: Contact, sticks: bool) -> ScalarFunction:
    """Sliding velocity s v_t comes to zero (3.95), and then sticks, or slides the other way.

    It sticks where the cone holds the force of mode C, the footnote to (3.95).
    """
    s = contact.direction

    def guard(t: float, x: Any, u: Any) -> float:
        q, qd = body.split(x)
        f_t, f_n = motion(body, Contact.STICKING, q, qd, u).forces
        outside = abs(f_t) - (1.0 - _STICK_MARGIN) * body.mu_s * f_n
        turns = body.mu_s * f_n * (1.0 - _STICK_MARGIN) - s * f_t
        return max(s * float(body.tangent(q) @ qd), outside if sticks else turns)

    return guard


def stop_guard_state(body: RigidBody, contact: Contact) -> VectorFunction:
    """D_x (s v_t) (2 m,) = s [D_q(J_t qd), J_t], (3.96). The print has an error: docs/errata.md."""
    s = contact.direction

    def derivative(t: float, x: Array, u: Array) -> Array:
        q, qd = body.split(x)
        slope = jacobian(lambda p: body.tangent(p) @ qd, q)
        return s * np.concatenate((slope, body.tangent(q)))

    return derivative
