"""Cosines between the surfaces of contacts, in the kinetic metric of one configuration.

Equation numbers are those of Seghete and Murphey, 2012. Surface normals are covectors, rows (n,):
<u, v> = u M^-1 v^T, |u|^2 = <u, u>. The normal u = D phi of a gap phi >= 0 is a row of J_n.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltation.impacts.contact_problem import wrong_inertia
from saltation.systems import Array


def surface_cosines(
    M: Array, J_n: Array, contacts: Sequence[str] = (), name: str = "impact"
) -> Array:
    """Cosines s (m, m) of the contact surfaces at one configuration: (22) with the normals (23).

    ``M`` (n, n) is the inertia and the rows of ``J_n`` (m, n) are the normals; ``contacts`` (m,)
    and ``name`` are for messages. s[i, j] = 0 where impacts at i and j commute, (15); +-1 where the
    surfaces are tangent, (14).

    Raises:
        ValueError: as ``unit_normals``.
    """
    normals = unit_normals(M, J_n, contacts, name)
    cosines = np.clip(normals @ normals.T, -1.0, 1.0)
    np.fill_diagonal(cosines, 1.0)
    return cosines


def unit_normals(M: Array, J_n: Array, contacts: Sequence[str] = (), name: str = "impact") -> Array:
    """Unit normals (m, n) in coordinates whose metric is the identity: u L^-T / |u|, M = L L^T.

    Raises:
        ValueError: there is no contact, shapes disagree, an entry is not finite, M is not symmetric
            positive definite, or a row of J_n is zero; the message begins with ``name``.
    """
    M, J_n = np.asarray(M, float), np.asarray(J_n, float)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or J_n.ndim != 2 or J_n.shape[1] != M.shape[0]:
        raise ValueError(
            f"{name}: M {M.shape} and normals {J_n.shape} do not fit; give (n, n) and (m, n)"
        )
    if len(J_n) == 0:
        raise ValueError(f"{name}: no contact is active; an impact needs one or more")
    rows = np.linalg.solve(cholesky(M, name), J_n.T).T
    lengths = np.linalg.norm(rows, axis=1)
    for contact in range(len(rows)):
        if np.isfinite(lengths[contact]) and lengths[contact] > 0.0:
            continue
        label = contacts[contact] if contact < len(contacts) else f"number {contact}"
        raise ValueError(
            f"{name}: the normal of contact {label} is zero or not finite: no velocity separates "
            "it; leave this contact out"
        )
    return rows / lengths[:, None]


def cholesky(M: Array, name: str = "impact") -> Array:
    """Lower factor L (n, n) of M = L L^T; ValueError if M is no inertia."""
    fault = wrong_inertia(M)
    if fault:
        raise ValueError(f"{name}: {fault}")
    return np.linalg.cholesky(M).astype(np.float64)
