"""``saltus bench convex_mpc``: the force problems of Convex MPC and Instant QP, ours beside others.

All solvers take turns on the same sequence of problems: a rigid body that walks and is pushed every
0.4 s, and one that trots and is pushed 2.5 times as hard. Ours includes writing the matrices, the
clip and the prediction; the others are handed the matrices that ours wrote. In the problems of
Convex MPC that end in `_dense` the states have been eliminated.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from controller.centroidal.force_mpc import ForceMpc
from controller.centroidal.force_qp import UNIT, ForceQp
from controller.centroidal.options import ForceMpcWeights
from controller.centroidal.qp_solver import Programme
from controller.centroidal.rigid_body import standing_body
from controller.gaits import TROT, WALK
from robots.a1.constants import GRAVITY
from saltus.bench.force_problems import (
    FORCE_MAX,
    FORCE_MIN,
    FRICTION,
    HorizonProblem,
    instant_problems,
    walking_problems,
)
from saltus.bench.force_qp_ways import (
    Array,
    Way,
    condensed,
    package,
    piqp_dense,
    piqp_sparse,
    proxqp_dense,
    raw_osqp,
    updated_osqp,
)
from saltus.bench.result import BenchResult
from saltus.common.console import say

STEPS, COUNT, SEED, HARD = 10, 200, 1, 2.5
BOUNDS_MS = {"convex_mpc": 2.0, "hard_pushes": 2.0, "instant_qp": 0.3}  # of our median
EXACT = {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 200000, "scaling": 0}


class Contestant(NamedTuple):
    """A solver: `solve(k)` returns the forces of problem k, stacked [N]."""

    name: str
    solve: Callable[[int], Array]


class Contest(NamedTuple):
    """A sequence of problems, the solvers of it, and forces (count, n) that are exact [N]."""

    problem: str
    steps: int
    contestants: list[Contestant]
    exact: Array


def run(count: int = COUNT) -> BenchResult:
    """Measure `count` problems of each kind."""
    say("preparing (compiles on the first run)")
    walk = walking_problems(WALK, count, STEPS, SEED)
    contests = [
        horizon_contest("convex_mpc", walk),
        horizon_contest("hard_pushes", walking_problems(TROT, count, STEPS, SEED, HARD)),
        instant_contest(walk),
    ]
    rows = [row for contest in contests for row in measure(contest)]
    times = {(row["problem"], row["solver"]): row["ms_p50"] for row in rows}
    ratio = times["convex_mpc", "raw_osqp"] / times["convex_mpc", "ours"]
    return BenchResult(rows, ratio, _note())


def horizon_contest(name: str, problems: list[HorizonProblem]) -> Contest:
    """Convex MPC's problems."""
    body = standing_body()
    mpc = ForceMpc(body, STEPS, ForceMpcWeights(), FRICTION, FORCE_MAX, FORCE_MIN)
    programmes = []
    for each in problems:
        mpc.solve(*each)
        programmes.append(mpc.qp.programme())
    weight, small = body.mass * GRAVITY, [condensed(each) for each in programmes]

    def pick(x: Array) -> Array:
        return weight * x.reshape(STEPS, -1)[:, :12].ravel()

    def whole(way: Way) -> Callable[[int], Array]:
        return lambda k: pick(way(programmes[k]))

    def forces(way: Way) -> Callable[[int], Array]:
        return lambda k: weight * way(small[k])

    found = [
        Contestant("ours", lambda k: mpc.solve(*problems[k]).forces.ravel()),
        Contestant("raw_osqp", whole(raw_osqp())),
        Contestant("osqp_dense", forces(updated_osqp(small[0]))),
    ]
    if piqp := package("piqp"):
        found.append(Contestant("piqp", whole(piqp_sparse(piqp, programmes[0], 12 * STEPS))))
        found.append(Contestant("piqp_dense", forces(piqp_dense(piqp, small[0]))))
    if proxsuite := package("proxsuite"):
        found.append(Contestant("proxqp_dense", forces(proxqp_dense(proxsuite, small[0]))))
    exact = raw_osqp(**EXACT)
    return Contest(name, STEPS, found, np.array([pick(exact(each)) for each in programmes]))


def instant_contest(walk: list[HorizonProblem]) -> Contest:
    """Instant QP's problems."""
    problems, qp = instant_problems(walk), ForceQp(FRICTION, FORCE_MAX, FORCE_MIN)
    programmes: list[Programme] = []
    for each in problems:
        qp.solve(*each)
        programmes.append(qp.qp.programme())

    def of(way: Way) -> Callable[[int], Array]:
        return lambda k: UNIT * way(programmes[k])

    qp = ForceQp(FRICTION, FORCE_MAX, FORCE_MIN)
    found = [
        Contestant("ours", lambda k: qp.solve(*problems[k]).forces.ravel()),
        Contestant("raw_osqp", of(raw_osqp())),
    ]
    if piqp := package("piqp"):
        found.append(Contestant("piqp", of(piqp_dense(piqp, programmes[0]))))
    if proxsuite := package("proxsuite"):
        found.append(Contestant("proxqp", of(proxqp_dense(proxsuite, programmes[0]))))
    exact = of(raw_osqp(**EXACT))
    return Contest("instant_qp", 1, found, np.array([exact(k) for k in range(len(problems))]))


def measure(contest: Contest) -> list[dict[str, Any]]:
    """Rows of a contest: the solvers take turns, problem by problem."""
    say(f"measuring {contest.problem}")
    shape = (len(contest.contestants), len(contest.exact))
    times, errors = np.empty(shape), np.empty(shape)
    for k, exact in enumerate(contest.exact):
        for i, contestant in enumerate(contest.contestants):
            begin = perf_counter()
            forces = contestant.solve(k)
            times[i, k] = 1e3 * (perf_counter() - begin)
            errors[i, k] = np.abs(forces - exact).max()
    return [
        {
            "problem": contest.problem,
            "solver": contestant.name,
            "steps": contest.steps,
            "ms_p50": float(np.percentile(times[i], 50.0)),
            "ms_p99": float(np.percentile(times[i], 99.0)),
            "error_n": float(np.percentile(errors[i], 99.0)),
            "bound_ms": BOUNDS_MS[contest.problem] if contestant.name == "ours" else None,
        }
        for i, contestant in enumerate(contest.contestants)
    ]


def _note() -> str:
    missing = [name for name in ("piqp", "proxsuite") if package(name) is None]
    note = (
        "ours is OSQP, set up once, updated and warm-started; the ratio is the median of setting"
        " OSQP up for each problem over ours; error_n is the 99th percentile of a problem's largest"
        f" error of a force [N]; {os.cpu_count()} cores"
    )
    if missing:
        note += f"; without {' and '.join(missing)}: pip install 'saltus[qp]' adds their rows"
    return note
