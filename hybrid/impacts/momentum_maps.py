"""Collisions as linear maps of momentum, after Seghete and Murphey (2012).

Momenta and surface normals are covectors, rows (n,), with the kinetic metric of one configuration:
<u, v> = u M^-1 v^T, |u|^2 = <u, u>. The normal u = D phi of a gap phi >= 0 is a row of J_n, and a
momentum p = v^T M comes together over it where <p, u> = J_n v < 0. Friction does not occur.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybrid.systems import Array


def surface_cosines(
    M: Array, J_n: Array, contacts: Sequence[str] = (), name: str = "configuration"
) -> Array:
    """Cosines s (m, m) of the contact surfaces at one configuration: (22) with the normals (23).

    ``M`` (n, n) is the inertia and the rows of ``J_n`` (m, n) are the normals; ``contacts`` (m)
    and ``name`` are said in messages. s[i, j] = 0 where impacts at i and j commute, (15);
    +-1 where the surfaces are tangent, (14).

    Raises ValueError where there is no contact, or what ``whiten`` refuses.
    """
    normals = whiten(M, J_n, contacts, name)
    if len(normals) == 0:
        raise ValueError(f"{name}: no contact; give J_n at least one row")
    cosines = np.clip(normals @ normals.T, -1.0, 1.0)
    np.fill_diagonal(cosines, 1.0)
    return cosines


def whiten(
    M: Array, J_n: Array, contacts: Sequence[str] = (), name: str = "configuration"
) -> Array:
    """Unit normals (m, n) in coordinates where the kinetic metric is the identity: u L^-T, M = LL^T.

    Raises ValueError where shapes disagree, an entry is not finite, M is not symmetric and positive
    definite, or a row of J_n is zero.
    """
    M, J_n = np.asarray(M, float), np.asarray(J_n, float)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or J_n.ndim != 2 or J_n.shape[1] != M.shape[0]:
        raise ValueError(
            f"{name}: M {M.shape} and J_n {J_n.shape} do not fit; give (n, n) and (m, n)"
        )
    rows = np.linalg.solve(cholesky(M, name), J_n.T).T
    lengths = np.linalg.norm(rows, axis=1)
    for contact in np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0.0))):
        named = contacts[contact] if contact < len(contacts) else f"number {contact}"
        raise ValueError(
            f"{name}: the normal of contact {named} is zero or not finite, so no velocity reaches "
            "it; leave the contact out"
        )
    return rows / lengths[:, None]


def cholesky(M: Array, name: str = "configuration") -> Array:
    """Lower factor L (n, n) of M = L L^T; ValueError where M is not symmetric positive definite."""
    size = float(np.max(np.abs(M))) if M.size else 0.0
    if np.isfinite(size) and np.allclose(M, M.T, rtol=0.0, atol=1e-9 * size):
        try:
            factor = np.linalg.cholesky(M)
            if np.min(np.diag(factor)) ** 2 > 1e-14 * size:
                return factor
        except np.linalg.LinAlgError:
            pass
    raise ValueError(
        f"{name}: M is singular or not symmetric positive definite; give every coordinate an inertia"
    )
