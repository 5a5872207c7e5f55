"""One integration step of a mode's flow, as a value: cut it shorter, or ask it for any state."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hybrid.integration import adaptive_stages, dense_output, dormand_prince_stages
from hybrid.options import SimulationOptions
from hybrid.systems import Array, Mode


class Piece(NamedTuple):
    """A step from (time, start) with the input held: numerical, or in closed form."""

    flow: Mode
    time: float  # at its start [s]
    start: Array  # (n,)
    input: Array  # (m,)
    length: float  # [s]
    end: Array  # (n,)
    slopes: Array | None = None  # (7, n) of the numerical step; None in closed form

    def made_with(self, length: float) -> Piece:
        """The same step made with another length [s]: its end is of fifth order, or exact."""
        mode, t, x, u = self.flow, self.time, self.start, self.input
        if self.slopes is None:
            assert mode.flow_map is not None
            return Piece(mode, t, x, u, length, mode.flow_map.state(t, x, u, length))
        end, slopes = dormand_prince_stages(
            lambda s, y: mode.flow(s, y, u), t, x, length, self.slopes[0]
        )
        return Piece(mode, t, x, u, length, end, slopes)

    def nudged(self, length: float) -> Array:
        """State (n,) after a very short time [s], to first order at least."""
        if self.slopes is not None:
            return self.start + length * self.slopes[0]
        assert self.flow.flow_map is not None
        return self.flow.flow_map.state(self.time, self.start, self.input, length)

    def at(self, t: float) -> Array:
        """State (n,) at a time [s] in it: closed form, or the fourth-order dense output."""
        elapsed = t - self.time
        if elapsed >= self.length:
            return self.end
        if self.slopes is None:
            assert self.flow.flow_map is not None
            return self.flow.flow_map.state(self.time, self.start, self.input, elapsed)
        return dense_output(self.start, self.end, self.slopes, self.length, elapsed / self.length)


def take_piece(
    mode: Mode, t: float, x: Array, u: Array, h: float, options: SimulationOptions
) -> tuple[Piece, float]:
    """The longest step of at most h [s] within the options, and the length to try next [s].

    Where the flow's dimension is not that of x, ``end`` is the flow's value, of its shape.
    """
    if mode.flow_map is not None:
        h = min(h, options.max_step)
        return Piece(mode, t, x, u, h, mode.flow_map.state(t, x, u, h)), h
    rate = np.asarray(mode.flow(t, x, u), dtype=np.float64)
    if rate.shape != x.shape:
        return Piece(mode, t, x, u, 0.0, rate), h
    end, taken, following, slopes = adaptive_stages(
        lambda s, y: mode.flow(s, y, u), t, x, h, rate, options
    )
    return Piece(mode, t, x, u, taken, end, slopes), following


def finite(x: Array) -> bool:
    """Whether all of x (n,) is finite; one product of a state with itself says so, and quickly."""
    return math.isfinite(x.dot(x)) or bool(np.isfinite(x).all())
