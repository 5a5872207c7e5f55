"""Collisions as linear maps of momentum (Seghete and Murphey, 2012; equation numbers are theirs).

Momenta and surface normals are covectors, rows (n,), with the kinetic metric of one configuration:
<u, v> = u M^-1 v^T, |u|^2 = <u, u>. The normal u = D phi of a gap phi >= 0 is a row of J_n, and a
momentum p = v^T M runs into the surface, is infeasible, where <p, u> = J_n v < 0. No friction acts.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybrid.impacts.contact_problem import wrong_inertia
from hybrid.systems import Array


def momentum_map(M: Array, u: Array, restitution: float = 1.0) -> Array:
    """Gamma(u) (n, n) of p_+ = p_- Gamma(u), (9); ``u`` (n,) of any length but zero.

    ``restitution`` e, 0 to 1, is the share of the energy of the normal motion that remains,
    K_+ - K_- + (1 - e) K_perp = 0. Newton's coefficient, of velocities, is its root:
    <p_+, u> = -sqrt(e) <p_-, u>. The print has an error: docs/errata.md.

    Raises:
        ValueError: e is outside 0 to 1, or as ``unit_normals``.
    """
    c = map_factor(restitution)
    (u,) = covectors(M, u)
    unit_normals(M, u[None])
    direction = np.linalg.solve(M, u)
    return np.eye(len(u)) - c * np.outer(direction, u) / (u @ direction)


def commutator(M: Array, u: Array, v: Array, restitution: float = 1.0) -> Array:
    """Gamma(u) Gamma(v) - Gamma(v) Gamma(u) (n, n), zero in (12).

    Equal to (1 + sqrt(e))^2 <u, v> M^-1 (u^T v - v^T u) / (|u|^2 |v|^2), for normals of any length.
    """
    at_u, at_v = momentum_map(M, u, restitution), momentum_map(M, v, restitution)
    return at_u @ at_v - at_v @ at_u


def commute(M: Array, u: Array, v: Array, tolerance: float = 1e-9) -> bool:
    """Whether impacts at both surfaces commute: v = alpha u (14), or <u, v> = 0 (15).

    The commutator is proportional to |s| sqrt(1 - s^2), s the cosine of both surfaces, which must
    not exceed ``tolerance``.
    """
    first, second = unit_normals(M, covectors(M, u, v))
    cosine = first @ second
    sine = np.linalg.norm(second - cosine * first)
    return bool(abs(cosine) * sine <= tolerance)


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


def covectors(M: Array, *vectors: Array) -> Array:
    """Vectors of n numbers each as rows (k, n); ValueError if one has another length."""
    rows, n = [np.asarray(each, float) for each in vectors], len(np.atleast_1d(M))
    if any(row.shape != (n,) for row in rows):
        shapes = ", ".join(str(row.shape) for row in rows)
        raise ValueError(f"covectors of shape {shapes} beside M {np.shape(M)}; give ({n},) each")
    return np.stack(rows)


def cholesky(M: Array, name: str = "impact") -> Array:
    """Lower factor L (n, n) of M = L L^T; ValueError if M is no inertia."""
    fault = wrong_inertia(M)
    if fault:
        raise ValueError(f"{name}: {fault}")
    return np.linalg.cholesky(M).astype(np.float64)


def map_factor(restitution: float) -> float:
    """1 + sqrt(e) of (9); ValueError if e is not within 0 to 1."""
    if not 0.0 <= restitution <= 1.0:
        raise ValueError(
            f"restitution {restitution:g}: give 0 (plastic) to 1 (elastic), a share of energy"
        )
    return 1.0 + float(np.sqrt(restitution))
