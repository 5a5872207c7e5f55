"""Trials of the methods of 2.4.1: plans, how long they take, and what they do to uncertainty."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from controller.convergent.evaluation import evaluate
from controller.convergent.hill_path import Convergence, HillPath, HillProblem
from controller.convergent.hill_trajectory import HillTrajectory
from controller.convergent.hill_transcription import SHORTEST, TrajectoryOptions
from controller.convergent.path_check import divergent, violation
from controller.convergent.rrt import RrtOptions, RrtStarOptions, plan_rrt, plan_rrt_star
from saltus.sweep.running import backend_ready, default_jobs, run_all
from studies.kong.hill.methods import METHODS, Method, ends
from studies.study import StudyOptions

TRIALS, THESIS_TRIALS = 80, 200  # 200 in 2.4.1; a trial takes some five seconds of a core
GAMMA = TrajectoryOptions().gamma  # of J_accel, (2.19)
# D_m < 0 mostly has no solution, and what has one is short: fewer waypoints, an earlier end.
STRICT = TrajectoryOptions(waypoints=50, dt=50.0, max_iterations=100)


class Outcome(NamedTuple):
    """What one method did in one trial."""

    success: bool  # a path, and it keeps what was asked
    seconds: float  # that planning took
    cpu_seconds: float  # of a processor
    log_area_ratio: float  # NaN without a path
    log_distance_ratio: float
    acceleration_cost: float
    broken: str  # what a path that was given out violates; "" where nothing
    at_ends: bool  # whether a success keeps its constraint where steps end, too
    rough: bool  # the evaluation is not as accurate as it says it is elsewhere
    build_seconds: float  # that making the trajectory optimisation took, once for all trials


class Trials(NamedTuple):
    """Outcomes by a method's number, one for each trial."""

    count: int
    outcomes: Mapping[int, Sequence[Outcome]]

    def values(self, number: int, name: str) -> np.ndarray:
        """A number of every trial (count,), whether it succeeded or not."""
        return np.array([getattr(one, name) for one in self.outcomes[number]], dtype=np.float64)


def run_trials(options: StudyOptions, methods: Iterable[Method] = METHODS) -> Trials:
    """Every method on the same random starts and goals, trials side by side in processes."""
    chosen, count = tuple(methods), options.count(TRIALS, THESIS_TRIALS)
    options.progress(0, count, "compiling")
    for method in chosen:  # what is compiled is kept where the processes find it
        if method.planner.startswith("RRT"):
            _warm(method)
    made: dict[int, Sequence[Outcome]] = {}
    work = partial(_trial, options.seed, chosen)
    with backend_ready("loky", None, default_jobs("loky")):
        for trial, result in run_all(work, list(range(count))):
            made[trial] = result
            options.progress(len(made), count, "trials")
    in_order = zip(*(made[trial] for trial in range(count)), strict=True)
    return Trials(count, {m.number: list(each) for m, each in zip(chosen, in_order, strict=True)})


def plan(method: Method, seed: int, trial: int, repeat: int = 0) -> tuple[HillProblem, HillPath]:
    """The problem of a trial and a method's path; trees of another ``repeat`` grow otherwise."""
    problem = method.problem(*ends(seed, trial))
    return problem, _path(method, problem, _tree_seed(seed, trial, method.number, repeat))


def acceleration_cost(path: HillPath) -> float:
    """Mean of J_accel over a path, (2.18) and (2.19), to 1e-9; the last step has none after it."""
    steps = len(path.powers)
    cost = GAMMA * np.sum(np.diff(path.velocities, axis=0) ** 2) / max(steps, 1)
    return round(float(cost), 9)  # what is left of a straight path is the solver's tolerance


def _trial(seed: int, methods: tuple[Method, ...], trial: int) -> tuple[int, list[Outcome]]:
    return trial, [_outcome(method, seed, trial) for method in methods]


def _outcome(method: Method, seed: int, trial: int) -> Outcome:
    build = _warm(method)
    problem = method.problem(*ends(seed, trial))
    tree_seed = _tree_seed(seed, trial, method.number, 0)
    started, started_cpu = time.perf_counter(), time.process_time()
    path = _path(method, problem, tree_seed)
    took = time.perf_counter() - started, time.process_time() - started_cpu
    broken = violation(problem, path) if path.ok else ""
    if not path.ok or broken:
        return Outcome(False, *took, np.nan, np.nan, np.nan, broken, False, False, build)
    result = evaluate(problem, path)
    return Outcome(
        True, *took, float(np.log(result.area_ratio)), float(np.log(result.distance_ratio)),
        acceleration_cost(path), "", not divergent(problem, path, at_ends=True),
        result.status != "ok", build,
    )  # fmt: skip


def _path(method: Method, problem: HillProblem, tree_seed: int) -> HillPath:
    if method.planner == "RRT":
        return plan_rrt(problem, RrtOptions(seed=tree_seed))
    if method.planner == "RRT*":
        return plan_rrt_star(problem, RrtStarOptions(seed=tree_seed))
    return _built(method)[0].solve(problem)


@lru_cache(maxsize=len(METHODS))
def _optimisation(
    convergence: Convergence, options: TrajectoryOptions
) -> tuple[HillTrajectory, float]:
    """Made once in a process, whatever the powers, and the time that took [s]."""
    started = time.perf_counter()
    made = HillTrajectory(convergence, options)
    return made, time.perf_counter() - started


def _built(method: Method) -> tuple[HillTrajectory, float]:
    if method.planner == "T-OPT shortest":
        return _optimisation(method.convergence, SHORTEST)
    options = STRICT if method.convergence == "maximum" else TrajectoryOptions()
    return _optimisation(method.convergence, replace(options, both_ends=method.both_ends))


@lru_cache(maxsize=len(METHODS))
def _warm(method: Method) -> float:
    """Load what a method needs, so that no trial's time has it; the time to make T-OPT [s]."""
    if method.planner.startswith("RRT"):
        here = np.array([0.0, 1.0])
        problem = method.problem(here, here + 0.1)
        _path(method, problem, 0)
        evaluate(problem, HillPath("ok", np.stack((here, here + 0.1)), np.ones(1)))
        return 0.0
    return _built(method)[1]


def _tree_seed(seed: int, trial: int, number: int, repeat: int) -> int:
    return int(np.random.default_rng([seed, trial, number, repeat]).integers(2**31))
