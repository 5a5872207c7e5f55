"""The random systems simulated by SciPy: `solve_ivp` with its events, restarted after each.

A guard fires when it falls through zero, at once when a state is deep inside it or on it and moving
in, and not when a start on it moves out. SciPy compares guards at the ends of its steps alone; so
they are evaluated on its dense output too, and an earlier crossing found there counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar

from hybrid.systems import Array
from studies.numerics.scipy.family import field, guard_value, reset_state
from studies.numerics.scipy.problems import Problem, structures

ON_GUARD, SLOWEST = 1e-9, 1e-9  # as of `SimulationOptions`: guard_tolerance, minimum_rate
MAX_EVENTS = 200
STEPS = 100  # at least, in a duration
SAMPLES = 8  # of the guards in each step
PULSE = 6.0  # widths from its centre, beyond which a pulse is nothing


class Trace(NamedTuple):
    """What a simulation did."""

    status: str  # "ok", or why it ended early
    edges: tuple[int, ...]  # transitions by index, in order
    times: Array  # of the events [s]
    mode: int  # at the end
    state: Array  # at the end (n,)


class Accuracy(NamedTuple):
    """How SciPy is asked to integrate."""

    method: str
    rtol: float
    atol: float
    steps: int = STEPS


class Crossing(NamedTuple):
    """A guard that was met, and where."""

    edge: int
    time: float  # [s]
    state: Array  # (n,)


def solve(problem: Problem, accuracy: Accuracy, x: Array | None = None) -> Trace:
    """The trajectory from the problem's start, or from another state x (n,) of its mode."""
    mode, t, end = 0, problem.t, problem.t + problem.duration
    x = problem.x if x is None else x
    edges, times = [], []
    while len(edges) < MAX_EVENTS:
        crossing = _at_once(problem, mode, t, x)
        if crossing is None:
            crossing, x = _flow(problem, accuracy, mode, t, x, end)
        if crossing is None:
            status = "ok" if np.isfinite(x).all() else "failed"
            return Trace(status, tuple(edges), np.array(times), mode, x)
        edges.append(crossing.edge)
        times.append(crossing.time)
        shape = structures()[problem.structure]
        mode = shape.edges[crossing.edge][1]
        t, n = crossing.time, shape.dims[mode]
        x = reset_state(t, crossing.state, problem.u, crossing.edge, n)
    return Trace("too many events", tuple(edges), np.array(times), mode, x)


def outgoing(problem: Problem, mode: int) -> list[int]:
    """Transitions that leave a mode, by index."""
    edges = structures()[problem.structure].edges
    return [k for k, (source, _) in enumerate(edges) if source == mode]


def _at_once(problem: Problem, mode: int, t: float, x: Array) -> Crossing | None:
    """The first guard that the state is deep inside, or on and moving into."""
    for k in outgoing(problem, mode):
        value = guard_value(t, x, problem.u, k)
        if value < -ON_GUARD or (
            value <= ON_GUARD and _rate(problem, mode, k, t, x) < -SLOWEST
        ):
            return Crossing(k, t, x)
    return None


def _rate(problem: Problem, mode: int, k: int, t: float, x: Array) -> float:
    """d/dt of guard k along the flow, by a central difference."""
    h, slope = 1e-7 * problem.duration, field(t, x, problem.u, mode)
    ahead = guard_value(t + h, x + h * slope, problem.u, k)
    return (ahead - guard_value(t - h, x - h * slope, problem.u, k)) / (2.0 * h)


def _flow(
    problem: Problem, accuracy: Accuracy, mode: int, t: float, x: Array, end: float
) -> tuple[Crossing | None, Array]:
    """Flow to the next event, or to the end: the event, and the state there."""
    guards = outgoing(problem, mode)
    # A guard that the start lies on and leaves: its own rounding errors are no crossings.
    left = [k for k in guards if abs(guard_value(t, x, problem.u, k)) <= ON_GUARD]
    armed_at = t + 1e-9 * problem.duration
    while t < end:
        stop, max_step = _stretch(problem, mode, t, end, accuracy.steps)
        events = [_event(problem, k, armed_at if k in left else -np.inf) for k in guards]
        run: Any = solve_ivp(
            lambda s, y: field(s, y, problem.u, mode), (t, stop), x, method=accuracy.method,
            rtol=accuracy.rtol, atol=accuracy.atol, max_step=max_step, events=events,
            dense_output=True,
        )  # fmt: skip
        if run.status < 0 or not np.isfinite(run.y[:, -1]).all():
            return None, np.full_like(x, np.nan)
        crossing = _earliest(problem, guards, run, armed_at if left else t)
        if crossing is not None:
            return crossing, crossing.state
        t, x = stop, run.y[:, -1].copy()
    return None, x


def _stretch(
    problem: Problem, mode: int, t: float, end: float, steps: int
) -> tuple[float, float]:
    """How far to integrate at once, and the longest step [s]: short ones within a pulse."""
    stop, max_step = end, problem.duration / steps
    for centre, width in problem.pulses:
        first, last = centre - PULSE * width, centre + PULSE * width
        if first <= t < last:
            stop, max_step = min(stop, last), min(max_step, width)
        elif t < first:
            stop = min(stop, first)
    return stop, max_step


def _event(problem: Problem, k: int, armed_at: float) -> Callable[[float, Array], float]:
    def event(t: float, x: Array) -> float:
        return guard_value(t, x, problem.u, k) if t > armed_at else 1.0

    event.terminal, event.direction = True, -1.0  # type: ignore[attr-defined]
    return event


def _earliest(
    problem: Problem, guards: list[int], run: Any, armed_at: float
) -> Crossing | None:
    """SciPy's event, or an earlier one on its dense output."""
    crossing = None
    for k, times in zip(guards, run.t_events, strict=True):
        if len(times) and (crossing is None or times[0] < crossing.time):
            crossing = Crossing(k, float(times[0]), run.y[:, -1].copy())
    nodes = run.t
    fractions = np.arange(SAMPLES) / SAMPLES
    samples = np.append((nodes[:-1, None] + np.diff(nodes)[:, None] * fractions).ravel(), nodes[-1])
    states = np.ascontiguousarray(run.sol(samples).T)
    for k in guards:
        time = _first_crossing(problem, k, samples, states, run.sol, armed_at)
        rounding = 1e-12 * problem.duration
        if time is not None and (crossing is None or time < crossing.time - rounding):
            crossing = Crossing(k, time, run.sol(time))
    return crossing


def _first_crossing(
    problem: Problem, k: int, samples: Array, states: Array, sol: Any, armed_at: float
) -> float | None:
    """Where guard k first falls through zero on the dense output; dips between samples too."""

    def guard(t: float) -> float:
        return guard_value(t, sol(t), problem.u, k)

    values = _guard_values(samples, states, problem.u, k)
    high = -1
    for i in _suspects(values):
        if values[i] <= 0.0:
            armed = np.flatnonzero((values[:i] > ON_GUARD) & (samples[:i] >= armed_at))
            if len(armed):
                high = i
                break
        elif samples[i - 1] >= armed_at:
            dip = minimize_scalar(guard, bounds=(samples[i - 1], samples[i + 1]), method="bounded")
            if dip.fun < -ON_GUARD:  # type: ignore[attr-defined]
                return brentq(guard, samples[i - 1], dip.x, xtol=1e-15)  # type: ignore[attr-defined]
    if high < 0:
        return None
    low = high - 1
    while values[low] <= 0.0:
        low -= 1
    return brentq(guard, samples[low], samples[high], xtol=1e-15)  # type: ignore[return-value]


@njit(cache=True)
def _guard_values(samples, states, u, k):
    values = np.empty(len(samples))
    for i in range(len(samples)):
        values[i] = guard_value(samples[i], states[i], u, k)
    return values


@njit(cache=True)
def _suspects(g):
    """Samples at which a guard is not positive, or lowest and by a parabola near zero."""
    indices = []
    for i in range(len(g)):
        if g[i] <= 0.0:
            indices.append(i)
        elif 0 < i < len(g) - 1 and g[i] < g[i - 1] and g[i] <= g[i + 1]:
            bend = g[i - 1] - 2.0 * g[i] + g[i + 1]
            lowest = g[i] - (g[i - 1] - g[i + 1]) ** 2 / (8.0 * bend)
            if lowest < 0.2 * max(g[i - 1], g[i + 1]):
                indices.append(i)
    return indices
