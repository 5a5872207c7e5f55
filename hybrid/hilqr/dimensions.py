"""Modes of different dimension in arrays of one width: shorter states are padded with zeros."""

from __future__ import annotations

import numpy as np

from hybrid.hilqr.extension import Flow
from hybrid.integration import flow_state
from hybrid.options import SimulationOptions
from hybrid.systems import Array, System


def padded(array: Array, shape: tuple[int, ...]) -> Array:
    """An array with zeros after it up to a shape of as many axes; itself if it has that shape."""
    if array.shape == shape:
        return array
    wide = np.zeros(shape)
    wide[tuple(slice(length) for length in array.shape)] = array
    return wide


def padded_flow(system: System, options: SimulationOptions | None = None) -> Flow:
    """Flow of any mode over padded states and inputs, as reference extensions ask for it."""

    def flow(mode: int, t: float, x: Array, u: Array, h: float) -> Array:
        own = system.modes[mode]
        end = flow_state(own, t, x[: own.state_dim], u[: own.input_dim], h, options)
        return padded(end, (system.state_dim,))

    return flow
