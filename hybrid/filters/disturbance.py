"""A system whose flow is disturbed: x' = F_I(t, x, u) + omega, omega held in the step (4.6)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from hybrid.systems import Array, Mode, System, Transition


def disturbed(system: System) -> System:
    """The system with the input [u, omega] (m + n,): guards and resets see u alone.

    A mode of fewer than n states takes the first of omega. Closed forms of flows are dropped.
    Kernels have ``CompiledSystem.disturbance`` for the same.
    """
    m, size = system.input_dim, system.input_dim + system.state_dim
    modes = {number: _mode(mode, m, size) for number, mode in system.modes.items()}
    edges = tuple(_transition(edge, m) for edge in system.transitions)
    return System(modes, edges, system.name)


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
