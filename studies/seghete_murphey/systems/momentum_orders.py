"""All orders in which momentum maps resolve a simultaneous impact (11) (Seghete and Murphey, 2012).

Momentum maps are applied at infeasible surfaces until none is left; their order is free, so there
may be several outcomes. Elastic impacts at two surfaces of cosine s need at most pi / arccos(-s)
maps, rounded up; plastic ones with s < 0 need infinitely many, and end here at the tolerance.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid.impacts.surface_cosines import cholesky, unit_normals
from hybrid.systems import Array
from studies.seghete_murphey.systems.momentum_maps import map_factor


class OrderOptions(NamedTuple):
    """How far the enumeration goes."""

    restitution: float = 1.0  # e of (9), the share of normal energy that is kept
    max_maps: int = 100  # one after another, before an order is given up
    max_orders: int = 2000  # before the enumeration is given up
    tolerance: float = 1e-10  # smallest -<p, u> / (|p_-| |u|) that is infeasible


class Propagation(NamedTuple):
    """One order of impacts, and where it ends."""

    p_plus: Array  # (n,) momentum afterwards
    order: tuple[int, ...]  # surfaces, in the order of their maps
    status: str  # "feasible"; "map_limit": after max_maps p_plus still runs into a surface


class Outcomes(NamedTuple):
    """All orders of impacts from one momentum."""

    propagations: tuple[Propagation, ...]
    status: str  # "complete"; "map_limit": in one order at least; "order_limit": not all orders
    message: str  # empty where complete; else what was reached
    largest_distance: float  # between two feasible outcomes, in the metric, over |p_-|


def all_orders(
    M: Array,
    normals: Array,
    p: Array,
    options: OrderOptions = OrderOptions(),  # noqa: B008 (it is immutable)
) -> Outcomes:
    """Every order of maps (11) that leads from ``p`` to a feasible momentum, depth first.

    At each momentum every infeasible surface is tried: for two surfaces both words u v ... and
    v u ..., for m orthogonal ones all m! permutations. ``normals`` (m, n) and ``p`` (n,) are
    covectors. The coordinates are p L^-T with M = L L^T, in which the metric is the identity.

    Raises:
        ValueError: the restitution is outside 0 to 1, the momentum is not finite, or as
            ``unit_normals``.
    """
    c, units = map_factor(options.restitution), unit_normals(M, normals)
    L = cholesky(np.asarray(M, float))
    if np.shape(p) != (len(L),) or not np.isfinite(p).all():
        raise ValueError(f"p must be {len(L)} finite numbers, not {np.asarray(p)}")
    start: Array = np.linalg.solve(L, p).astype(np.float64)
    size, results = float(np.linalg.norm(start)), []
    open_orders: list[tuple[Array, tuple[int, ...]]] = [(start, ())]
    while open_orders and len(results) < options.max_orders:
        q, order = open_orders.pop()
        choices = np.flatnonzero(units @ q < -options.tolerance * size)
        if len(choices) and len(order) < options.max_maps:
            open_orders += [(q - c * (q @ units[i]) * units[i], (*order, int(i)))
                            for i in choices[::-1]]  # fmt: skip
        else:
            status = "map_limit" if len(choices) else "feasible"
            results.append(Propagation(L @ q, order, status))
    unfinished = any(each.status == "map_limit" for each in results)
    status = "order_limit" if open_orders else "map_limit" if unfinished else "complete"
    message = "" if status == "complete" else f"{status}; raise it, or the tolerance"
    ends = [each.p_plus for each in results if each.status == "feasible"]
    farthest = 0.0
    if len(ends) > 1 and size:
        q = np.linalg.solve(L, np.transpose(ends)).T
        farthest = max(float(np.linalg.norm(q[i:] - q[i], axis=1).max()) for i in range(len(q)))
    return Outcomes(tuple(results), status, message, farthest / (size or 1.0))
