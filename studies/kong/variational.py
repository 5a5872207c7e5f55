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

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from saltation.examples.hopper import FLIGHT, MASS, hopper
from saltation.hilqr.cost import Cost
from saltation.hilqr.extension import Modes
from saltation.hilqr.types import CostExpansion
from saltation.saltations import saltation
from saltation.systems import Array, Derivative, Mode, System, Transition, VectorFunction
from studies.kong.systems.complex_steps import mode


def pack_augmented(x: Array, Y: Array) -> Array:
    """State (n + n k,) of the augmented system, from x (n,) and Y (n, k), row by row."""
    return np.concatenate((x, np.reshape(Y, -1)))


def unpack_augmented(y: Array, n: int) -> tuple[Array, Array]:
    """x (n,) and Y (n, k) of an augmented state (n + n k,)."""
    return y[:n], y[n:].reshape(n, -1)


def augmented(system: System, columns: int, *, with_reset_jacobian: bool = False) -> System:
    """The system with states (x, Y), n + n k numbers in each mode, k = ``columns``.

    Derivatives of D_x F and Xi are found by ``saltation.derivatives``; the rest are the system's
    own. Where a reset lands behind another guard, Xi of the chain is not the product of those of
    the events (``saltation.chains``), and Y is not Phi V from there on. Where a jump of the input
    puts a guard far below zero, Xi is D_x R, as in ``saltation.saltations``: the reset is not
    continuous across that border, just behind the guard, and differences there are no derivative.

    Args:
        system: the hybrid system.
        columns: k, 1 or more.
        with_reset_jacobian: pass Y through D_x R in place of Xi, as a comparison: no derivative.
    """
    modes = {number: _augmented_mode(each, columns) for number, each in system.modes.items()}
    edges = tuple(
        _augmented_edge(system, edge, columns, with_reset_jacobian) for edge in system.transitions
    )
    return System(modes, edges, f"{system.name} and its variation".strip())


def analytic_saltation(system: System, edge: Transition, t: float, x: Array, u: Array) -> Array:
    """Xi (n_target, n_source) of a transition at x, which need not be on the guard, (3.2).

    ``saltation.saltation`` gives the same. This one takes complex numbers where the system's
    functions do, and so has derivatives that are exact to rounding: near events that are almost
    grazed Xi bends too much for differences.
    """
    source, target = system.modes[edge.source], system.modes[edge.target]
    D_xR, D_xg = edge.reset_state(t, x, u), edge.guard_state(t, x, u)
    F = source.flow(t, x, u)
    change = target.flow(t, edge.reset(t, x.copy(), u), u) - D_xR @ F - edge.reset_time(t, x, u)
    return D_xR + np.outer(change, D_xg) / (edge.guard_time(t, x, u) + D_xg @ F)


def _augmented_mode(own: Mode, k: int) -> Mode:
    n = own.state_dim

    def flow_state(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        D_xF = own.flow_state(t, x, u)
        return _blocks(D_xF, _columns_by("state", own.flow_state, Y, t, x, u), D_xF, k)

    def flow_input(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        by_input = _columns_by("input", own.flow_state, Y, t, x, u)
        return np.concatenate((own.flow_input(t, x, u), by_input))

    return Mode(
        own.name, n * (1 + k), own.input_dim,
        lambda t, y, u: pack_augmented(
            own.flow(t, y[:n], u), own.flow_state(t, y[:n], u) @ y[n:].reshape(n, -1)),
        flow_state, flow_input
    )  # fmt: skip


def _columns_by(by: Any, matrix: VectorFunction, Y: Array, t: float, x: Array, u: Array) -> Array:
    """Derivative (r k, ...) of matrix(t, x, u) Y, row by row, by the state, input or time."""
    return Derivative(lambda s, z, v: np.reshape(matrix(s, z, v) @ Y, -1), by)(t, x, u)


def _augmented_edge(
    system: System, edge: Transition, k: int, with_reset_jacobian: bool
) -> Transition:
    n, n_target = (system.modes[number].state_dim for number in (edge.source, edge.target))

    def column_matrix(t: float, x: Array, u: Array) -> VectorFunction:
        """Xi as a function of (t, x, u) about an event; or D_x R."""
        if with_reset_jacobian or not saltation(system, edge, t, x, u).ok:
            return edge.reset_state
        return partial(analytic_saltation, system, edge)

    def slopes(by: str, t: float, y: Array, u: Array) -> Array:
        """Derivative of the columns behind the event."""
        x, Y = unpack_augmented(y, n)
        return _columns_by(by, column_matrix(t, x, u), Y, t, x, u)

    def reset(t: float, y: Array, u: Array) -> Array:
        x, Y = unpack_augmented(y, n)
        return pack_augmented(edge.reset(t, x.copy(), u), column_matrix(t, x, u)(t, x, u) @ Y)

    def reset_state(t: float, y: Array, u: Array) -> Array:
        x = y[:n]
        Xi = column_matrix(t, x, u)(t, x, u)
        return _blocks(edge.reset_state(t, x, u), slopes("state", t, y, u), Xi, k)

    return Transition(
        edge.source,
        edge.target,
        guard=lambda t, y, u: edge.guard(t, y[:n], u),
        reset=reset,
        guard_state=lambda t, y, u: np.append(edge.guard_state(t, y[:n], u), np.zeros(n * k)),
        reset_state=reset_state,
        guard_time=lambda t, y, u: edge.guard_time(t, y[:n], u),
        reset_time=lambda t, y, u: np.append(
            np.broadcast_to(edge.reset_time(t, y[:n], u), (n_target,)), slopes("time", t, y, u)
        ),
        guard_input=lambda t, y, u: edge.guard_input(t, y[:n], u),
        reset_input=lambda t, y, u: np.concatenate(
            (edge.reset_input(t, y[:n], u), slopes("input", t, y, u))
        ),
        name=edge.name,
    )


def _blocks(by_state: Array, columns_by_state: Array, M: Array, k: int) -> Array:
    """[[by_state, 0], [columns_by_state, M (x) I_k]]: the derivative of (x, Y) -> (f(x), M Y)."""
    r, n = by_state.shape
    D = np.zeros((r * (1 + k), n * (1 + k)))
    D[:r, :n], D[r:, :n] = by_state, columns_by_state
    D[r:, n:] = np.kron(M, np.eye(k))
    return D


def ramped(system: System) -> System:
    """The system with state (x, u), of n + m numbers in each mode, and input du/dt (m,).

    Guards, resets and their names stay; u passes events unchanged. Every mode carries the whole
    input (m,) of the mode that takes most.

    What a saltation matrix says of a perturbation depends on the input at the very instant of the
    event. A held input may jump there from one timestep to the next, which no perturbed trajectory
    that arrives a little earlier or later gets to see. A continuous one cannot.
    """
    m = system.input_dim
    modes = {number: _ramped_mode(each, m) for number, each in system.modes.items()}
    edges = tuple(_ramped_edge(system, edge, m) for edge in system.transitions)
    return System(modes, edges, f"{system.name} with ramped inputs".strip())


def _ramped_mode(own: Mode, m: int) -> Mode:
    n, end, flow = own.state_dim, own.state_dim + own.input_dim, njit(own.flow)
    return mode(
        own.name, n + m, m,
        lambda t, y, rate: np.concatenate((flow(t, y[:n], y[n:end]), rate)),
    )  # fmt: skip


def _ramped_edge(system: System, edge: Transition, m: int) -> Transition:
    n, after = (system.modes[number].state_dim for number in (edge.source, edge.target))

    def beside(*functions: Callable[..., Any]) -> VectorFunction:
        return lambda t, y, rate: np.concatenate([f(t, y[:n], y[n:]) for f in functions])

    def reset_state(t: float, y: Array, rate: Array) -> Array:
        by_x, by_u = edge.reset_state(t, y[:n], y[n:]), edge.reset_input(t, y[:n], y[n:])
        D = np.zeros((after + m, n + m), dtype=np.result_type(by_x, by_u))
        D[:after, :n], D[:after, n:], D[after:, n:] = by_x, by_u, np.eye(m)
        return D

    return Transition(
        edge.source, edge.target, lambda t, y, rate: edge.guard(t, y[:n], y[n:]),
        beside(edge.reset, lambda t, x, u: u), beside(edge.guard_state, edge.guard_input),
        reset_state, name=edge.name, time_invariant=edge.time_invariant
    )  # fmt: skip


class ConvergentCost(NamedTuple):
    """base(x, u) + weight |W Y_N|_F^2 with Y = Phi V, for trajectories of an augmented system.

    As V V' is the covariance at the start, |W Y|_F^2 is the trace of the linearised covariance of
    W x at the end, (3.37). It is a sum of squares of states of the augmented system, so HiLQR takes
    its gradient exactly and its Hessian in Gauss-Newton's form. All modes have n states.
    """

    base: Cost  # of the system's own states and inputs
    W: Array  # (p, n): what of a perturbation matters
    weight: float

    def value(self, states: Array, inputs: Array, modes: Modes) -> float:
        """Cost of augmented states (N+1, n + n k) and inputs (N, m)."""
        x, Y = self._split(states)
        WY = self.W @ Y
        return self.base.value(x, inputs, modes) + self.weight * np.sum(WY * WY)

    def expand(self, states: Array, inputs: Array, modes: Modes) -> CostExpansion:
        """True gradients and Hessians about a trajectory, with the modes held."""
        x, Y = self._split(states)
        own, n, (knots, width) = self.base.expand(x, inputs, modes), x.shape[1], states.shape
        l_x, l_xx = np.zeros((knots, width)), np.zeros((knots, width, width))
        l_ux = np.zeros((*inputs.shape, width))
        l_x[:, :n], l_xx[:, :n, :n], l_ux[:, :, :n] = own.l_x, own.l_xx, own.l_ux
        M = 2.0 * self.weight * self.W.T @ self.W
        l_x[-1, n:] += (M @ Y).ravel()
        l_xx[-1, n:, n:] += np.kron(M, np.eye(Y.shape[1]))
        return CostExpansion(l_x, own.l_u, l_xx, l_ux, own.l_uu)

    def _split(self, states: Array) -> tuple[Array, Array]:
        """Own states (N+1, n), and the columns (n, k) at the end."""
        n = self.W.shape[1]
        return states[:, :n], unpack_augmented(states[-1], n)[1]


def driven_hopper() -> System:
    """The hopper with a motor in its leg: the input u = [force [N]] adds to the leg's force.

    In FLIGHT it does nothing. The leg's force sets in at touchdown, Xi = [[1, 0], [(u - c v) /
    (m v), 1]] with the velocity v < 0: a motor that pulls in the damper's place, u = c v, makes it
    the identity. At the bottom Xi = diag(1, 1 + push / (m a)), with the upward acceleration a
    before it. The leg lifts off where its force, with the motor's, is zero.
    """
    bare = hopper()
    touchdown, bottom, liftoff = bare.transitions
    lifting = replace(
        liftoff, guard=lambda t, x, u: liftoff.guard(t, x, u) + u[0],
        guard_input=lambda t, x, u: np.array([1.0])
    )  # fmt: skip
    modes = {number: _pushed(each, 0.0 if number == FLIGHT else 1.0 / MASS)
             for number, each in bare.modes.items()}  # fmt: skip
    return System(modes, (touchdown, bottom, lifting), "driven hopper")


def _pushed(own: Mode, gain: float) -> Mode:
    """A mode with a force that moves the body at ``gain`` [1/kg]."""
    flow = njit(own.flow)
    return mode(
        own.name, 2, 1, lambda t, x, u: flow(t, x, u) + np.array([0.0 * u[0], gain * u[0]])
    )  # fmt: skip
