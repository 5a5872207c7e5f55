"""Collisions as linear maps of momentum (Seghete and Murphey, 2012; equation numbers are theirs).

Momenta and surface normals are covectors as in ``hybrid.impacts.surface_cosines``. A momentum
p = v^T M runs into the surface u, is infeasible, where <p, u> = J_n v < 0. No friction acts.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid.impacts.surface_cosines import cholesky, surface_cosines, unit_normals
from hybrid.systems import Array

_ORTHONORMAL = 1e-6  # largest entry of the Gram matrix of u, v, w that is taken to be zero


def momentum_map(M: Array, u: Array, restitution: float = 1.0) -> Array:
    """Gamma(u) (n, n) of p_+ = p_- Gamma(u), (9); ``u`` (n,) of any length but zero.

    ``restitution`` e, 0 to 1, is the share of the energy of the normal motion that remains,
    K_+ - K_- + (1 - e) K_perp = 0. Newton's coefficient, of velocities, is its root:
    <p_+, u> = -sqrt(e) <p_-, u>. The print has an error: docs/errata.md.

    Raises:
        ValueError: e is outside 0 to 1, or as ``unit_normals``.
    """
    c = map_factor(restitution)
    unit_normals(M, u[None])
    direction = np.linalg.solve(M, u)
    return np.eye(len(u)) - c * np.outer(direction, u) / (u @ direction)


def map_factor(restitution: float) -> float:
    """1 + sqrt(e) of (9); ValueError if e is not within 0 to 1."""
    if not 0.0 <= restitution <= 1.0:
        raise ValueError(f"restitution {restitution:g}: give 0 (plastic) to 1 (elastic)")
    return 1.0 + float(np.sqrt(restitution))


class OrderSensitivity(NamedTuple):
    """Derivatives by eps of the outcome of impacts at u and v_eps."""

    dp_vu: Array  # (n,) of p Gamma(v_eps) Gamma(u): (18)
    dp_uv: Array  # (n,) of p Gamma(u) Gamma(v_eps), the other order
    p_star: Array  # (n,) projection of p onto Span{v, w} (20)
    spread: float  # |dp_vu - dp_uv|: rate at which both orders diverge, in the metric


class Deviation(NamedTuple):
    """Two surfaces as orthogonal ones and a deviation: v_unit is along v + epsilon w (16)."""

    u: Array  # (n,) unit
    v: Array  # (n,) unit, orthogonal to u
    w: Array  # (n,) unit, orthogonal to v: here u
    epsilon: float


def order_sensitivity(
    M: Array, u: Array, v: Array, w: Array, p: Array, restitution: float = 1.0
) -> OrderSensitivity:
    """How an outcome and its dependence on the order grow with eps in v_eps = v + eps w, (18)-(20).

    Covectors (n,): u, v and w of unit length in the metric of ``M`` (n, n), u and w orthogonal to
    v; ``p`` the momentum before.
    """
    c = map_factor(restitution)
    vectors = np.stack((u, v, w, p))
    L = cholesky(np.asarray(M, float))
    x, y, z, q = np.linalg.solve(L, vectors.T).T
    common = -c * ((q @ y) * z + (q @ z) * y)
    vu = common + c * c * (x @ z) * (q @ y) * x
    uv = common + c * c * (x @ z) * (q @ x) * y
    star = (q @ z) * z + (q @ y) * y
    return OrderSensitivity(L @ vu, L @ uv, L @ star, float(np.linalg.norm(vu - uv)))


def deviation(M: Array, u: Array, v: Array) -> Deviation:
    """The nearest orthogonal pair of two surfaces' normals (n,), turning v in their plane: w = u.

    eps w is "the vector which would bring them to perfect orthogonality" of section IV: with s the
    surfaces' cosine (22), eps = s / sqrt(1 - s^2).

    Raises:
        ValueError: the surfaces are tangent, or as ``surface_cosines``.
    """
    normals = np.stack((u, v))
    s = surface_cosines(M, normals)[0, 1]
    L = cholesky(np.asarray(M, float))
    x, y = np.linalg.solve(L, normals.T).T
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    across = y - s * x
    sine = float(np.linalg.norm(across))
    if sine < _ORTHONORMAL:
        raise ValueError(f"surfaces of cosine {s:g} are tangent: no turn makes them orthogonal")
    return Deviation(L @ x, L @ across / sine, L @ x, float(s / sine))
