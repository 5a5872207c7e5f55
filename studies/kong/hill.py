"""The eleven methods of 2.4.1, their trials, and their reach.

Reach is a search on a grid: from each point straight to the points about it, if going there
converges at both ends with one power. So D_m < 0 stays within the lines K = 0, where no heading has
it and on either side of which p must be on either side of 1. A planner that looks only at the first
point of each step can step over such lines, and reaches more; the longer its steps, the more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from saltation.convergent.evaluation import evaluate
from saltation.convergent.hill import SINE_HILL, Hill
from saltation.convergent.hill_path import Convergence, HillPath, HillProblem
from saltation.convergent.hill_trajectory import HillTrajectory
from saltation.convergent.hill_transcription import SHORTEST, TrajectoryOptions
from saltation.convergent.path_check import divergent, violation
from saltation.convergent.power_controller import divergence_metrics, jacobian
from saltation.convergent.rrt import RrtOptions, RrtStarOptions, plan_rrt, plan_rrt_star
from saltation.systems import Array
from saltus.sweep.running import run_all, workers
from studies.study import Row, StudyOptions

Planner = Literal["T-OPT shortest", "T-OPT", "RRT", "RRT*"]
ANY_POWER, ONE = (0.0, 2.0), (1.0, 1.0)


class Method(NamedTuple):
    """A way to plan."""

    number: int  # in 2.4.1
    name: str
    planner: Planner
    convergence: Convergence
    powers: tuple[float, float]

    @property
    def label(self) -> str:
        """Number and name."""
        return f"{self.number} {self.name}"

    def problem(self, start: np.ndarray, goal: np.ndarray) -> HillProblem:
        """From start to goal on the thesis's hill, as this method is asked it."""
        return HillProblem(start, goal, self.convergence, self.powers)


_TABLE: Any = (
    ("T-OPT shortest", "T-OPT shortest", "none", ONE),
    ("T-OPT", "T-OPT", "none", ANY_POWER),
    ("B-RRT", "RRT", "none", ANY_POWER),
    ("B-RRT*", "RRT*", "none", ANY_POWER),
    ("T-OPT D_m < 0", "T-OPT", "maximum", ANY_POWER),
    ("CR-RRT D_m < 0", "RRT", "maximum", ANY_POWER),
    ("CR-RRT* D_m < 0", "RRT*", "maximum", ANY_POWER),
    ("T-OPT D_a < 0", "T-OPT", "average", ANY_POWER),
    ("T-OPT p = 1 D_a < 0", "T-OPT", "average", ONE),
    ("CR-RRT D_a < 0", "RRT", "average", ANY_POWER),
    ("CR-RRT* D_a < 0", "RRT*", "average", ANY_POWER),
)
METHODS = [Method(number, *each) for number, each in enumerate(_TABLE, start=1)]


def ends(seed: int, trial: int) -> tuple[np.ndarray, np.ndarray]:
    """Start and goal (2,) [m] of a trial, uniform on the map; the same for all methods."""
    low, high = np.transpose([SINE_HILL.x_bounds, SINE_HILL.y_bounds])
    start, goal = np.random.default_rng([seed, trial]).uniform(low, high, (2, 2))
    return start, goal


TRIALS, THESIS_TRIALS = 80, 200  # 200 in 2.4.1; a trial takes some five seconds of a core
GAMMA = TrajectoryOptions().gamma  # of J_accel, (2.19)
# D_m < 0 mostly has no solution, and what has one is short: fewer waypoints, an earlier end.
STRICT = TrajectoryOptions(waypoints=50, dt=50.0, max_iterations=100)


class Outcome(NamedTuple):
    """Result of one method in one trial."""

    success: bool  # a path, and it keeps what was asked
    seconds: float  # that planning took
    log_area_ratio: float = np.nan  # NaN without a path
    log_distance_ratio: float = np.nan
    acceleration_cost: float = np.nan
    broken: bool = False  # what a path that was given out violates
    at_ends: bool = False  # whether a success keeps its constraint where steps end, too
    rough: bool = False  # the evaluation is not as accurate as it says it is elsewhere


Trials = dict[int, Row]  # numbers of `Outcome` by name, (count,) each, by the method's number


def by_name(outcomes: Sequence[Outcome]) -> Row:
    """Each number of every trial, (count,), whether it succeeded or not."""
    return dict(zip(Outcome._fields, np.array(outcomes, np.float64).T, strict=True))


def run_trials(options: StudyOptions, methods: Iterable[Method] = METHODS) -> Trials:
    """Every method on the same random starts and goals, trials side by side in processes."""
    chosen, count, seed = tuple(methods), options.count(TRIALS, THESIS_TRIALS), options.seed
    options.progress(0, count, "compiling")
    for method in chosen:  # what is compiled is kept where the processes find it
        if method.planner.startswith("RRT"):
            _warm(method)
    made: dict[int, Sequence[Outcome]] = {}

    def work(trial: int) -> tuple[int, list[Outcome]]:
        return trial, [_outcome(method, seed, trial) for method in chosen]

    with workers():
        for trial, result in run_all(work, list(range(count))):
            made[trial] = result
            options.progress(len(made), count, "trials")
    columns = zip(*(made[trial] for trial in range(count)), strict=True)
    return {each.number: by_name(own) for each, own in zip(chosen, columns, strict=True)}


def plan(method: Method, seed: int, trial: int, repeat: int = 0) -> tuple[HillProblem, HillPath]:
    """The problem of a trial and a method's path; trees of another ``repeat`` grow otherwise."""
    problem = method.problem(*ends(seed, trial))
    return problem, _path(method, problem, _tree_seed(seed, trial, method.number, repeat))


def _outcome(method: Method, seed: int, trial: int) -> Outcome:
    _warm(method)
    problem = method.problem(*ends(seed, trial))
    tree_seed, started = _tree_seed(seed, trial, method.number, 0), time.perf_counter()
    path = _path(method, problem, tree_seed)
    took = time.perf_counter() - started
    broken = violation(problem, path) if path.ok else ""
    if not path.ok or broken:
        return Outcome(False, took, broken=bool(broken))
    result, steps = evaluate(problem, path), max(len(path.powers), 1)
    # Mean of J_accel, (2.18) and (2.19); the last step has none after it. What is left of a
    # straight path is the solver's tolerance.
    acceleration = GAMMA * np.sum(np.diff(path.velocities, axis=0) ** 2) / steps
    return Outcome(
        True, took, np.log(result.area_ratio), np.log(result.distance_ratio),
        round(float(acceleration), 9), False, not divergent(problem, path, at_ends=True),
        result.status != "ok"
    )  # fmt: skip


def _path(method: Method, problem: HillProblem, tree_seed: int) -> HillPath:
    if method.planner == "RRT":
        return plan_rrt(problem, RrtOptions(seed=tree_seed))
    if method.planner == "RRT*":
        return plan_rrt_star(problem, RrtStarOptions(seed=tree_seed))
    return _optimisation(method.convergence, method.planner == "T-OPT shortest").solve(problem)


@lru_cache(maxsize=len(METHODS))
def _optimisation(convergence: Convergence, shortest: bool) -> HillTrajectory:
    """Made once in a process, whatever the powers."""
    options = STRICT if convergence == "maximum" else TrajectoryOptions()
    return HillTrajectory(convergence, SHORTEST if shortest else options)


@lru_cache(maxsize=len(METHODS))
def _warm(method: Method) -> None:
    """Load what a method needs, so that no trial's time has it."""
    if method.planner.startswith("RRT"):
        here = np.array([0.0, 1.0])
        problem = method.problem(here, here + 0.1)
        _path(method, problem, 0)
        evaluate(problem, HillPath("ok", np.stack((here, here + 0.1)), np.ones(1)))
    else:
        _optimisation(method.convergence, method.planner == "T-OPT shortest")


def _tree_seed(seed: int, trial: int, number: int, repeat: int) -> int:
    return int(np.random.default_rng([seed, trial, number, repeat]).integers(2**31))


_AROUND = 5  # grid points to either side: 80 directions
_POWERS = 9  # looked at between the lowest and the highest


class ReachGraph(NamedTuple):
    """A grid over the map and the steps between its points that converge."""

    points: Array  # (K, 2) [m]
    steps: Any  # csr_array (K, K), nonzero where one may go from row to column

    def reached(self, start: Array) -> NDArray[np.bool_]:
        """The points, as (K,) bool, that can be reached from that nearest to a start (2,) [m]."""
        node = int(np.argmin(np.sum((self.points - start) ** 2, axis=1)))
        mask = np.zeros(len(self.points), dtype=np.bool_)
        mask[breadth_first_order(self.steps, node, return_predecessors=False)] = True
        return mask

    def joins(self, start: Array, goal: Array, eta: float) -> Any:
        """Whether a way leads from start into the square of half side eta [m] about goal."""
        in_goal: Any = np.max(np.abs(self.points - goal), axis=1) <= eta
        return np.any(self.reached(start) & in_goal)


def reach_graph(
    hill: Hill, metric: Convergence, powers: tuple[float, float], spacing: float = 0.025
) -> ReachGraph:
    """The graph of steps with D_a or D_m below 0.

    Args:
        hill: with its map.
        metric: "average" for D_a < 0, (2.23); "maximum" for D_m < 0, (2.22).
        powers: lowest and highest power of the controller; each place may use its own.
        spacing: of the grid [m], about.
    """
    x, y = (
        np.linspace(low, high, round((high - low) / spacing) + 1)
        for low, high in (hill.x_bounds, hill.y_bounds)
    )
    grid = np.meshgrid(x, y, indexing="ij")
    slopes, number = hill.at(*grid)[1:], np.arange(grid[0].size).reshape(grid[0].shape)
    ends, near = [], range(-_AROUND, _AROUND + 1)
    for i, j in ((i, j) for i in near for j in near if np.gcd(i, j) == 1):
        (from_x, to_x), (from_y, to_y) = _overlap(len(x), i), _overlap(len(y), j)
        first, last = number[from_x, from_y], number[to_x, to_y]
        converges = np.zeros(first.shape, dtype=np.bool_)
        step = i * (x[1] - x[0]), j * (y[1] - y[0])  # in one unit of time
        for p in np.unique(np.linspace(*powers, _POWERS)):
            metrics = divergence_metrics(*jacobian(*slopes, *step, p))
            free = metrics[metric == "maximum"] < 0.0
            converges |= free[from_x, from_y] & free[to_x, to_y]
        ends.append((first[converges], last[converges]))
    pairs = tuple(np.concatenate(each) for each in zip(*ends, strict=True))
    steps = csr_array((np.ones(len(pairs[0]), dtype=np.int8), pairs), shape=(number.size,) * 2)
    return ReachGraph(np.stack(grid, axis=-1).reshape(-1, 2), steps)


def reachable_shares(places: Array) -> dict[int, float]:
    """Share [%] of the pairs (T, 2, 2) [m] of start and goal with a convergent way.

    By the number of a method; those without a constraint have none.
    """
    graph, shares = lru_cache(None)(reach_graph), {}
    for method in METHODS:
        if method.convergence != "none":
            ways = graph(SINE_HILL, method.convergence, method.powers)
            eta = method.problem(*places[0]).eta
            joined = [ways.joins(start, goal, eta) for start, goal in places]
            shares[method.number] = 100.0 * np.mean(joined)
    return shares


def _overlap(count: int, offset: int) -> tuple[slice, slice]:
    """Ranges where a step of ``offset`` begins and ends, on an axis of ``count`` points."""
    low, high = max(0, -offset), count - max(0, offset)
    return slice(low, high), slice(low + offset, high + offset)
