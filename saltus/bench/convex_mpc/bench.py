"""``saltus bench convex_mpc``: the force problems of Convex MPC and Instant QP, ours beside others.

All solvers take turns on the same sequence of problems: a rigid body that walks and is pushed every
0.4 s, and one that trots and is pushed 2.5 times as hard. Ours includes writing the matrices, the
clip and the prediction; the others are handed the matrices that ours wrote. For the solvers that
end in `_dense` the states of Convex MPC have been eliminated.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from controller.centroidal.force_mpc import ForceMpc
from controller.centroidal.force_qp import UNIT, ForceQp
from controller.centroidal.options import ForceMpcWeights
from controller.centroidal.qp_solver import Programme
from controller.centroidal.rigid_body import standing_body
from controller.gaits import TROT, WALK
from robots.a1.constants import GRAVITY
from saltus.bench.contest import MS, Contest, Contestant
from saltus.bench.convex_mpc.problems import (
    FORCE_MAX,
    FORCE_MIN,
    FRICTION,
    HorizonProblem,
    instant_problems,
    walking_problems,
)
from saltus.bench.convex_mpc.solvers import (
    Array,
    PiqpDense,
    PiqpSparse,
    ProxqpDense,
    RawOsqp,
    Solver,
    UpdatedOsqp,
    condensed,
    package,
)
from saltus.bench.result import BenchResult
from saltus.common.console import say
from saltus.studies.engine import Criterion

STEPS, COUNT, SEED, HARD = 10, 200, 1, 2.5
BOUNDS_MS = {"convex_mpc": 2.0, "hard_pushes": 2.0, "instant_qp": 0.3}  # of our median
EXACT = {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 200000, "scaling": 0}


class ForceContest(NamedTuple):
    """A sequence of problems and its solvers.

    Attributes:
        problem: name of the sequence.
        steps: of the horizon.
        contestants: their calls return the forces of problem k, stacked [N].
        exact: the same (count, n), to high accuracy.
    """

    problem: str
    steps: int
    contestants: list[Contestant]
    exact: Array


def run(count: int = COUNT) -> BenchResult:
    """Measure `count` problems of each kind.

    The ratio is the median time of setting OSQP up for each problem of Convex MPC over ours.
    """
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
    criteria = [
        Criterion(f"{name}, median of ours [ms]", times[name, "ours"], "<=", bound)
        for name, bound in BOUNDS_MS.items()
    ]
    return BenchResult(rows, ratio, _note(), criteria=criteria)


def horizon_contest(name: str, problems: list[HorizonProblem]) -> ForceContest:
    """Convex MPC's problems."""
    body = standing_body()
    mpc = ForceMpc(body, STEPS, ForceMpcWeights(), FRICTION, FORCE_MAX, FORCE_MIN)
    programmes = []
    for each in problems:
        mpc.solve(*each)
        programmes.append(mpc.qp.programme())
    weight, small = body.mass * GRAVITY, [condensed(each) for each in programmes]

    def forces(x: Array) -> Array:
        return weight * x.reshape(STEPS, -1)[:, :12].ravel()

    contestants = [
        Contestant("ours", lambda k: mpc.solve(*problems[k]).forces.ravel()),
        _contestant("raw_osqp", RawOsqp(), programmes, forces),
        _contestant("osqp_dense", UpdatedOsqp(small[0]), small, forces),
    ]
    if piqp := package("piqp"):
        multistage, dense = PiqpSparse(piqp, programmes[0], 12 * STEPS), PiqpDense(piqp, small[0])
        contestants.append(_contestant("piqp", multistage, programmes, forces))
        contestants.append(_contestant("piqp_dense", dense, small, forces))
    if proxsuite := package("proxsuite"):
        proxqp = ProxqpDense(proxsuite, small[0])
        contestants.append(_contestant("proxqp_dense", proxqp, small, forces))
    exact = RawOsqp(**EXACT)
    forces_exact = np.array([forces(exact.solve(each)) for each in programmes])
    return ForceContest(name, STEPS, contestants, forces_exact)


def instant_contest(walk: list[HorizonProblem]) -> ForceContest:
    """Instant QP's problems."""
    problems, qp = instant_problems(walk), ForceQp(FRICTION, FORCE_MAX, FORCE_MIN)
    programmes: list[Programme] = []
    for each in problems:
        qp.solve(*each)
        programmes.append(qp.qp.programme())

    def forces(x: Array) -> Array:
        return UNIT * x

    qp = ForceQp(FRICTION, FORCE_MAX, FORCE_MIN)
    contestants = [
        Contestant("ours", lambda k: qp.solve(*problems[k]).forces.ravel()),
        _contestant("raw_osqp", RawOsqp(), programmes, forces),
    ]
    if piqp := package("piqp"):
        dense = PiqpDense(piqp, programmes[0])
        contestants.append(_contestant("piqp", dense, programmes, forces))
    if proxsuite := package("proxsuite"):
        proxqp = ProxqpDense(proxsuite, programmes[0])
        contestants.append(_contestant("proxqp", proxqp, programmes, forces))
    exact = RawOsqp(**EXACT)
    forces_exact = np.array([forces(exact.solve(each)) for each in programmes])
    return ForceContest("instant_qp", 1, contestants, forces_exact)


def _contestant(
    name: str, solver: Solver, programmes: Sequence[Programme], forces: Callable[[Array], Array]
) -> Contestant:
    """A solver of programmes whose minimisers become forces."""
    return Contestant(name, lambda k: forces(solver.solve(programmes[k])))


def measure(contest: ForceContest) -> list[dict[str, Any]]:
    """Rows of a contest, a round a problem."""
    say(f"measuring {contest.problem}")
    errors: dict[str, list[float]] = {each.name: [] for each in contest.contestants}

    def observe(contestant: Contestant, k: int, forces: Array) -> None:
        errors[contestant.name].append(np.abs(forces - contest.exact[k]).max())

    times = Contest(contest.contestants).measure(len(contest.exact), observe)
    return [
        {
            "problem": contest.problem,
            "solver": name,
            "steps": contest.steps,
            **times.quantiles(name, MS, ms_p50=50.0, ms_p99=99.0),
            "error_n": float(np.percentile(errors[name], 99.0)),
            "bound_ms": BOUNDS_MS[contest.problem] if name == "ours" else None,
        }
        for name in errors
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
