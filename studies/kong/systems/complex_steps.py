"""Modes whose derivatives are complex steps of their flows, compiled: exact to rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from saltation.systems import Array, FlowMap, Mode, VectorFunction


def mode(
    name: str, n: int, m: int, flow: VectorFunction, flow_map: FlowMap | None = None
) -> Mode:  # fmt: skip
    """A mode of n states and m inputs; its flow takes real and complex arrays, and compiles."""
    inner: Callable = njit(flow)
    h = 2.0**-100  # a power of two: what is linear has no rounding at all

    def steps(by_input: bool) -> VectorFunction:
        def derivative(t: float, x: Array, u: Array) -> Array:
            y, v = x.astype(np.complex128), u.astype(np.complex128)
            bumped = v if by_input else y
            D = np.zeros((len(x), len(bumped)))  # noqa: N806
            for i in range(len(bumped)):
                bumped[i] += h * 1j
                D[:, i] = inner(t, y, v).imag / h
                bumped[i] -= h * 1j
            return D

        return derivative

    return Mode(name, n, m, flow, steps(False), steps(True), flow_map)
