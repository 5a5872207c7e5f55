"""Sensitivity of a double impact's outcome to a deviation from orthogonality, (16)-(20).

Source: Seghete and Murphey (2012). u, v are unit and orthogonal; v_eps = v + eps w (16) with w unit
and orthogonal to v. The print has errors: docs/errata.md.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid.impacts.surface_cosines import cholesky, surface_cosines
from hybrid.systems import Array
from saltus.studies.seghete_murphey.momentum_maps import covectors, map_factor

_ORTHONORMAL = 1e-6  # largest entry of the Gram matrix of u, v, w that is taken to be zero


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

    Raises:
        ValueError: u, v, w are not as above, or p is not finite.
    """
    c = map_factor(restitution)
    vectors = covectors(M, u, v, w, p)
    if not np.isfinite(p).all():
        raise ValueError(f"p must be finite, not {np.asarray(p)}; check the velocity before")
    L = cholesky(np.asarray(M, float))
    x, y, z, q = np.linalg.solve(L, vectors.T).T
    faults = [x @ x - 1.0, y @ y - 1.0, z @ z - 1.0, x @ y, y @ z]
    if not np.max(np.abs(faults)) <= _ORTHONORMAL:
        raise ValueError(
            "u, v, w must be of unit length in the kinetic metric, and u and w orthogonal to v;"
            " `deviation` makes them so"
        )
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
    normals = covectors(M, u, v)
    s = surface_cosines(M, normals)[0, 1]
    L = cholesky(np.asarray(M, float))
    x, y = np.linalg.solve(L, normals.T).T
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    across = y - s * x
    sine = float(np.linalg.norm(across))
    if sine < _ORTHONORMAL:
        raise ValueError(f"surfaces of cosine {s:g} are tangent: no turn makes them orthogonal")
    return Deviation(L @ x, L @ across / sine, L @ x, float(s / sine))
