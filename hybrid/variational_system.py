"""A hybrid system together with its variational equation: itself a hybrid system.

A perturbation v of the state x flows by dv/dt = D_x F(t, x, u) v, (3.1), and passes an event by
the saltation matrix, v+ = Xi(t, x, u) v, (3.2). With k such columns Y (n, k) beside the state,
(x, Y) follows

    flow   (F, D_x F Y),
    guard  g(t, x, u), which does not see Y,
    reset  (R, Xi Y),

so that Y = Phi V at any time, with Phi of (3.33) and V (n_start, k) the columns at the start. Where
V V' is a covariance at the start, Y Y' is the linearised one later, (3.37). What simulates,
linearises or optimises hybrid systems does the same to this one; its own saltation matrices hold
the second derivatives of the flow through events. Future directions of the thesis (7.1) name the
aim: plans that shrink perturbations through hybrid events.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hybrid.derivatives import jacobian
from hybrid.saltation import saltation
from hybrid.systems import Array, Mode, System, Transition


class Tangent(NamedTuple):
    """A state and perturbations of it."""

    state: Array  # x (n,)
    columns: Array  # Y (n, k)


def stacked(x: Array, Y: Array) -> Array:
    """State (n + n k,) of the augmented system, from x (n,) and Y (n, k), row by row."""
    return np.concatenate((x, np.reshape(Y, -1)))


def taken_apart(y: Array, n: int) -> Tangent:
    """x (n,) and Y (n, k) of an augmented state (n + n k,)."""
    return Tangent(y[:n], y[n:].reshape(n, -1))


def augmented(
    system: System, columns: int, *, with_reset_jacobian: bool = False
) -> System:
    """The system with states (x, Y), n + n k numbers in each mode, k = ``columns``.

    Derivatives of D_x F and Xi are found by ``hybrid.derivatives``; the rest are the system's own.
    Where a reset lands behind another guard, Xi of the chain is not the product of the events'
    matrices (``hybrid.chains``), and Y is not Phi V from there on. Where a jump of the input has
    carried a guard far below zero, Xi is D_x R, as ``hybrid.saltation`` says: so differences of the
    reset across that border, just behind the guard, do not show its derivative.

    Args:
        system: the hybrid system.
        columns: k, 1 or more.
        with_reset_jacobian: pass Y through D_x R in place of Xi, as a comparison: no derivative.

    Raises:
        ValueError: columns are no whole number of one or more.
    """
    if columns < 1 or columns != int(columns):
        raise ValueError(f"{columns} columns to carry along: give 1 or more")
    modes = {number: _mode(mode, columns) for number, mode in system.modes.items()}
    edges = tuple(
        _transition(system, edge, columns, with_reset_jacobian) for edge in system.transitions
    )
    return System(modes, edges, f"{system.name} and its variation".strip())


def passed_on(
    system: System, edge: Transition, t: float, x: Array, u: Array, Y: Array
) -> Array:
    """Xi Y (n_target, k) of a transition at x (n,), which need not be on the guard, (3.2).

    ``saltation_inside`` gives the same. This one takes complex numbers where the system's
    functions do, and so has derivatives that are exact to rounding: near events that are almost
    grazed Xi bends too much for differences.
    """
    source, target = system.modes[edge.source], system.modes[edge.target]
    D_xR, D_xg = edge.reset_state(t, x, u), edge.guard_state(t, x, u)
    F = source.flow(t, x, u)
    missed = target.flow(t, edge.reset(t, x.copy(), u), u) - D_xR @ F - edge.reset_time(t, x, u)
    return D_xR @ Y + np.outer(missed, D_xg @ Y) / (edge.guard_time(t, x, u) + D_xg @ F)


def _mode(mode: Mode, k: int) -> Mode:
    n = mode.state_dim

    def flow(t: float, y: Array, u: Array) -> Array:
        x, Y = taken_apart(y, n)
        return stacked(mode.flow(t, x, u), mode.flow_state(t, x, u) @ Y)

    def flow_state(t: float, y: Array, u: Array) -> Array:
        x, Y = taken_apart(y, n)
        D_xF = mode.flow_state(t, x, u)
        bent = jacobian(lambda z: np.reshape(mode.flow_state(t, z, u) @ Y, -1), x)
        return _blocks(D_xF, bent, D_xF, k)

    def flow_input(t: float, y: Array, u: Array) -> Array:
        x, Y = taken_apart(y, n)
        bent = jacobian(lambda v: np.reshape(mode.flow_state(t, x, v) @ Y, -1), u)
        return np.concatenate((mode.flow_input(t, x, u), bent))

    return Mode(mode.name, n * (1 + k), mode.input_dim, flow, flow_state, flow_input)


def _transition(system: System, edge: Transition, k: int, plain: bool) -> Transition:
    n = system.modes[edge.source].state_dim

    def carried(t: float, x: Array, u: Array) -> Callable[[float, Array, Array, Array], Array]:
        """Xi Y as a function of (t, x, u, Y) about an event; or D_x R Y."""
        if plain or not saltation(system, edge, t, x, u).ok:
            return lambda s, z, v, Y: edge.reset_state(s, z, v) @ Y
        return lambda s, z, v, Y: passed_on(system, edge, s, z, v, Y)

    def reset(t: float, y: Array, u: Array) -> Array:
        x, Y = taken_apart(y, n)
        return stacked(edge.reset(t, x.copy(), u), carried(t, x, u)(t, x, u, Y))

    def reset_state(t: float, y: Array, u: Array) -> Array:
        x, Y = taken_apart(y, n)
        carry = carried(t, x, u)
        bent = jacobian(lambda z: np.reshape(carry(t, z, u, Y), -1), x)
        return _blocks(edge.reset_state(t, x, u), bent, carry(t, x, u, np.eye(n)), k)

    def reset_time(t: float, y: Array, u: Array) -> Array:
        x, Y = taken_apart(y, n)
        carry, after = carried(t, x, u), system.modes[edge.target].state_dim
        bent = jacobian(lambda s: np.reshape(carry(s[0], x, u, Y), -1), np.array([t]))
        return np.concatenate((np.broadcast_to(edge.reset_time(t, x, u), (after,)), bent[:, 0]))

    def reset_input(t: float, y: Array, u: Array) -> Array:
        x, Y = taken_apart(y, n)
        carry = carried(t, x, u)
        bent = jacobian(lambda v: np.reshape(carry(t, x, v, Y), -1), u)
        return np.concatenate((edge.reset_input(t, x, u), bent))

    return Transition(
        edge.source,
        edge.target,
        guard=lambda t, y, u: edge.guard(t, y[:n], u),
        reset=reset,
        guard_state=lambda t, y, u: np.append(edge.guard_state(t, y[:n], u), np.zeros(n * k)),
        reset_state=reset_state,
        guard_time=lambda t, y, u: edge.guard_time(t, y[:n], u),
        reset_time=reset_time,
        guard_input=lambda t, y, u: edge.guard_input(t, y[:n], u),
        reset_input=reset_input,
        name=edge.name,
    )


def _blocks(by_state: Array, bent: Array, by_column: Array, k: int) -> Array:
    """[[by_state, 0], [bent, by_column (x) I_k]]: how x and the rows of Y pass on."""
    rows, n = by_state.shape
    D = np.zeros((rows * (1 + k), n * (1 + k)))
    D[:rows, :n], D[rows:, :n] = by_state, bent
    D[rows:, n:] = np.kron(by_column, np.eye(k))
    return D
