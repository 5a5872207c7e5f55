"""All orders in which momentum maps resolve a simultaneous impact (11) (Seghete and Murphey, 2012).

Momentum maps are applied at infeasible surfaces until none is left; their order is free, so there
may be several outcomes. Elastic impacts at two surfaces of cosine s need at most pi / arccos(-s)
maps, rounded up; plastic ones with s < 0 need infinitely many, and end here at the tolerance.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid.impacts.message import configuration
from hybrid.impacts.surface_cosines import cholesky, unit_normals
from hybrid.systems import Array
from studies.seghete_murphey.systems.momentum_maps import map_factor

_REMEDY = "raise max_maps or the tolerance"


@dataclass(frozen=True)
class OrderOptions:
    """How far the enumeration goes.

    Raises:
        ValueError: a number with which no enumeration means anything.
    """

    restitution: float = 1.0  # e of (9), the share of normal energy that is kept
    max_maps: int = 100  # one after another, before an order is given up
    max_orders: int = 2000  # before the enumeration is given up
    tolerance: float = 1e-10  # smallest -<p, u> / (|p_-| |u|) that is infeasible

    def __post_init__(self) -> None:
        """Refuse what would call every momentum feasible, or none, or end nothing."""
        map_factor(self.restitution)
        if not 0.0 <= self.tolerance < 1.0:
            raise ValueError(f"tolerance is {self.tolerance}; give a number from 0 to below 1")
        for name in ("max_maps", "max_orders"):
            value = getattr(self, name)
            if not (isinstance(value, int | np.integer) and value > 0):
                raise ValueError(f"{name} is {value}; give a whole number > 0")


class Propagation(NamedTuple):
    """One order of impacts, and where it ends."""

    p_plus: Array  # (n,) momentum afterwards
    order: tuple[int, ...]  # surfaces, in the order of their maps
    status: str  # "feasible"; "map_limit": after max_maps p_plus still runs into a surface
    message: str  # empty where feasible; else what was reached, and the configuration


class Outcomes(NamedTuple):
    """All orders of impacts from one momentum."""

    propagations: tuple[Propagation, ...]
    status: str  # "complete"; "map_limit": in one order at least; "order_limit": not all orders
    message: str  # empty where complete; else what was reached, and the configuration
    largest_distance: float  # between two feasible outcomes, in the metric, over |p_-|


def propagate(
    M: Array,
    normals: Array,
    p: Array,
    order: Sequence[int],
    options: OrderOptions | None = None,
    name: str = "impact",
    contacts: Sequence[str] = (),
) -> Propagation:
    """Apply maps cyclically in ``order``, skipping surfaces that are feasible, (11).

    ``normals`` (m, n) and ``p`` (n,) are covectors; ``order`` names every surface once; ``name``
    and ``contacts`` (m,) are for messages.

    Raises:
        ValueError: ``order`` does not name every surface once, the restitution is outside 0 to 1,
            the momentum is not finite, or as ``unit_normals``.
    """
    walk = _Walk(M, normals, p, options or OrderOptions(), name, contacts)
    if sorted(order) != list(range(len(normals))):
        raise ValueError(f"{name}: order {tuple(order)}; name each of {len(normals)} surfaces once")
    q, maps, at = walk.start, (), 0
    while len(maps) < walk.options.max_maps:
        infeasible = walk.infeasible(q)
        turns = [(at + k) % len(order) for k in range(len(order))]
        turn = next((t for t in turns if infeasible[order[t]]), None)
        if turn is None:
            break
        q, maps, at = walk.mapped(q, order[turn]), (*maps, int(order[turn])), turn + 1
    return walk.propagation(q, maps)


def all_orders(
    M: Array,
    normals: Array,
    p: Array,
    options: OrderOptions | None = None,
    name: str = "impact",
    contacts: Sequence[str] = (),
) -> Outcomes:
    """Every order of maps that leads from ``p`` to a feasible momentum, depth first.

    At each momentum every infeasible surface is tried: for two surfaces both words u v ... and
    v u ..., for m orthogonal ones all m! permutations. ``name`` and ``contacts`` (m,) are for
    messages.

    Raises:
        ValueError: as ``propagate``.
    """
    walk = _Walk(M, normals, p, options or OrderOptions(), name, contacts)
    results: list[Propagation] = []
    open_orders: list[tuple[Array, tuple[int, ...]]] = [(walk.start, ())]
    while open_orders and len(results) < walk.options.max_orders:
        q, order = open_orders.pop()
        choices = np.flatnonzero(walk.infeasible(q))
        if len(choices) == 0 or len(order) >= walk.options.max_maps:
            results.append(walk.propagation(q, order))
            continue
        open_orders += [(walk.mapped(q, int(i)), (*order, int(i))) for i in choices[::-1]]
    status, message = walk.verdict(results, bool(open_orders))
    return Outcomes(tuple(results), status, message, walk.largest_distance(results))


class _Walk:
    """Maps in coordinates p L^-T, M = L L^T, in which the metric is the identity."""

    def __init__(
        self,
        M: Array,
        normals: Array,
        p: Array,
        options: OrderOptions,
        name: str,
        contacts: Sequence[str],
    ) -> None:
        self.c = map_factor(options.restitution)
        self.normals = unit_normals(M, normals, contacts, name)
        self.L = cholesky(np.asarray(M, float), name)
        self.options = options
        if np.shape(p) != (len(self.L),) or not np.isfinite(p).all():
            raise ValueError(f"{name}: p must be {len(self.L)} finite numbers, not {np.asarray(p)}")
        self.start: Array = np.linalg.solve(self.L, p).astype(np.float64)
        self.size = float(np.linalg.norm(self.start))
        contacts = contacts or [str(i) for i in range(len(normals))]
        self.place = configuration(name, contacts, "p", p)

    def infeasible(self, q: Array) -> NDArray[np.bool_]:
        return self.normals @ q < -self.options.tolerance * self.size

    def mapped(self, q: Array, surface: int) -> Array:
        u = self.normals[surface]
        return q - self.c * (q @ u) * u

    def propagation(self, q: Array, order: tuple[int, ...]) -> Propagation:
        if not self.infeasible(q).any():
            return Propagation(self.L @ q, order, "feasible", "")
        message = f"{self.place}: not feasible after {len(order)} maps; {_REMEDY}"
        return Propagation(self.L @ q, order, "map_limit", message)

    def verdict(self, results: Sequence[Propagation], more: bool) -> tuple[str, str]:
        if more:
            return "order_limit", (
                f"{self.place}: more than {self.options.max_orders} orders of impacts; raise"
                " max_orders, or give fewer contacts"
            )
        unfinished = sum(each.status == "map_limit" for each in results)
        if unfinished:
            return "map_limit", (
                f"{self.place}: {unfinished} of {len(results)} orders of impacts are not feasible"
                f" after"
                f" {self.options.max_maps} maps; {_REMEDY}"
            )
        return "complete", ""

    def largest_distance(self, results: Sequence[Propagation]) -> float:
        ends = [each.p_plus for each in results if each.status == "feasible"]
        if len(ends) < 2 or self.size == 0.0:
            return 0.0
        q = np.linalg.solve(self.L, np.transpose(ends)).T
        return max(float(np.linalg.norm(q[i:] - q[i], axis=1).max()) for i in range(len(q))) / (
            self.size
        )
