"""Velocities of a rigid body after an impact (3.65)-(3.67).

An impulse along B with restitution e gives qd+ = P qd-, P = I - (1 + e) J_dagger^T J, by (3.62)
the same as M_dagger M - e J_dagger^T J. Impulses push as forces do in ``dynamics``: p = -p_hat of
(3.65), whose p_hat is positive where the surface pulls.
"""

# ruff: noqa: N803, N806

from __future__ import annotations

from typing import Any

import numpy as np

from saltation.rigid_body.body import RigidBody
from saltation.rigid_body.dynamics import (
    Contact,
    constraint_jacobian,
    force_directions,
    jams,
    mode_dagger,
    saddle,
)
from saltation.systems import VectorFunction


def impact_map(body: RigidBody, contact: Contact, q: Any) -> Any:
    """P (m, m) of an impact that ends in a mode: elastic (3.66) for ``NONE``, else plastic (3.67).

    A plastic impact into sliding has the friction ``body.impact_friction``, an elastic one none.
    """
    if contact is Contact.NONE:
        D = mode_dagger(body, Contact.FORWARD, q, 0.0)
        return np.eye(body.dof) - (1.0 + body.restitution) * (D.J_T * body.normal(q))
    D = mode_dagger(body, contact, q, body.impact_friction)
    return np.eye(body.dof) - D.J_T @ constraint_jacobian(body, contact, q)


def impact_reset(body: RigidBody, contact: Contact) -> VectorFunction:
    """R(t, x, u) (2 m,) of an impact that ends in a mode, (3.66) and (3.67)."""

    def reset(t: float, x: Any, u: Any) -> Any:
        q, qd = body.split(x)
        return np.concatenate((q, impact_map(body, contact, q) @ qd))

    return reset


def sticking_impulse(body: RigidBody, q: Any, qd: Any) -> Any:
    """Impulse (p_t, p_n) [N s] that stops the contact point, (3.65) with J_C."""
    J = constraint_jacobian(body, Contact.STICKING, q)
    return -np.linalg.solve(J @ np.linalg.solve(body.mass(q), J.T), J @ qd)


def sliding_after(body: RigidBody, contact: Contact, q: Any, qd: Any) -> float:
    """s v_t+ [m/s] of an impact into sliding along s: positive if that happens.

    With Coulomb's law for the impulse, exactly one of sticking and the two directions happens if
    neither direction jams. A direction that jams counts as one that does not happen.
    """
    J = constraint_jacobian(body, contact, q)
    mu = body.impact_friction
    if mu and jams(saddle(body.mass(q), -force_directions(body, contact, q, J, mu), J)):
        return -1.0
    return contact.direction * float(body.tangent(q) @ (impact_map(body, contact, q) @ qd))
