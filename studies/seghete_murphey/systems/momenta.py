"""Simultaneous impacts as linear maps of momentum (Seghete and Murphey, 2012).

Equation numbers are theirs. Momenta and surface normals are covectors as in
``saltation.impacts.surface_cosines``. A momentum p = v^T M runs into the surface u, is infeasible,
where <p, u> = J_n v < 0. The map (9) at u is p_+ = p_- - c <p_-, u> u / |u|^2. No friction acts.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from saltation.impacts.surface_cosines import cholesky, surface_cosines, unit_normals
from saltation.systems import Array

_ORTHONORMAL = 1e-6  # sine of the angle of surfaces that count as tangent
_FEASIBLE = 1e-10  # least -<p, u> / (|p_-| |u|) that is infeasible


class OrderSensitivity(NamedTuple):
    """Derivatives by eps of the outcome of impacts at u and v_eps."""

    dp_vu: Array  # (n,) with the map at v_eps first: (18)
    dp_uv: Array  # (n,) in the other order
    spread: Any  # |dp_vu - dp_uv|: rate at which both orders diverge, in the metric


class Outcomes(NamedTuple):
    """All orders of impacts from one momentum."""

    ends: list[tuple[Array, tuple[int, ...], bool]]  # momentum (n,), surfaces in order, feasible
    status: str  # "complete"; "map_limit": in one order at least; "order_limit": not all orders
    largest_distance: Any  # between two feasible outcomes, in the metric, over |p_-|


def map_factor(restitution: float) -> float:
    """c = 1 + sqrt(e) of (9): e, 0 to 1, is the share of the normal motion's energy that remains.

    Newton's coefficient, of velocities, is its root. The print has an error: docs/errata.md.

    Raises:
        ValueError: e is outside 0 to 1.
    """
    if not 0.0 <= restitution <= 1.0:
        raise ValueError(f"restitution {restitution:g}: give 0 (plastic) to 1 (elastic)")
    return 1.0 + np.sqrt(restitution)


def order_sensitivity(
    M: Array, u: Array, v: Array, w: Array, p: Array, restitution: float = 1.0
) -> OrderSensitivity:
    """Growth of an outcome and its dependence on the order with eps, v_eps = v + eps w, (18)-(20).

    Covectors (n,): u, v and w of unit length in the metric of ``M`` (n, n), u and w orthogonal to
    v; ``p`` the momentum before.
    """
    c, L = map_factor(restitution), cholesky(M)
    x, y, z, q = np.linalg.solve(L, np.stack((u, v, w, p)).T).T
    common = -c * ((q @ y) * z + (q @ z) * y)
    vu = common + c * c * (x @ z) * (q @ y) * x
    uv = common + c * c * (x @ z) * (q @ x) * y
    return OrderSensitivity(L @ vu, L @ uv, np.linalg.norm(vu - uv))


def deviation(M: Array, u: Array, v: Array) -> tuple[Array, Array, float]:
    """Two surfaces' normals (n,) as orthogonal units u, v and eps: theirs are u and v + eps u (16).

    eps u is "the vector which would bring them to perfect orthogonality" of section IV: with s the
    surfaces' cosine (22), eps = s / sqrt(1 - s^2).

    Raises:
        ValueError: the surfaces are tangent, or as ``surface_cosines``.
    """
    s, L = surface_cosines(M, np.stack((u, v)))[0, 1], cholesky(M)
    x, y = np.linalg.solve(L, np.stack((u, v)).T).T
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    across = y - s * x
    sine = np.linalg.norm(across)
    if sine < _ORTHONORMAL:
        raise ValueError(f"surfaces of cosine {s:g} are tangent: no turn makes them orthogonal")
    return L @ x, L @ across / sine, s / sine


def all_orders(
    M: Array,
    normals: Array,
    p: Array,
    restitution: float = 1.0,
    max_maps: int = 100,
    max_orders: int = 2000,
) -> Outcomes:
    """Every order of maps (11) that leads from ``p`` to a feasible momentum, depth first.

    At each momentum every infeasible surface is tried: for two surfaces both words u v ... and
    v u ..., for m orthogonal ones all m! permutations. Elastic impacts at two surfaces of cosine s
    need at most pi / arccos(-s) maps, rounded up; plastic ones with s < 0 need infinitely many, and
    end at the tolerance. The coordinates are p L^-T with M = L L^T, in which the metric is the
    identity.

    Args:
        M: inertia (n, n).
        normals: covectors (m, n).
        p: covector (n,).
        restitution: e of (9).
        max_maps: one after another, before an order is given up.
        max_orders: before the enumeration is given up.

    Raises:
        ValueError: the restitution is outside 0 to 1, or as ``unit_normals``.
    """
    c, units, L = map_factor(restitution), unit_normals(M, normals), cholesky(M)
    start = np.linalg.solve(L, p).astype(np.float64)
    size, results = np.linalg.norm(start), []
    orders: list[tuple[Array, tuple[int, ...]]] = [(start, ())]
    while orders and len(results) < max_orders:
        q, order = orders.pop()
        choices = np.flatnonzero(units @ q < -_FEASIBLE * size)
        if len(choices) and len(order) < max_maps:
            orders += [(q - c * (q @ units[i]) * units[i], (*order, int(i))) for i in choices[::-1]]
        else:
            results.append((L @ q, order, not len(choices)))
    ends = [p_plus for p_plus, _, feasible in results if feasible]
    unfinished = len(ends) < len(results)
    status = "order_limit" if orders else "map_limit" if unfinished else "complete"
    farthest = 0.0
    if len(ends) > 1 and size:
        q = np.linalg.solve(L, np.transpose(ends)).T
        farthest = max(np.linalg.norm(q[i:] - q[i], axis=1).max() for i in range(len(q)))
    return Outcomes(results, status, farthest / (size or 1.0))
