"""Direct collocation with a fixed sequence of modes: the multi-phase method (Kelly 2017).

Each mode of the sequence is a phase of free duration, cut into equal intervals. States and inputs
at the nodes are unknowns; the input is linear and the state a cubic within an interval, whose
slope is the flow at both ends and at the middle (Hermite-Simpson). A phase ends on its
transition's guard, and the reset leads into the next one. What HiLQR finds by shooting is checked
by this, which shares nothing with it but the system. The modes have states and inputs of one size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from saltation.derivatives import jacobian
from saltation.integration import flow_state
from saltation.systems import Array, Mode, System, Transition

_SHORTEST = 1e-3  # of a phase, as a share of the whole duration
Node = tuple[float, Array, Array]  # time, state, input


class Term(NamedTuple):
    """A few rows of the cost or of the constraints, a function of few of the unknowns z."""

    value: Callable[[Array], Array]  # of z[where]
    where: NDArray[np.int64]


class DirectSolution(NamedTuple):
    """Where the optimisation ended; not to be used unless it is ok."""

    ok: bool
    cost: float
    durations: Array  # of the phases [s]
    states: Array  # (phases, K+1, n)
    inputs: Array  # (phases, K+1, m)


class DirectProblem(NamedTuple):
    """Minimise terminal(x(T)) + int running(t, x, u) dt over the phases of a mode sequence."""

    system: System
    initial_mode: int
    edges: tuple[Transition, ...]  # the transitions that happen, in order
    x0: Array  # (n,)
    duration: float  # T [s]
    running: Callable[[float, Array, Array], float]  # (t, x, u) -> cost per second
    terminal: Callable[[Array], float]
    intervals: int = 10  # K of each phase


def solve_direct(problem: DirectProblem, durations: Sequence[float], u: Array) -> DirectSolution:
    """A local optimum near a guess: each phase flows for its duration [s] with the input u (m,).

    The unknowns z are all durations [s], then state and input of every node, phase by phase.
    """
    system, mode, edges, x0, duration, running, terminal, K = problem
    numbers, n = [mode, *(edge.target for edge in edges)], len(x0)
    count, width, leaving = len(numbers), n + system.input_dim, (*edges, None)
    modes = [system.modes[number] for number in numbers]

    def node(p: int, k: int) -> NDArray[np.int64]:
        """Where the state and the input of node k of phase p are."""
        return count + (p * (K + 1) + k) * width + np.arange(width)

    def term(p: int, nodes: Sequence[int], value: Callable[..., Any]) -> Term:
        """A term of ``value(interval length [s], node, ...)``."""

        def of_unknowns(z: Array) -> Array:
            h, parts = z[p] / K, z[p + 1 :].reshape(len(nodes), -1)
            t = np.sum(z[:p]) + nodes[0] * h
            return np.atleast_1d(
                value(h, *((t + i * h, y[:n], y[n:]) for i, y in enumerate(parts)))
            )

        return Term(of_unknowns, np.concatenate([range(p + 1), *(node(p, k) for k in nodes)]))

    def everywhere(value: Callable[..., Any]) -> list[Term]:
        return [term(p, [k, k + 1], partial(value, mode)) for p, mode in enumerate(modes)
                for k in range(K)]  # fmt: skip

    def simpson(mode: Mode, h: float, first: Node, last: Node) -> float:
        middle = running(*_middle(mode, h, first, last))
        return h / 6.0 * (running(*first) + 4.0 * middle + running(*last))

    cost = everywhere(simpson)
    cost.append(term(len(edges), [K], lambda h, node: terminal(node[1])))
    # Initial state, defects, guards and resets, and the duration of the whole.
    equal = [Term(lambda x: x - x0, node(0, 0)[:n]), *everywhere(_defect)]
    for p, edge in enumerate(edges):
        end = term(p, [K], _guard(edge))

        def jump(z: Array, p: int = p, edge: Transition = edge) -> Array:
            x, u, after = np.split(z[p + 1 :], [n, len(z) - p - 1 - n])
            return after - edge.reset(np.sum(z[: p + 1]), x, u)

        equal += [end, Term(jump, np.concatenate((end.where, node(p + 1, 0)[:n])))]
    equal.append(Term(lambda T: np.array([np.sum(T) - duration]), np.arange(count)))
    # No guard is crossed but at the end of a phase, by the transition taken there.
    positive = [
        term(p, [k], _guard(edge))
        for p, (number, taken) in enumerate(zip(numbers, leaving, strict=True))
        for edge in system.outgoing(number)
        for k in range(1, K + (edge is not taken))
    ]
    # The guess: phases that flow for given durations with one input, guards ignored.
    z, t, x = [np.asarray(durations, dtype=np.float64)], 0.0, x0
    for mode, T, edge in zip(modes, durations, leaving, strict=True):
        start = x
        for k in range(K + 1):
            x = flow_state(mode, t, start, u, k * T / K)
            z.append(np.concatenate((x, u)))
        t += T
        x = edge.reset(t, x, u) if edge else x
    guess = np.concatenate(z)
    result = minimize(
        lambda z: float(np.sum(_values(cost, z))),
        guess,
        jac=lambda z: np.sum(_slopes(cost, z), axis=0),
        bounds=[(_SHORTEST * duration, None)] * count + [(None, None)] * (len(guess) - count),
        constraints=[
            {"type": kind, "fun": lambda z, c=c: _values(c, z), "jac": lambda z, c=c: _slopes(c, z)}
            for kind, c in (("eq", equal), ("ineq", positive)) if c
        ],
        method="SLSQP",
        options={"maxiter": 200, "ftol": 1e-10},
    )  # fmt: skip
    nodes = result.x[count:].reshape(count, K + 1, -1)
    ok = bool(result.success and np.isfinite(result.fun))
    return DirectSolution(ok, float(result.fun), result.x[:count], nodes[..., :n], nodes[..., n:])


def _middle(mode: Mode, h: float, first: Node, last: Node) -> Node:
    """Of an interval: on the cubic, and on the line."""
    (t, x, u), (_, x_next, u_next) = first, last
    state = 0.5 * (x + x_next) + h / 8.0 * (mode.flow(*first) - mode.flow(*last))
    return t + 0.5 * h, state, 0.5 * (u + u_next)


def _defect(mode: Mode, h: float, first: Node, last: Node) -> Array:
    """x_next - x - integral of the flow by Simpson's rule, zero on a solution."""
    between = mode.flow(*_middle(mode, h, first, last))
    return last[1] - first[1] - h / 6.0 * (mode.flow(*first) + mode.flow(*last) + 4.0 * between)


def _guard(edge: Transition) -> Callable[..., object]:
    return lambda h, node: edge.guard(*node)


def _values(terms: Sequence[Term], z: Array) -> Array:
    return np.concatenate([term.value(z[term.where]) for term in terms])


def _slopes(terms: Sequence[Term], z: Array) -> Array:
    """Jacobian (rows, len(z)) of the terms."""
    rows = []
    for value, where in terms:
        block = jacobian(value, z[where])
        row = np.zeros((len(block), len(z)))
        row[:, where] = block
        rows.append(row)
    return np.concatenate(rows)
