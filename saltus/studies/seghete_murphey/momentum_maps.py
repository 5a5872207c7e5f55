"""Collisions as linear maps of momentum (Seghete and Murphey, 2012; equation numbers are theirs).

Momenta and surface normals are covectors as in ``hybrid.impacts.surface_cosines``. A momentum
p = v^T M runs into the surface u, is infeasible, where <p, u> = J_n v < 0. No friction acts.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

import numpy as np

from hybrid.impacts.surface_cosines import unit_normals
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


def covectors(M: Array, *vectors: Array) -> Array:
    """Vectors of n numbers each as rows (k, n); ValueError if one has another length."""
    rows, n = [np.asarray(each, float) for each in vectors], len(np.atleast_1d(M))
    if any(row.shape != (n,) for row in rows):
        shapes = ", ".join(str(row.shape) for row in rows)
        raise ValueError(f"covectors of shape {shapes} beside M {np.shape(M)}; give ({n},) each")
    return np.stack(rows)


def map_factor(restitution: float) -> float:
    """1 + sqrt(e) of (9); ValueError if e is not within 0 to 1."""
    if not 0.0 <= restitution <= 1.0:
        raise ValueError(
            f"restitution {restitution:g}: give 0 (plastic) to 1 (elastic), a share of energy"
        )
    return 1.0 + float(np.sqrt(restitution))
