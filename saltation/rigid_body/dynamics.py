"""Motion of a rigid body in each contact mode (3.58)-(3.64), (3.69).

Contact forces f push the body: f_n > 0 repels, and friction opposes sliding. The multiplier of
(3.60) is on the left side, lambda = -f. The print has errors: docs/errata.md.

Sliding couples friction to the normal force: f pushes along B = J_n^T - s mu_k J_t^T, with s the
sign of v_t, and the system (3.60) loses its symmetry: B stands in place of J^T.
"""

# ruff: noqa: N806

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from saltation.rigid_body.body import RigidBody
from saltation.systems import VectorFunction


class Contact(Enum):
    """State of the contact: none (U and V), sliding along +J_t or -J_t (S), or sticking (C)."""

    NONE = 0
    FORWARD = 1
    BACKWARD = -1
    STICKING = 2

    @property
    def direction(self) -> float:
        """Sign s of the sliding velocity v_t = J_t qd; zero where the contact does not slide."""
        return float(self.value) if abs(self.value) == 1 else 0.0


class Dagger(NamedTuple):
    """Blocks of the inverse of [[M, B], [J, 0]], (3.61); J_dagger of its lower row is (k, m)."""

    M: Any  # (m, m)
    J_T: Any  # (m, k), upper right
    J: Any  # (k, m), lower left; transpose of J_T where B = J^T
    Lambda: Any  # (k, k)


class Motion(NamedTuple):
    """Accelerations (m,) and contact forces (k,) on the body: (f_n,) or (f_t, f_n)."""

    acceleration: Any
    forces: Any


def constraint_jacobian(body: RigidBody, contact: Contact, q: Any) -> Any:
    """J (k, m) of a mode: none, J_n, or J_t over J_n (3.58)."""
    return _rows(body, contact, body.tangent, body.normal, q)


def constraint_rate(body: RigidBody, contact: Contact, q: Any, qd: Any) -> Any:
    """dJ/dt (k, m) of a mode along the velocity qd."""
    return _rows(body, contact, body.tangent_rate, body.normal_rate, q, qd)


def _rows(
    body: RigidBody, contact: Contact, tangent: Callable, normal: Callable, *at: Any
) -> Any:
    """Rows (k, m) of a mode's constraints."""
    if contact is Contact.NONE:
        return np.zeros((0, body.dof))
    if contact is Contact.STICKING:
        return np.stack((tangent(*at), normal(*at)))
    return normal(*at)[None]


def force_directions(body: RigidBody, contact: Contact, q: Any, J: Any, mu: float) -> Any:
    """B (m, k): the generalised force of each unit contact force, with Coulomb sliding (3.64)."""
    if contact.direction and mu:
        J = J - (contact.direction * mu) * body.tangent(q)
    return J.T


def saddle(M: Any, B: Any, J: Any) -> Any:
    """[[M, B], [J, 0]] (m + k, m + k), the matrix of (3.60)."""
    m, k = B.shape
    matrix = np.zeros((m + k, m + k), np.result_type(M.dtype, B.dtype, J.dtype))
    matrix[:m, :m], matrix[:m, m:], matrix[m:, :m] = M, B, J
    return matrix


def dagger(M: Any, J: Any, B: Any | None = None) -> Dagger:
    """Dagger matrices (3.61), for which M_dagger M = I - J_dagger^T J (3.62).

    B (m, k), by default J^T, may be any matrix for which J M^-1 B is invertible.
    """
    m = len(M)
    inverse = np.linalg.inv(saddle(M, J.T if B is None else B, J))
    return Dagger(inverse[:m, :m], inverse[:m, m:], inverse[m:, :m], inverse[m:, m:])


def mode_dagger(body: RigidBody, contact: Contact, q: Any, mu: float) -> Dagger:
    """Dagger matrices of a contact mode, with friction ``mu`` where it slides."""
    J = constraint_jacobian(body, contact, q)
    return dagger(body.mass(q), J, force_directions(body, contact, q, J, mu))


def motion(body: RigidBody, contact: Contact, q: Any, qd: Any, u: Any) -> Motion:
    """Accelerations and contact forces of a mode, (3.60) with the friction (3.64).

    NaN where friction jams the sliding, J_n M^-1 B <= 0: there Coulomb's law has no motion or two
    (Painleve). The print has an error: docs/errata.md.
    """
    J = constraint_jacobian(body, contact, q)
    rate = constraint_rate(body, contact, q, qd) @ qd
    B = force_directions(body, contact, q, J, body.mu_k)
    M = body.mass(q)
    right = np.concatenate((body.bias(q, qd, u), -rate))
    matrix = saddle(M, -B, J)
    solution = np.linalg.solve(matrix, right)
    if contact.direction and body.mu_k and jams(matrix):
        solution = np.full_like(solution, np.nan)
    return Motion(solution[: body.dof], solution[body.dof :])


def jams(matrix: Any) -> bool:
    """Whether a force along B (m, 1) does not separate the contact, J M^-1 B <= 0.

    ``matrix`` is [[M, -B], [J, 0]], whose determinant is det M (J M^-1 B).
    """
    return not np.linalg.det(np.real(matrix)) > 0.0


def vector_field(body: RigidBody, contact: Contact) -> VectorFunction:
    """F(t, x, u) (2 m,) of a contact mode, (3.63)."""

    def flow(t: float, x: Any, u: Any) -> Any:
        q, qd = body.split(x)
        return np.concatenate((qd, motion(body, contact, q, qd, u).acceleration))

    return flow
