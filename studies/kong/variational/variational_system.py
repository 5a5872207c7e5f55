"""A hybrid system together with its variational equation: itself a hybrid system.

A perturbation v of the state x flows by dv/dt = D_x F(t, x, u) v, (3.1), and passes an event by
the saltation matrix, v+ = Xi(t, x, u) v, (3.2). With k such columns Y (n, k) beside the state,
(x, Y) follows

    flow   (F, D_x F Y),
    guard  g(t, x, u), which does not depend on Y,
    reset  (R, Xi Y),

so that Y = Phi V at any time, with Phi of (3.33) and V (n_start, k) the columns at the start. Where
V V' is a covariance at the start, Y Y' is the linearised one later, (3.37). What simulates,
linearises or optimises hybrid systems does the same to this one; its own saltation matrices hold
the second derivatives of the flow through events. Future directions of the thesis (7.1) name the
aim: plans that shrink perturbations through hybrid events.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hybrid.saltations import saltation
from hybrid.systems import Array, Derivative, Mode, System, Transition, VectorFunction


class Augmented(NamedTuple):
    """A state and perturbations of it."""

    state: Array  # x (n,)
    columns: Array  # Y (n, k)


def pack_augmented(x: Array, Y: Array) -> Array:
    """State (n + n k,) of the augmented system, from x (n,) and Y (n, k), row by row."""
    return np.concatenate((x, np.reshape(Y, -1)))


def unpack_augmented(y: Array, n: int) -> Augmented:
    """x (n,) and Y (n, k) of an augmented state (n + n k,)."""
    return Augmented(y[:n], y[n:].reshape(n, -1))


def augmented(system: System, columns: int, *, with_reset_jacobian: bool = False) -> System:
    """The system with states (x, Y), n + n k numbers in each mode, k = ``columns``.

    Derivatives of D_x F and Xi are found by ``hybrid.derivatives``; the rest are the system's own.
    Where a reset lands behind another guard, Xi of the chain is not the product of the events'
    matrices (``hybrid.chains``), and Y is not Phi V from there on. Where a jump of the input puts a
    guard far below zero, Xi is D_x R, as in ``hybrid.saltations``: the reset is not continuous
    across that border, just behind the guard, and differences there are no derivative.

    Args:
        system: the hybrid system.
        columns: k, 1 or more.
        with_reset_jacobian: pass Y through D_x R in place of Xi, as a comparison: no derivative.

    Raises:
        ValueError: ``columns`` is not a whole number of one or more.
    """
    if columns < 1 or columns != int(columns):
        raise ValueError(f"{columns} columns: give a whole number, 1 or more")
    modes = {number: _mode(mode, columns) for number, mode in system.modes.items()}
    edges = tuple(
        _transition(system, edge, columns, with_reset_jacobian) for edge in system.transitions
    )
    return System(modes, edges, f"{system.name} and its variation".strip())


def analytic_saltation(system: System, edge: Transition, t: float, x: Array, u: Array) -> Array:
    """Xi (n_target, n_source) of a transition at x, which need not be on the guard, (3.2).

    ``hybrid.saltation`` gives the same. This one takes complex numbers where the system's
    functions do, and so has derivatives that are exact to rounding: near events that are almost
    grazed Xi bends too much for differences.
    """
    source, target = system.modes[edge.source], system.modes[edge.target]
    D_xR, D_xg = edge.reset_state(t, x, u), edge.guard_state(t, x, u)
    F = source.flow(t, x, u)
    change = target.flow(t, edge.reset(t, x.copy(), u), u) - D_xR @ F - edge.reset_time(t, x, u)
    return D_xR + np.outer(change, D_xg) / (edge.guard_time(t, x, u) + D_xg @ F)


def _mode(mode: Mode, k: int) -> Mode:
    n = mode.state_dim

    def flow(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        return pack_augmented(mode.flow(t, x, u), mode.flow_state(t, x, u) @ Y)

    def flow_state(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        D_xF = mode.flow_state(t, x, u)
        return _blocks(D_xF, _columns_by("state", mode.flow_state, Y, t, x, u), D_xF, k)

    def flow_input(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        by_input = _columns_by("input", mode.flow_state, Y, t, x, u)
        return np.concatenate((mode.flow_input(t, x, u), by_input))

    return Mode(mode.name, n * (1 + k), mode.input_dim, flow, flow_state, flow_input)


def _columns_by(by: Any, matrix: VectorFunction, Y: Array, t: float, x: Array, u: Array) -> Array:
    """Derivative (r k, ...) of matrix(t, x, u) Y, row by row, by the state, input or time."""
    return Derivative(lambda s, z, v: np.reshape(matrix(s, z, v) @ Y, -1), by)(t, x, u)


def _transition(system: System, edge: Transition, k: int, with_reset_jacobian: bool) -> Transition:
    n, n_target = (system.modes[number].state_dim for number in (edge.source, edge.target))

    def column_matrix(t: float, x: Array, u: Array) -> VectorFunction:
        """Xi as a function of (t, x, u) about an event; or D_x R."""
        if with_reset_jacobian or not saltation(system, edge, t, x, u).ok:
            return edge.reset_state
        return partial(analytic_saltation, system, edge)

    def reset(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        return pack_augmented(edge.reset(t, x.copy(), u), column_matrix(t, x, u)(t, x, u) @ Y)

    def reset_state(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        Xi = column_matrix(t, x, u)
        by_state = _columns_by("state", Xi, Y, t, x, u)
        return _blocks(edge.reset_state(t, x, u), by_state, Xi(t, x, u), k)

    def reset_time(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        by_time = _columns_by("time", column_matrix(t, x, u), Y, t, x, u)
        return np.append(np.broadcast_to(edge.reset_time(t, x, u), (n_target,)), by_time)

    def reset_input(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        by_input = _columns_by("input", column_matrix(t, x, u), Y, t, x, u)
        return np.concatenate((edge.reset_input(t, x, u), by_input))

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


def _blocks(by_state: Array, columns_by_state: Array, M: Array, k: int) -> Array:
    """[[by_state, 0], [columns_by_state, M (x) I_k]]: the derivative of (x, Y) -> (f(x), M Y)."""
    r, n = by_state.shape
    D = np.zeros((r * (1 + k), n * (1 + k)))
    D[:r, :n], D[r:, :n] = by_state, columns_by_state
    D[r:, n:] = np.kron(M, np.eye(k))
    return D
