"""Random hybrid systems simulated here and by SciPy.

A disagreement is a simulation of ours with the status "ok" whose events, modes, times or end differ
from SciPy's by more than SciPy differs from itself. Ours runs in units of time, state and guards
drawn from 1e-9 to 1e9; half of the systems fire on the falling edge. Tolerances are 1e-6, 1e-8 or
1e-10, relative. worst is the largest difference over what is allowed, among trials that agree.
Refused: a status other than ok where SciPy reaches the end. Sensitive: SciPy's own events change
within those tolerances, or when its tolerance of guards is ten times as large or as small: events
that accumulate, as in trial 746 of seed 0, end where that has it. ``compare(seed, number)`` repeats
one trial of ``seeds``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar

from saltation.options import SimulationOptions
from saltation.simulation import simulate
from saltation.systems import Array
from saltus.sweep.running import run_all, workers
from studies.numerics.scipy_problems import (
    SIZE,
    STRUCTURES,
    WAYS,
    Problem,
    Way,
    compiled,
    draw,
    field,
    guard_value,
    reset_state,
    system_of,
)
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

ON_GUARD, SLOWEST = 1e-9, 1e-9  # as of `SimulationOptions`: guard_tolerance, minimum_rate
MAX_EVENTS = 200
STEPS = 100  # at least, in a duration
SAMPLES = 8  # of the guards in each step
SOON: Array = np.geomspace(1e-8, 1e-2, 60)  # of the duration: further ones at the start of a flow
PULSE = 6.0  # widths from its centre, beyond which a pulse is nothing


class Trace(NamedTuple):
    """Course of a simulation."""

    status: str  # "ok", or why it ended early
    edges: tuple[int, ...]  # transitions by index, in order
    times: Array  # of the events [s]
    mode: int  # at the end
    state: Array  # at the end (n,)


class Accuracy(NamedTuple):
    """Tolerances for SciPy."""

    method: str
    rtol: float
    atol: float
    steps: int = STEPS
    slack: float = 1.0  # times ON_GUARD, and times how long a guard that is left is not looked at


Crossing = tuple[int, float, Array]  # the guard that was met, when [s], and the state (n,)


def solve(problem: Problem, accuracy: Accuracy, x: Array | None = None) -> Trace:
    """The trajectory from the problem's start, or from another state x (n,) of its mode."""
    mode, t, end = 0, problem.t, problem.t + problem.duration
    x, edges, times = problem.x if x is None else x, [], []
    dims, ends, on = STRUCTURES[problem.structure]
    while len(edges) < MAX_EVENTS:
        guards = [k for k, (source, _) in enumerate(ends) if source == mode]
        near = accuracy.slack * ON_GUARD
        crossing = _at_once(problem, guards, mode, t, x, near) if on == "level" else None
        if crossing is None:
            crossing, x = _flow(problem, guards, accuracy, mode, t, x, end)
        if crossing is None:
            status = "ok" if np.isfinite(x).all() else "failed"
            return Trace(status, tuple(edges), np.array(times), mode, x)
        edge, t, x = crossing
        edges.append(edge)
        times.append(t)
        mode = ends[edge][1]
        x = reset_state(t, x, problem.u, edge, dims[mode])
    return Trace("too many events", tuple(edges), np.array(times), mode, x)


def _at_once(
    problem: Problem, guards: list[int], mode: int, t: float, x: Array, near: float
) -> Crossing | None:
    """The first guard that the state is deep inside, or on and moving into."""
    h, u = 1e-7 * problem.duration, problem.u
    for k in guards:
        value, slope = guard_value(t, x, u, k), field(t, x, u, mode)
        ahead, behind = (guard_value(t + s, x + s * slope, u, k) for s in (h, -h))
        inward = (ahead - behind) / (2.0 * h) < -SLOWEST  # along the flow, by differences
        if value < -near or (value <= near and inward):
            return k, t, x
    return None


def _flow(
    problem: Problem, guards: list[int], accuracy: Accuracy, mode: int, t: float, x: Array,
    end: float
) -> tuple[Crossing | None, Array]:  # fmt: skip
    """Flow to the next event, or to the end: the event, and the state there."""
    # A guard that the start lies on and leaves: its own rounding errors are no crossings.
    near = accuracy.slack * ON_GUARD
    left = [k for k in guards if abs(guard_value(t, x, problem.u, k)) <= near]
    armed_at = t + accuracy.slack * 1e-9 * problem.duration
    while t < end:
        # How far to integrate at once, and the longest step [s]: short ones within a pulse.
        stop, max_step = end, problem.duration / accuracy.steps
        for centre, width in problem.pulses:
            first, last = centre - PULSE * width, centre + PULSE * width
            if first <= t < last:
                stop, max_step = min(stop, last), min(max_step, width)
            elif t < first:
                stop = min(stop, first)
        events = [_event(problem, k, armed_at if k in left else -np.inf) for k in guards]
        run: Any = solve_ivp(
            lambda s, y: field(s, y, problem.u, mode), (t, stop), x, method=accuracy.method,
            rtol=accuracy.rtol, atol=accuracy.atol, max_step=max_step, events=events,
            dense_output=True
        )  # fmt: skip
        if run.status < 0 or not np.isfinite(run.y[:, -1]).all():
            return None, np.full_like(x, np.nan)
        crossing = _earliest(problem, guards, run, armed_at if left else t)
        if crossing is not None:
            return crossing, crossing[2]
        t, x = stop, run.y[:, -1].copy()
    return None, x


def _event(problem: Problem, k: int, armed_at: float) -> Callable[[float, Array], float]:
    on_level = STRUCTURES[problem.structure].on == "level"
    before = 1.0 if on_level else -1.0  # a guard that is negative then has fallen, or has not

    def event(t: float, x: Array) -> float:
        return guard_value(t, x, problem.u, k) if t > armed_at else before

    event.terminal, event.direction = True, -1.0  # type: ignore[attr-defined]
    return event


def _earliest(problem: Problem, guards: list[int], run: Any, armed_at: float) -> Crossing | None:
    """SciPy's event, or an earlier one on its dense output."""
    crossing, nodes, rounding = None, run.t, 1e-12 * problem.duration
    for k, times in zip(guards, run.t_events, strict=True):
        if len(times) and (crossing is None or times[0] < crossing[1]):
            crossing = k, float(times[0]), run.y[:, -1].copy()
    fractions = np.arange(SAMPLES) / SAMPLES
    samples = np.append((nodes[:-1, None] + np.diff(nodes)[:, None] * fractions).ravel(), nodes[-1])
    soon = nodes[0] + problem.duration * SOON  # a guard that is left may be met again at once
    samples = np.union1d(samples, soon[soon < nodes[-1]])
    states = np.ascontiguousarray(run.sol(samples).T)
    for k in guards:
        time = _first_crossing(problem, k, samples, states, run.sol, armed_at)
        if time is not None and (crossing is None or time < crossing[1] - rounding):
            crossing = k, time, run.sol(time)
    return crossing


def _first_crossing(
    problem: Problem, k: int, samples: Array, states: Array, sol: Any, armed_at: float
) -> float | None:
    """Time of guard k's first fall through zero on the dense output; dips between samples too."""

    def guard(t: float) -> float:
        return guard_value(t, sol(t), problem.u, k)

    values = _guard_values(samples, states, problem.u, k)
    for i in _suspects(values):
        if values[i] <= 0.0:
            if ((values[:i] > ON_GUARD) & (samples[:i] >= armed_at)).any():
                low = int(np.flatnonzero(values[:i] > 0.0)[-1])
                return brentq(guard, samples[low], samples[i], xtol=1e-15)  # type: ignore
        elif samples[i - 1] >= armed_at:
            dip = minimize_scalar(guard, bounds=(samples[i - 1], samples[i + 1]), method="bounded")
            if dip.fun < -ON_GUARD:  # type: ignore[attr-defined]
                return brentq(guard, samples[i - 1], dip.x, xtol=1e-15)  # type: ignore
    return None


@compiled
def _guard_values(samples, states, u, k):
    values = np.empty(len(samples))
    for i in range(len(samples)):
        values[i] = guard_value(samples[i], states[i], u, k)
    return values


@compiled
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


FACTOR = 10.0
ALLOWED = 30.0  # times rtol, of times over the duration and of states over their scale
SHARPEST = Accuracy("DOP853", 1e-12, 1e-15, steps=400)
DIRECTIONS, BUMP = 4, 10.0  # starts that differ, and by how many tolerances
MAX_STEPS = 200_000
Verdict = Literal["agrees", "disagrees", "sensitive", "ended early", "refused"]
TRIALS, ALL_TRIALS = 2000, 20_000
STATUSES = "ok zeno inside_guard ambiguous grazing too_stiff not_finite wrong_dimension".split()
LEAST_OK, MOST_REFUSED, MOST_SENSITIVE = 0.9, 0.005, 0.005  # shares of the trials


class Comparison(NamedTuple):
    """One trial."""

    trial: int
    way: Way
    status: str  # of ours
    verdict: Verdict
    excess: float  # difference over what is allowed; inf where the events differ


def compare(seed: int, trial: int) -> Comparison:
    """Draw, simulate and judge one trial."""
    problem = draw(seed, trial)
    ours = simulate_ours(problem)
    verdict, excess = judge(problem, ours)
    return Comparison(trial, problem.way, ours.status, verdict, excess)


def simulate_ours(problem: Problem) -> Trace:
    """The trajectory by this project's simulator, in the problem's units."""
    time, state, _ = problem.units.tolist()
    options = SimulationOptions(
        rtol=problem.rtol, atol=_atol(problem.rtol) * state, max_step=problem.max_step * time,
        max_events=MAX_EVENTS, zeno_events=MAX_EVENTS, max_steps=MAX_STEPS
    )  # fmt: skip
    run = simulate(
        system_of(problem.structure, problem.way), 0, problem.x * state, problem.duration * time,
        np.append(problem.u[:SIZE], problem.units), t=problem.t * time, options=options
    )  # fmt: skip
    edges = tuple(int(event.transition.name) for event in run.events)
    times = np.array([event.time for event in run.events]) / time
    return Trace(run.status, edges, times, run.final_mode, run.final_state / state)


def judge(problem: Problem, ours: Trace) -> tuple[Verdict, float]:
    """Whether ours agrees, and by how much of what is allowed it differs.

    Where ours is not ok: "refused" if SciPy's reaches the end, else "ended early".
    """
    near = solve(problem, Accuracy("DOP853", 1e-2 * problem.rtol, 1e-2 * _atol(problem.rtol)))
    if ours.status != "ok":
        return ("refused" if near.status == "ok" else "ended early"), 0.0
    excess = difference(problem, ours, near) / (ALLOWED * problem.rtol)
    if excess <= 1.0:
        return "agrees", excess
    # SciPy at the tolerance itself, and from starts that are a little off.
    rtol, atol, sharp = problem.rtol, _atol(problem.rtol), solve(problem, SHARPEST)
    drawn = np.random.default_rng(0).normal(size=(DIRECTIONS, len(problem.x)))
    starts = problem.x + BUMP * rtol * (drawn * problem.scales[0])
    others = [(Accuracy(method, rtol, atol), problem.x) for method in ("RK45", "DOP853")]
    others += [(SHARPEST._replace(slack=slack), problem.x) for slack in (0.1, 10.0)]
    spread = 0.0
    for other in (*others, *((SHARPEST, start) for start in starts)):
        spread = max(spread, difference(problem, solve(problem, *other), sharp))
        if not np.isfinite(spread):
            return "sensitive", np.inf
    excess = difference(problem, ours, sharp) / (FACTOR * spread + ALLOWED * rtol)
    return ("agrees" if excess <= 1.0 else "disagrees"), excess


def difference(problem: Problem, one: Trace, other: Trace) -> float:
    """Largest difference of event times and end state, in the problem's units.

    inf where the events, or the modes at the end, are not the same; NaN where SciPy failed. Where
    the other one, SciPy's, has too many events, all of its events are compared and the end is not.
    """
    count = len(other.edges)
    if other.status == "too many events":
        one = one._replace(edges=one.edges[:count], times=one.times[:count])
    elif one.mode != other.mode:
        return np.inf
    if one.edges != other.edges:
        return np.inf
    late = np.max(np.abs(one.times - other.times), initial=0.0) / problem.duration
    if other.status == "too many events":
        return late
    error = np.abs(one.state - other.state) / (problem.scales[one.mode] + np.abs(other.state))
    return max(late, np.max(error))


def _atol(rtol: float) -> float:
    return 1e-2 * rtol


@study("SciPy's solve_ivp", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``way, trials, ok, <other statuses>, refused, sensitive, disagreements, worst, seeds``.

    A trial's problem depends on the seed and on the trial's number alone.
    """
    count, results = options.count(TRIALS, ALL_TRIALS), list[Comparison]()
    compare(options.seed, 0)  # what is compiled here is kept where the processes find it
    with workers():
        for each in run_all(partial(compare, options.seed), list(range(count))):
            results.append(each)
            options.progress(len(results), count, "trials")
    results.sort()
    rows = [row(way, [each for each in results if each.way == way]) for way in WAYS]
    total = row("all", results)
    criteria = [
        Criterion("disagreements", float(total["disagreements"]), "<=", 0.0),
        Criterion("share with the status ok", total["ok"] / count, ">=", LEAST_OK),
        Criterion("share refused", total["refused"] / count, "<=", MOST_REFUSED),
        Criterion("share too sensitive to judge", total["sensitive"] / count, "<=", MOST_SENSITIVE),
    ]
    columns = "way, trials, ok, zeno, refused, sensitive, disagreements, worst, seeds"
    return StudyResult([*rows, total], columns=columns, criteria=criteria)


def row(way: str, results: Sequence[Comparison]) -> Row:
    """Statuses, verdicts and the trials that disagree."""
    statuses = Counter(each.status for each in results)
    verdicts = Counter(each.verdict for each in results)
    return {
        "way": way,
        "trials": len(results),
        **{status: statuses.pop(status, 0) for status in STATUSES},
        "other": statuses.total(),
        "refused": verdicts["refused"],
        "sensitive": verdicts["sensitive"],
        "disagreements": verdicts["disagrees"],
        "worst": max((each.excess for each in results if each.verdict == "agrees"), default=0.0),
        "seeds": [each.trial for each in results if each.verdict == "disagrees"],
    }
