"""Whether a simulation of ours agrees with SciPy's, as far as SciPy agrees with itself.

The first reference is a hundred times tighter than the tolerance asked for, and a small multiple of
that tolerance is allowed. Where this is exceeded, SciPy is run at the tolerance itself by two
methods, at its tightest, and from starts that differ by ten tolerances: FACTOR times the largest
of these changes is allowed. Where they differ in their events, no verdict is given: the trajectory
nearly grazes a guard, or is chaotic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np

from hybrid.options import SimulationOptions
from hybrid.simulation import simulate
from saltus.studies.numerics.scipy_comparison.problems import Problem, Way, draw, system_of
from saltus.studies.numerics.scipy_comparison.reference import MAX_EVENTS, Accuracy, Trace, solve

FACTOR = 10.0
ALLOWED = 30.0  # times rtol, of times over the duration and of states over their scale
SHARPEST = Accuracy("DOP853", 1e-12, 1e-15, steps=400)
DIRECTIONS, BUMP = 4, 10.0  # starts that differ, and by how many tolerances
MAX_STEPS = 200_000
Verdict = Literal["agrees", "disagrees", "sensitive", "ended early", "refused"]


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
    """The trajectory by this project's simulator."""
    options = SimulationOptions(
        rtol=problem.rtol, atol=_atol(problem.rtol), max_step=problem.max_step,
        max_events=MAX_EVENTS, max_steps=MAX_STEPS,
    )  # fmt: skip
    system = system_of(problem.structure, problem.way)
    run = simulate(system, 0, problem.x, problem.duration, problem.u, t=problem.t, options=options)
    edges = tuple(int(event.transition.name) for event in run.events)
    times = np.array([event.time for event in run.events])
    return Trace(run.status, edges, times, run.final_mode, run.final_state)


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
    sharp = solve(problem, SHARPEST)
    spread = 0.0
    for other in _others(problem):
        spread = max(spread, difference(problem, other, sharp))
        if not np.isfinite(spread):
            return "sensitive", np.inf
    excess = difference(problem, ours, sharp) / (FACTOR * spread + ALLOWED * problem.rtol)
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
        return float(late)
    apart = np.abs(one.state - other.state) / (problem.scales[one.mode] + np.abs(other.state))
    return float(max(late, np.max(apart)))


def _others(problem: Problem) -> Iterable[Trace]:
    """SciPy at the tolerance itself, and from starts that are a little off."""
    rtol, atol = problem.rtol, _atol(problem.rtol)
    yield solve(problem, Accuracy("RK45", rtol, atol))
    yield solve(problem, Accuracy("DOP853", rtol, atol))
    rng = np.random.default_rng(0)
    for _ in range(DIRECTIONS):
        direction = rng.normal(size=len(problem.x)) * problem.scales[0]
        yield solve(problem, SHARPEST, problem.x + BUMP * rtol * direction)


def _atol(rtol: float) -> float:
    return 1e-2 * rtol
