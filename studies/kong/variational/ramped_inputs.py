"""Inputs as states: a system whose input is continuous, and whose new input is its rate.

What a saltation matrix says of a perturbation depends on the input at the very instant of the
event. A held input may jump there from one timestep to the next, which no perturbed trajectory
that arrives a little earlier or later gets to see. A continuous one cannot.
"""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np

from hybrid.systems import Array, Mode, System, Transition


def ramped(system: System) -> System:
    """The system with state (x, u), of n + m numbers in each mode, and input du/dt (m,).

    Guards, resets and their names stay; u passes events unchanged. Every mode carries the whole
    input (m,) of the mode that takes most.
    """
    m = system.input_dim
    modes = {number: _mode(mode, m) for number, mode in system.modes.items()}
    edges = tuple(_transition(system, edge, m) for edge in system.transitions)
    return System(modes, edges, f"{system.name} with ramped inputs".strip())


def _mode(mode: Mode, m: int) -> Mode:
    n, own = mode.state_dim, mode.input_dim
    by_rate = np.concatenate((np.zeros((n, m)), np.eye(m)))

    def flow(t: float, y: Array, rate: Array) -> Array:
        return np.concatenate((mode.flow(t, y[:n], y[n : n + own]), rate))

    def flow_state(t: float, y: Array, rate: Array) -> Array:
        x, u = y[:n], y[n : n + own]
        by_x, by_u = mode.flow_state(t, x, u), mode.flow_input(t, x, u)
        D = np.zeros((n + m, n + m), dtype=np.result_type(by_x, by_u))
        D[:n, :n], D[:n, n : n + own] = by_x, by_u
        return D

    def flow_input(t: float, y: Array, rate: Array) -> Array:
        return by_rate.copy()

    return Mode(mode.name, n + m, m, flow, flow_state, flow_input)


def _transition(system: System, edge: Transition, m: int) -> Transition:
    n, after = (system.modes[number].state_dim for number in (edge.source, edge.target))

    def guard(t: float, y: Array, rate: Array) -> float:
        return edge.guard(t, y[:n], y[n:])

    def guard_state(t: float, y: Array, rate: Array) -> Array:
        return np.concatenate(
            (edge.guard_state(t, y[:n], y[n:]), edge.guard_input(t, y[:n], y[n:]))
        )

    def guard_time(t: float, y: Array, rate: Array) -> float:
        return edge.guard_time(t, y[:n], y[n:])

    def reset(t: float, y: Array, rate: Array) -> Array:
        return np.concatenate((edge.reset(t, y[:n], y[n:]), y[n:]))

    def reset_state(t: float, y: Array, rate: Array) -> Array:
        by_x, by_u = edge.reset_state(t, y[:n], y[n:]), edge.reset_input(t, y[:n], y[n:])
        D = np.zeros((after + m, n + m), dtype=np.result_type(by_x, by_u))
        D[:after, :n], D[:after, n:], D[after:, n:] = by_x, by_u, np.eye(m)
        return D

    def reset_time(t: float, y: Array, rate: Array) -> Array:
        by_time = np.broadcast_to(edge.reset_time(t, y[:n], y[n:]), (after,))
        return np.concatenate((by_time, np.zeros(m)))

    return Transition(
        edge.source, edge.target, guard, reset, guard_state, reset_state, guard_time, reset_time,
        lambda t, y, rate: np.zeros(m), lambda t, y, rate: np.zeros((after + m, m)),
        edge.name, edge.time_invariant,
    )  # fmt: skip
