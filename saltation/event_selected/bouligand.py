"""The Bouligand derivative of an event-selected flow through a point on several guards at once.

The flow is not differentiable there, and still has a derivative in every direction: linear in
pieces, one for each order in which perturbed trajectories cross the guards.

Sources: Burden, Sastry, Koditschek, Revzen, "Event-Selected Vector Field Discontinuities Yield
Piecewise-Differentiable Flows", 2016: along one order the derivative is a product of saltation
matrices. Council, Revzen, Burden, "Representing and Computing the B-Derivative of the
Piecewise-Differentiable Flow of a Class of Nonsmooth Vector Fields": the order is that in which
the guards are crossed where the fields are constant, the guards planes.
"""

# ruff: noqa: N803, N806 (the letters are the papers': F a field, Dh, Xi a saltation matrix)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from saltation.saltations import saltation_matrix
from saltation.systems import Array

MOST_GUARDS = 7  # whose orders, 5040, are listed
THINNEST = 1e-9  # slack of a cone in the unit cube, below which it has no inside
Fields = Callable[[Array], Array] | Array


class Image(NamedTuple):
    """Image of a perturbation, and the order of the guards that it brings about."""

    image: Array  # (n,)
    order: tuple[int, ...]


class Piece(NamedTuple):
    """The derivative for perturbations that make the guards be crossed in one order."""

    order: tuple[int, ...]
    matrix: Array  # (n, n) Xi of the last guard @ ... @ Xi of the first
    direction: Array  # (n,) of length 1, a perturbation in the piece's cone


def bouligand_derivative(fields: Fields, Dh: Array, delta: Array) -> Image:
    """Image (n,) of a perturbation delta (n,) of a flow through a point on m guards.

    The perturbation is that of the state in the flow before all guards, carried on to the instant
    at which the nominal state is on them; the image, that in the flow after all of them, carried
    back to this instant. Guards that delta makes be met together are crossed in the order of
    their numbers, which gives the same image as any other.

    Args:
        fields: f at the point on each side, side (m,) of -1.0 and +1.0 -> (n,); or an array
            (2^m, n), whose row is the sum of 2^k over the guards k with side +1.0.
        Dh: gradients of the event functions (m, n).
        delta: perturbation (n,).

    Raises:
        ValueError: the shapes do not fit, delta is not finite, or an h falls on the way
            (liveness).
    """
    piece = selected_piece(fields, Dh, delta)
    return Image(piece.matrix @ np.asarray(delta, float), piece.order)


def selected_piece(fields: Fields, Dh: Array, delta: Array) -> Piece:
    """The piece that holds for a perturbation delta (n,); see ``bouligand_derivative``."""
    corner, delta = Corner.of(fields, Dh), np.asarray(delta, float)
    if delta.shape != (corner.dim,) or not np.isfinite(delta).all():
        raise ValueError(f"delta {delta} is not {corner.dim} finite numbers, as the states are")
    side, matrix, order = -np.ones(corner.count), np.eye(corner.dim), []
    while len(order) < corner.count:
        arrivals = corner.arrivals(side) @ matrix @ delta
        j = int(np.argmin(np.where(side < 0.0, arrivals, np.inf)))
        matrix = corner.saltation(side, j) @ matrix
        side[j] = 1.0
        order.append(j)
    return Piece(tuple(order), matrix, delta / (np.linalg.norm(delta) or 1.0))


def all_pieces(fields: Fields, Dh: Array) -> list[Piece]:
    """One piece for each order that the perturbations of some open cone select.

    Raises:
        ValueError: as for ``bouligand_derivative``, or more than MOST_GUARDS guards.
    """
    corner, pieces = Corner.of(fields, Dh), []
    if corner.count > MOST_GUARDS:
        raise ValueError(
            f"{corner.count} guards may have {corner.count}! orders; give at most {MOST_GUARDS}, or"
            " ask selected_piece for that of one perturbation"
        )
    _extend(corner, (), np.eye(corner.dim), np.zeros((0, corner.dim)), pieces)
    return pieces


def _extend(
    corner: Corner, order: tuple[int, ...], matrix: Array, cone: Array, pieces: list[Piece]
) -> None:
    """Add the pieces whose order begins like this: for delta with cone (c, n) @ delta < 0."""
    direction = _inside(cone)
    if direction is None:
        return
    if len(order) == corner.count:
        pieces.append(Piece(order, matrix, direction))
        return
    ahead = [k for k in range(corner.count) if k not in order]
    side = np.ones(corner.count)
    side[ahead] = -1.0
    arrivals = corner.arrivals(side) @ matrix
    for j in ahead:
        earlier = [arrivals[j] - arrivals[k] for k in ahead if k != j]
        further = corner.saltation(side, j) @ matrix
        narrower = np.vstack([cone, *earlier])
        _extend(corner, (*order, j), further, narrower, pieces)


def _inside(cone: Array) -> Array | None:
    """Direction (n,) of length 1 well inside cone (c, n) @ direction < 0; None where none is.

    By linear programming: the greatest slack of the rows, brought to length 1, in the unit cube.
    """
    if len(cone) == 0:
        return np.eye(cone.shape[1])[0]
    sizes, n = np.linalg.norm(cone, axis=1), cone.shape[1]
    if not (sizes > THINNEST).all():
        return None  # two guards that are always met together
    rows = np.column_stack([cone / sizes[:, None], np.ones(len(cone))])
    bounds = [(-1.0, 1.0)] * n + [(None, 1.0)]
    best = linprog(np.append(np.zeros(n), -1.0), rows, np.zeros(len(rows)), bounds=bounds)
    if not (best.success and best.x[n] > THINNEST):
        return None
    return best.x[:n] / np.linalg.norm(best.x[:n])


@dataclass(frozen=True)
class Corner:
    """The fields frozen at the point, and planes for the guards: the "corner vector field"."""

    field: Callable[[Array], Array]  # side (m,) of -1.0 and +1.0 -> F (n,)
    Dh: Array  # (m, n)

    @staticmethod
    def of(fields: Fields, Dh: Array) -> Corner:
        """From a function, or an array (2^m, n) as ``bouligand_derivative`` has it."""
        Dh = np.atleast_2d(np.asarray(Dh, float))
        m, n = Dh.shape
        if callable(fields):
            return Corner(fields, Dh)
        table, weights = np.asarray(fields, float), 2 ** np.arange(m)
        if table.shape != (2**m, n):
            raise ValueError(
                f"fields have shape {table.shape}; for {m} guards give ({2**m}, {n}), or a function"
            )
        return Corner(lambda side: table[int(weights @ (np.asarray(side) > 0.0))], Dh)

    @property
    def count(self) -> int:
        """Guards, m."""
        return self.Dh.shape[0]

    @property
    def dim(self) -> int:
        """States, n."""
        return self.Dh.shape[1]

    def live_field(self, side: Array) -> Array:
        """F (n,) on a side.

        Raises:
            ValueError: its shape does not fit, or an h falls along it.
        """
        F = np.asarray(self.field(side), float)
        if F.shape != (self.dim,):
            raise ValueError(f"a field has shape {F.shape}; the guards' states are ({self.dim},)")
        rates = self.Dh @ F
        if not (rates > 0.0).all():
            k = int(np.argmin(rates > 0.0))
            raise ValueError(
                f"guard {k} does not rise on side {side.astype(int).tolist()}, Dh F ="
                f" {rates[k]:.3g}: the flow is event-selected where every field carries every h up"
                " (liveness)"
            )
        return F

    def arrivals(self, side: Array) -> Array:
        """Rows (m, n) that give the guards' arrival times from a perturbation, on a side."""
        return -self.Dh / (self.Dh @ self.live_field(side))[:, None]

    def saltation(self, side: Array, j: int) -> Array:
        """Xi (n, n) of guard j, (3.2) without a reset; h rises here, and its guard falls there."""
        after = side.copy()
        after[j] = 1.0
        fields = self.live_field(side), self.live_field(after)
        return saltation_matrix(np.eye(self.dim), *fields, -self.Dh[j], minimum_rate=0.0).matrix
