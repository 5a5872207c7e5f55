"""The planner's first iterations with each kind of derivatives, their gains, and the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from controller.a1_model import A1Model
from controller.hilqr_planner import solver_options
from controller.planner_options import PlannerOptions
from hybrid.hilqr import Hilqr
from hybrid.systems import Array
from saltus.studies.a1.derivatives.errors import Kind
from saltus.studies.a1.derivatives.problems import Problem, Progress
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from sim_bridge.rollouts.threaded import ThreadedRollout

ITERATIONS = 2  # of a solve
THREADS = 2
REPEATS = 3  # of what is timed


class Descent(NamedTuple):
    """The first iterations of P problems with one kind.

    Attributes:
        costs: (P, `ITERATIONS`) after each iteration, in parts of the seed's.
        rejected: (P, `ITERATIONS`) 1 where no step size was accepted.
        ratios: of actual to expected change (5.19), of the first iterations that were accepted.
        step_sizes: of the same.
        gains: (P, N, 12, 36) of the first backward passes, about the seeds.
    """

    costs: Array
    rejected: Array
    ratios: Array
    step_sizes: Array
    gains: Array


class Times(NamedTuple):
    """Medians over `count` trajectories, by kind.

    Attributes:
        knot_us: of a knot on one thread [us]; horizon_ms: of a horizon on `THREADS` [ms].
    """

    count: int
    knot_us: dict[str, float]
    horizon_ms: dict[str, float]


def descend(
    problems: Sequence[Problem], kind: Kind, options: PlannerOptions, progress: Progress
) -> Descent:
    """Iterate on each problem; the reference's own policy is no candidate."""
    backend = ThreadedRollout(options.knots, options.period, options.search.substeps, THREADS)
    model = A1Model(backend, kind.derivatives, options.cost)
    solver = Hilqr(model, replace(solver_options(options), variant=kind.variant))
    costs, rejected, accepted, gains = [], [], [], []
    for done, problem in enumerate(problems):
        progress(done, len(problems), f"iterations, {kind.key}")
        model.track(problem.window)
        solver.regularisation.reset()
        trajectory, steps = problem.seed, []
        for _ in range(ITERATIONS):
            steps.append(solver.iterate(problem.x0, trajectory))
            trajectory = steps[-1].trajectory
        first = steps[0]
        assert first.backward is not None  # Hessians of this cost are definite
        costs.append([step.trajectory.cost / problem.seed.cost for step in steps])
        rejected.append([float(step.status == "rejected") for step in steps])
        gains.append(first.backward.gains)
        if first.status == "improved":
            accepted.append((first.ratio, first.step_size))
    ratios, step_sizes = np.reshape(accepted, (-1, 2)).T
    return Descent(np.array(costs), np.array(rejected), ratios, step_sizes, np.array(gains))


def joint_gains(gains: Array) -> tuple[Array, Array]:
    """Sizes of gains (..., 12, 36) of each joint by its own angle and by its own velocity.

    [N m/rad] and [N m s/rad], flat.
    """
    joints = np.arange(12)
    own = np.abs(gains[..., joints, 6 + joints]), np.abs(gains[..., joints, 24 + joints])
    return own[0].ravel(), own[1].ravel()


def measure_times(
    problems: Sequence[Problem], kinds: Sequence[Kind], options: PlannerOptions, progress: Progress
) -> Times:
    """Time kind after kind on each trajectory, so that what disturbs one disturbs all."""
    horizon = options.period, options.search.substeps, THREADS
    shared = [
        Kind("rollout_dxr", RolloutDerivatives(*horizon, saltation=False)),
        Kind("differences", DifferenceDerivatives(*horizon)),
    ]
    knot_us: dict[str, list[float]] = {kind.key: [] for kind in kinds}
    horizon_ms: dict[str, list[float]] = {kind.key: [] for kind in shared}
    for done, problem in enumerate(problems):
        progress(done, len(problems), "time")
        for kind in kinds:
            seconds = _seconds(kind, problem)
            knot_us[kind.key].append(1e6 * seconds / len(problem.seed.inputs))
        for kind in shared:
            horizon_ms[kind.key].append(1e3 * _seconds(kind, problem))
    return Times(len(problems), _medians(knot_us), _medians(horizon_ms))


def _seconds(kind: Kind, problem: Problem) -> float:
    """The best of `REPEATS`: what else runs only adds."""
    seconds = []
    for _ in range(REPEATS):
        begin = perf_counter()
        kind.linearise(problem.seed)
        seconds.append(perf_counter() - begin)
    return min(seconds)


def _medians(values: dict[str, list[float]]) -> dict[str, float]:
    return {key: float(np.median(each)) for key, each in values.items()}
