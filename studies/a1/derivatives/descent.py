"""The planner's first iterations with each kind of derivatives, their gains, and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from controller.hilqr_planner import solver_options
from controller.planner_options import PlannerOptions
from controller.robot_model import RobotModel
from hybrid.hilqr import Hilqr
from hybrid.systems import Array
from robots.robot import load_robot
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from sim_bridge.rollouts.threaded import ThreadedRollout
from studies.a1.derivatives.errors import Kind
from studies.a1.derivatives.problems import Problem, Progress, spread

ITERATIONS = 2  # of a solve
THREADS = 2
REPEATS = 3  # of what is timed
TICK = 0.001  # [s]
DELAYS = (1, 10)  # from estimate to torque [ticks]; 10 ms is the slowest command of our suites
PROBLEMS, KNOTS = 12, (0, 5, 10, 20)  # of which the loop is looked at


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
    robot, search = load_robot("a1"), options.search
    backend = ThreadedRollout(robot, options.knots, options.period, search.substeps, THREADS)
    model = RobotModel(robot, backend, kind.derivatives, options.cost)
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
        Kind("rollout_dxr", RolloutDerivatives(load_robot("a1"), *horizon, saltation=False)),
        Kind("differences", DifferenceDerivatives(load_robot("a1"), *horizon)),
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


def loop_growth(A: Array, B: Array, K: Array, delay: int) -> float:
    """Fastest growth [1/s] of x_t+1 = A x_t + B K x_t-delay, one tick a step.

    A (n, n) and B (n, m) of one tick, gains K (m, n); the delay is one tick or more.
    """
    n, m = B.shape
    loop = np.zeros((n + m * delay, n + m * delay))
    loop[:n, :n], loop[:n, n : n + m] = A, B
    loop[n:-m, n + m :] = np.eye(m * (delay - 1))
    loop[-m:, :n] = K
    return float(np.log(np.abs(np.linalg.eigvals(loop)).max()) / TICK)


def measure_loops(
    problems: Sequence[Problem], gains: Mapping[str, Array], progress: Progress
) -> dict[tuple[str, int], Array]:
    """Growth rates [1/s] by kind and delay, over some knots of some problems.

    The state of each knot is held still: its contacts and its gains stay as they are.

    Args:
        problems: whose seeds give the states.
        gains: (P, N, 12, 36) of each kind.
        progress: is told how far it is.
    """
    tick = RolloutDerivatives(load_robot("a1"), TICK, 1, 1)
    growth: dict[tuple[str, int], list[float]] = {(k, d): [] for k in gains for d in DELAYS}
    chosen = spread(range(len(problems)), PROBLEMS)
    for done, p in enumerate(chosen):
        progress(done, len(chosen), "loops")
        linear = tick.linearise(problems[p].seed)
        for (kind, delay), rates in growth.items():
            K = gains[kind][p]
            rates += [loop_growth(linear.A[k], linear.B[k], K[k], delay) for k in KNOTS]
    return {key: np.array(rates) for key, rates in growth.items()}
