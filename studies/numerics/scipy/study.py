"""Random hybrid systems simulated here and by SciPy.

A disagreement is a simulation of ours with the status "ok" whose events, modes, times or end differ
from SciPy's by more than SciPy differs from itself. Tolerances are 1e-6, 1e-8 or 1e-10, relative.
worst is the largest difference over what is allowed, among trials that agree. Refused: a status
other than ok where SciPy reaches the end. Sensitive: SciPy's own events change within those
tolerances. ``compare(seed, number)`` repeats one trial of ``seeds``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from hybrid.options import SimulationOptions
from hybrid.simulation import simulate
from saltus.sweep.running import backend_ready, default_jobs, run_all
from studies.numerics.scipy.problems import WAYS, Problem, Way, draw, system_of
from studies.numerics.scipy.reference import MAX_EVENTS, Accuracy, Trace, solve
from studies.study import Criterion, StudyOptions, StudyResult, study

FACTOR = 10.0
ALLOWED = 30.0  # times rtol, of times over the duration and of states over their scale
SHARPEST = Accuracy("DOP853", 1e-12, 1e-15, steps=400)
DIRECTIONS, BUMP = 4, 10.0  # starts that differ, and by how many tolerances
MAX_STEPS = 200_000
Verdict = Literal["agrees", "disagrees", "sensitive", "ended early", "refused"]
TRIALS, ALL_TRIALS = 2000, 20_000
CHUNK = 25  # trials that a process does in one go
STATUSES = (
    "ok", "zeno", "inside_guard", "ambiguous", "grazing", "too_stiff", "not_finite",
    "wrong_dimension",
)  # fmt: skip
SHOWN = ("way", "trials", "ok", "zeno", "refused", "sensitive", "disagreements", "worst", "seeds")
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
    error = np.abs(one.state - other.state) / (problem.scales[one.mode] + np.abs(other.state))
    return float(max(late, np.max(error)))


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


@study("SciPy's solve_ivp", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``way, trials, ok, <other statuses>, refused, sensitive, disagreements, worst, seeds``.

    A trial's problem depends on the seed and on the trial's number alone.
    """
    count = options.count(TRIALS, ALL_TRIALS)
    results = compare_all(options, count)
    rows = [row(way, [each for each in results if each.way == way]) for way in WAYS]
    total = row("all", results)
    criteria = [
        Criterion("disagreements", float(total["disagreements"]), "<=", 0.0),
        Criterion("share with the status ok", total["ok"] / count, ">=", LEAST_OK),
        Criterion("share refused", total["refused"] / count, "<=", MOST_REFUSED),
        Criterion("share too sensitive to judge", total["sensitive"] / count, "<=", MOST_SENSITIVE),
    ]
    return StudyResult([*rows, total], columns=SHOWN, criteria=criteria)


def compare_all(options: StudyOptions, count: int) -> list[Comparison]:
    """Every trial, in order; on all cores."""
    first = range(0, count, CHUNK)
    compare(options.seed, 0)  # what is compiled here is kept where the processes find it
    results: list[Comparison] = []
    work = partial(_chunk, options.seed, count)
    with backend_ready("loky", None, default_jobs("loky")):
        for part in run_all(work, list(first)):
            results += part
            wrong = sum(each.verdict == "disagrees" for each in results)
            options.progress(len(results), count, f"trials, {wrong} disagreements")
    return sorted(results)


def row(way: str, results: Sequence[Comparison]) -> dict[str, Any]:
    """Statuses, verdicts and the trials that disagree."""
    statuses = Counter(each.status for each in results)
    verdicts = Counter(each.verdict for each in results)
    agreeing = [each.excess for each in results if each.verdict == "agrees"]
    return {
        "way": way,
        "trials": len(results),
        **{status: statuses.pop(status, 0) for status in STATUSES},
        "other": statuses.total(),
        "refused": verdicts["refused"],
        "sensitive": verdicts["sensitive"],
        "disagreements": verdicts["disagrees"],
        "worst": max(agreeing, default=0.0),
        "seeds": [each.trial for each in results if each.verdict == "disagrees"],
    }


def _chunk(seed: int, count: int, first: int) -> list[Comparison]:
    return [compare(seed, trial) for trial in range(first, min(first + CHUNK, count))]
