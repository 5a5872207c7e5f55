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
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from saltation.derivatives import jacobian
from saltation.integration import flow_state
from saltation.systems import Array, Mode, System, Transition

_SHORTEST = 1e-3  # of a phase, as a share of the whole duration
Node = tuple[float, Array, Array]  # time, state, input


class DirectSolution(NamedTuple):
    """End of the optimisation; not to be used unless it is ok."""

    ok: bool
    cost: float
    durations: Array  # of the phases [s]
    states: Array  # (phases, K+1, n)


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
    numbers, n, leaving = [mode, *(edge.target for edge in edges)], len(x0), (*edges, None)
    modes, count = [system.modes[number] for number in numbers], len(numbers)

    def phases(z: Array) -> list[tuple[Mode, Any, list[Node]]]:
        """Phases: the mode of each, the length of its intervals [s], and its nodes."""
        return [
            (modes[p], z[p] / K,
             [(np.sum(z[:p]) + k * z[p] / K, y[:n], y[n:]) for k, y in enumerate(nodes)])
            for p, nodes in enumerate(z[count:].reshape(count, K + 1, -1))
        ]  # fmt: skip

    def costs(z: Array) -> Array:
        made = phases(z)
        found = [
            h / 6.0 * (running(*first) + 4.0 * running(*_middle(mode, h, first, last))
                       + running(*last))
            for mode, h, nodes in made for first, last in pairwise(nodes)
        ]  # fmt: skip
        return np.array([*found, terminal(made[-1][2][-1][1])])

    def zeros(z: Array) -> Array:
        """Initial state, defects, guards and resets, and the duration of the whole."""
        made = phases(z)
        found = [made[0][2][0][1] - x0]
        found += [_defect(mode, h, *pair) for mode, h, nodes in made for pair in pairwise(nodes)]
        for edge, (_, _, nodes), (_, _, after) in zip(edges, made, made[1:], strict=False):
            found += [[edge.guard(*nodes[-1])], after[0][1] - edge.reset(*nodes[-1])]
        return np.concatenate([*found, [np.sum(z[:count]) - duration]])

    def positive(z: Array) -> Array:
        """No guard is crossed but at the end of a phase, by the transition taken there."""
        return np.array([
            edge.guard(*node)
            for number, taken, (_, _, nodes) in zip(numbers, leaving, phases(z), strict=True)
            for edge in system.outgoing(number)
            for node in nodes[1 : K + (edge is not taken)]
        ])  # fmt: skip

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
        lambda z: float(np.sum(costs(z))),
        guess,
        jac=lambda z: np.sum(jacobian(costs, z), axis=0),
        bounds=[(_SHORTEST * duration, None)] * count + [(None, None)] * (len(guess) - count),
        constraints=[{"type": kind, "fun": bound, "jac": partial(jacobian, bound)}
                     for kind, bound in (("eq", zeros), ("ineq", positive))],
        method="SLSQP",
        options={"maxiter": 200, "ftol": 1e-10}
    )  # fmt: skip
    states = result.x[count:].reshape(count, K + 1, -1)[..., :n]
    ok = bool(result.success and np.isfinite(result.fun))
    return DirectSolution(ok, float(result.fun), result.x[:count], states)


def _middle(mode: Mode, h: float, first: Node, last: Node) -> Node:
    """Middle of an interval: on the cubic, and on the line."""
    (t, x, u), (_, x_next, u_next) = first, last
    state = 0.5 * (x + x_next) + h / 8.0 * (mode.flow(*first) - mode.flow(*last))
    return t + 0.5 * h, state, 0.5 * (u + u_next)


def _defect(mode: Mode, h: float, first: Node, last: Node) -> Array:
    """x_next - x - integral of the flow by Simpson's rule, zero on a solution."""
    between = mode.flow(*_middle(mode, h, first, last))
    return last[1] - first[1] - h / 6.0 * (mode.flow(*first) + mode.flow(*last) + 4.0 * between)
