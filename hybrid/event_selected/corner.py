"""A point on several guards at once: the fields on all sides of it, and its guards' gradients."""

# ruff: noqa: N803, N806 (the letters are the papers': F a field, Dh, Xi a saltation matrix)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hybrid.saltations import saltation_matrix
from hybrid.systems import Array

Fields = Callable[[Array], Array] | Array


@dataclass(frozen=True)
class Corner:
    """The fields frozen at the point, and planes for the guards: the "corner vector field"."""

    field: Callable[[Array], Array]  # side (m,) of -1.0 and +1.0 -> F (n,)
    Dh: Array  # (m, n)

    @staticmethod
    def of(fields: Fields, Dh: Array) -> Corner:
        """From a function, or an array (2^m, n) as ``bouligand_derivative`` has it."""
        Dh = np.atleast_2d(np.asarray(Dh, dtype=np.float64))
        m, n = Dh.shape
        if callable(fields):
            return Corner(fields, Dh)
        table, weights = np.asarray(fields, dtype=np.float64), 2 ** np.arange(m)
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
        F = np.asarray(self.field(side), dtype=np.float64)
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
