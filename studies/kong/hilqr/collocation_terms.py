"""Hermite-Simpson collocation of phases: the unknowns, and every term that they enter (Kelly 2017).

A term is a few rows of the cost or of the constraints and depends on few unknowns, so that its
derivatives are found on those alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid.derivatives import jacobian
from hybrid.integration import flow_state
from hybrid.systems import Array, Mode, Transition

if TYPE_CHECKING:
    from studies.kong.hilqr.direct_collocation import DirectProblem


class Phase(NamedTuple):
    """One phase of a solution, at its K + 1 nodes."""

    times: Array  # (K+1,) [s]
    states: Array  # (K+1, n)
    inputs: Array  # (K+1, m)


class Term(NamedTuple):
    """A few rows of the cost or of the constraints, a function of few of the unknowns."""

    value: Callable[[Array], Array]  # of z[where]
    where: NDArray[np.int64]


def values(terms: Sequence[Term], z: Array) -> Array:
    """All rows of the terms at the unknowns z."""
    return np.concatenate([term.value(z[term.where]) for term in terms])


def slopes(terms: Sequence[Term], z: Array) -> Array:
    """Jacobian (rows, len(z)) of the terms."""
    rows = []
    for term in terms:
        block = jacobian(term.value, z[term.where])
        row = np.zeros((len(block), len(z)))
        row[:, term.where] = block
        rows.append(row)
    return np.concatenate(rows)


class Layout:
    """The unknowns z: all durations [s], then state and input of every node, phase by phase."""

    def __init__(self, problem: DirectProblem) -> None:
        """Lay out the unknowns of a problem."""
        self.problem, self.K = problem, problem.intervals
        self.modes: list[Mode] = [problem.system.modes[number] for number in problem.modes]
        sizes = [(self.K + 1) * (mode.state_dim + mode.input_dim) for mode in self.modes]
        self.starts = len(self.modes) + np.concatenate(([0], np.cumsum(sizes)))

    def node(self, p: int, k: int) -> NDArray[np.int64]:
        """Where the state and the input of node k of phase p are."""
        width = self.modes[p].state_dim + self.modes[p].input_dim
        return self.starts[p] + k * width + np.arange(width)

    def term(self, p: int, nodes: Sequence[int], value: Callable[..., Array]) -> Term:
        """A term of ``value(t, h, x, u, x, u, ...)``: time of the first node, interval length."""
        n, width = self.modes[p].state_dim, len(self.node(p, 0))

        def of_unknowns(z: Array) -> Array:
            h, rest = z[p] / self.K, z[p + 1 :].reshape(len(nodes), width)
            t = np.sum(z[:p]) + nodes[0] * h
            return value(t, h, *(part for y in rest for part in (y[:n], y[n:])))

        return Term(of_unknowns, np.concatenate([range(p + 1), *(self.node(p, k) for k in nodes)]))

    def costs(self) -> list[Term]:
        """Simpson's rule in each interval, and the terminal cost."""

        def integral(mode: Mode) -> Callable[..., Array]:
            def simpson(t: float, h: float, *ends: Array) -> Array:
                rate, middle = self.problem.running, _middle(mode, t, h, *ends)
                first, last = rate(t, ends[0], ends[1]), rate(t + h, ends[2], ends[3])
                return h / 6.0 * np.array([first + 4.0 * rate(*middle) + last])

            return simpson

        last = len(self.modes) - 1

        def terminal(t: float, h: float, x: Array, u: Array) -> Array:
            return np.array([self.problem.terminal(x)])

        return [*self._everywhere(integral), self.term(last, [self.K], terminal)]

    def equalities(self) -> list[Term]:
        """Initial state, defects, guards and resets, and the duration of the whole."""
        problem, n = self.problem, self.modes[0].state_dim
        terms = [Term(lambda x: x - problem.x0, self.node(0, 0)[:n]), *self._everywhere(_defect)]
        for p, edge in enumerate(problem.edges):
            terms += self._link(p, edge)
        total = np.arange(len(self.modes))
        return [*terms, Term(lambda T: np.array([np.sum(T) - problem.duration]), total)]

    def inequalities(self) -> list[Term]:
        """No guard is crossed but at the end of a phase, by the transition taken there."""
        terms = []
        for p, number in enumerate(self.problem.modes):
            taken = self.problem.edges[p] if p < len(self.problem.edges) else None
            for edge in self.problem.system.outgoing(number):
                inside = range(1, self.K + (edge is not taken))
                terms += [self.term(p, [k], _guard(edge)) for k in inside]
        return terms

    def _everywhere(self, make: Callable[[Mode], Callable[..., Array]]) -> list[Term]:
        return [
            self.term(p, [k, k + 1], make(mode))
            for p, mode in enumerate(self.modes)
            for k in range(self.K)
        ]

    def _link(self, p: int, edge: Transition) -> list[Term]:
        """The guard at the end of phase p, and the reset into the next phase."""
        end, after = self.term(p, [self.K], _guard(edge)), self.modes[p + 1].state_dim

        def jump(z: Array) -> Array:
            t, x = np.sum(z[: p + 1]), z[p + 1 : p + 1 + self.modes[p].state_dim]
            u = z[p + 1 + len(x) : len(z) - after]
            return z[len(z) - after :] - edge.reset(t, x, u)

        return [end, Term(jump, np.concatenate((end.where, self.node(p + 1, 0)[:after])))]

    def guess(self, durations: Sequence[float], u: Array) -> Array:
        """Unknowns of phases that flow for given durations with one input, guards ignored."""
        z, t, x = [np.asarray(durations, dtype=np.float64)], 0.0, self.problem.x0
        for p, (mode, T) in enumerate(zip(self.modes, durations, strict=True)):
            x_first, own = x, u[: mode.input_dim]
            for k in range(self.K + 1):
                x = flow_state(mode, t, x_first, own, k * T / self.K)
                z.append(np.concatenate((x, own)))
            t += T
            if p < len(self.problem.edges):
                x = self.problem.edges[p].reset(t, x, own)
        return np.concatenate(z)

    def phases(self, z: Array) -> tuple[Phase, ...]:
        """The solution in a form for people."""
        phases = []
        for p, mode in enumerate(self.modes):
            nodes = np.stack([z[self.node(p, k)] for k in range(self.K + 1)])
            times = np.sum(z[:p]) + z[p] * np.arange(self.K + 1) / self.K
            phases.append(Phase(times, nodes[:, : mode.state_dim], nodes[:, mode.state_dim :]))
        return tuple(phases)


def _middle(
    mode: Mode, t: float, h: float, x: Array, u: Array, x_next: Array, u_next: Array
) -> tuple[float, Array, Array]:
    """Time, state and input in the middle of an interval: of the cubic, and of the line."""
    slope, slope_next = mode.flow(t, x, u), mode.flow(t + h, x_next, u_next)
    state = 0.5 * (x + x_next) + h / 8.0 * (slope - slope_next)
    return t + 0.5 * h, state, 0.5 * (u + u_next)


def _defect(mode: Mode) -> Callable[..., Array]:
    """x_next - x - integral of the flow by Simpson's rule, zero on a solution."""

    def defect(t: float, h: float, x: Array, u: Array, x_next: Array, u_next: Array) -> Array:
        ends = mode.flow(t, x, u) + mode.flow(t + h, x_next, u_next)
        between = mode.flow(*_middle(mode, t, h, x, u, x_next, u_next))
        return x_next - x - h / 6.0 * (ends + 4.0 * between)

    return defect


def _guard(edge: Transition) -> Callable[..., Array]:
    return lambda t, h, x, u: np.array([edge.guard(t, x, u)])
