"""A system whose flow is disturbed: x' = F_I(t, x, u) + omega, omega held in the step (4.6)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from numba import njit

from hybrid.compiled.system import (
    SCALAR_FUNCTION,
    VECTOR_FUNCTION,
    CompiledSystem,
    compiled,
    quiet,
)
from hybrid.systems import Array, HybridSystem, Mode, Transition


def disturbed(system: HybridSystem) -> HybridSystem:
    """The system with the input [u, omega] (m + n,): guards and resets see u alone.

    A mode of fewer than n states takes the first of omega. Closed forms of flows are dropped.
    """
    m, size = system.input_dim, system.input_dim + system.state_dim
    modes = {number: _mode(mode, m, size) for number, mode in system.modes.items()}
    edges = tuple(_transition(edge, m) for edge in system.transitions)
    return HybridSystem(modes, edges, system.name)


def disturbed_table(system: HybridSystem) -> CompiledSystem | None:
    """The tables of ``disturbed(system)``; None where the system does not compile."""
    known = getattr(system, "_disturbed", None)
    table = compiled(system).system
    if known is not None or table is None:
        return known
    m, modes, edges = system.input_dim, len(system.modes), len(system.transitions)
    with quiet():
        made = table._replace(
            flows=_wrapped(table.flows, modes, lambda flow: _compiled_flow(flow, m)),
            guards=_wrapped(table.guards, edges, lambda g: _without(g, m, SCALAR_FUNCTION)),
            resets=_wrapped(table.resets, edges, lambda R: _without(R, m, VECTOR_FUNCTION)),
        )
    object.__setattr__(system, "_disturbed", made)
    return made


def _mode(mode: Mode, m: int, size: int) -> Mode:
    flow, end = mode.flow, m + mode.state_dim

    def with_disturbance(t: float, x: Array, u: Array) -> Array:
        return flow(t, x, u[:m]) + u[m:end]

    return Mode(mode.name, mode.state_dim, size, with_disturbance)


def _transition(edge: Transition, m: int) -> Transition:
    def undisturbed(function: Callable) -> Callable:
        return lambda t, x, u: function(t, x, u[:m])

    names = ("guard", "reset", "guard_state", "reset_state", "guard_time", "reset_time")
    return dataclasses.replace(edge, **{n: undisturbed(getattr(edge, n)) for n in names})


def _wrapped(table: tuple, count: int, wrap: Callable[[Any], Any]) -> tuple:
    """The first ``count`` functions of a table wrapped, what pads it left as it is."""
    return tuple(wrap(function) for function in table[:count]) + table[count:]


def _compiled_flow(flow: Any, m: int) -> Any:
    @njit(VECTOR_FUNCTION, error_model="numpy")
    def with_disturbance(t, x, u):
        slope = flow(t, x, u[:m]).copy()
        for i in range(len(slope)):
            slope[i] += u[m + i]
        return slope

    return with_disturbance


def _without(function: Any, m: int, signature: Any) -> Any:
    return njit(signature, error_model="numpy")(lambda t, x, u: function(t, x, u[:m]))
