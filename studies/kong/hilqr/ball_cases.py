"""The ball of 5.4.1: the cases of Table 5.1, their seeds, and their solutions by each method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hybrid.examples.bouncing_ball import (
    FALLING,
    GRAVITY,
    INPUT_WEIGHT,
    MASS,
    RESTITUTION,
    TERMINAL_WEIGHT,
    bouncing_ball,
    bouncing_ball_problem,
)
from hybrid.hilqr import Hilqr, HilqrOptions, Policies, Trajectory
from hybrid.systems import Array
from studies.kong.hilqr.direct_collocation import DirectProblem, solve_direct
from studies.kong.hilqr.two_methods import magnitude

START = np.array([4.0, 0.0])  # 5.4.1
STEPS = 1000  # N, 5.4
TOLERANCE = 0.05  # on |dJ|, 5.4.1
MAX_ITERATIONS = 100


class Case(NamedTuple):
    """A row of Table 5.1: how many bounces are optimal, how many the seed has, and the method."""

    optimal: int
    seed: int
    method: str  # "xi", "dxr", "direct" or "no_extension"

    @property
    def target_height(self) -> float:
        """Where to come to rest [m], 5.4.1."""
        return 3.0 if self.optimal == 0 else 1.0

    @property
    def duration(self) -> float:
        """N steps of 1 ms, or of 4 ms where three bounces are optimal [s], 5.4.1."""
        return 4.0 if self.optimal == 3 else 1.0


CASES = (
    *(Case(0, seed, method) for seed in (0, 1) for method in ("xi", "dxr")),
    Case(0, 1, "direct"),
    *(Case(1, seed, method) for seed in (0, 1, 3) for method in ("xi", "dxr")),
    *(Case(3, seed, method) for seed in (1, 3) for method in ("xi", "dxr")),
    Case(3, 3, "no_extension"),
)  # in the order of the printed table


class Solved(NamedTuple):
    """A case's row of the table, and its trajectories (None by direct collocation)."""

    row: BallRow
    seed: Trajectory | None
    final: Trajectory | None


def seed_force(bounces: int, duration: float, fraction: float = 0.5) -> float:
    """Constant force [N] under which time [s] ends in the flight after a number of bounces.

    It ends when this fraction of that flight has passed; half of it by default, so that seeds lie
    well within the forces that give their number of bounces. From rest at height z under the
    acceleration -a the first fall takes t = sqrt(2 z / a), and the flight after the i-th bounce
    2 e^i t.
    """
    e = RESTITUTION
    falls = 1.0 + 2.0 * sum(e**i for i in range(1, bounces)) + 2.0 * fraction * e**bounces
    return MASS * (GRAVITY - 2.0 * START[0] * ((falls if bounces else fraction) / duration) ** 2)


def count_bounces(trajectory: Trajectory) -> int:
    """How often the ball hits the floor."""
    return sum(happened.event.transition.source == FALLING for happened in trajectory.aux.events)


def solve_case(case: Case, steps: int = STEPS, fraction: float = 0.5) -> Solved:
    """Solve a case in ``steps`` timesteps; direct collocation has its own intervals.

    ``fraction`` is that of ``seed_force``.
    """
    return _by_direct(case) if case.method == "direct" else _by_hilqr(case, steps, fraction)


def _by_hilqr(case: Case, steps: int, fraction: float) -> Solved:
    timestep = case.duration / steps
    model = bouncing_ball_problem(case.target_height, timestep)
    options = HilqrOptions(
        tolerance=TOLERANCE,
        max_iterations=MAX_ITERATIONS,
        variant=case.method,  # type: ignore
    )
    force = np.full((steps, 1), seed_force(case.seed, case.duration, fraction))
    policies = Policies.of(np.zeros((steps + 1, 2)), force, np.zeros((steps, 1, 2)))
    solver = Hilqr(model, options)
    seed, solution = solver.start(START, policies), solver.solve(START, policies)
    final, change = solution.trajectory, magnitude(solution.expected_change)
    if final is None:
        return Solved(_row(case, None, None, None, False), seed, None)
    row = _row(case, count_bounces(final), final.cost, change, solution.status == "converged")
    return Solved(row, seed, final)


def _by_direct(case: Case) -> Solved:
    """One phase before the bounce and one after it, in which the ball rises until the end."""
    ball, target = bouncing_ball(), np.array([case.target_height, 0.0])
    if case.seed != 1:
        raise ValueError(f"{case.seed} bounces by direct collocation: only one is in the table")

    def running(t: float, x: Array, u: Array) -> float:
        return INPUT_WEIGHT * u[0] * u[0]

    def terminal(x: Array) -> float:
        return TERMINAL_WEIGHT * np.sum((x - target) ** 2)

    half = 0.5 * case.duration
    edges = ball.transitions[:1]
    problem = DirectProblem(ball, FALLING, edges, START, case.duration, running, terminal)
    solution = solve_direct(problem, (half, half), np.zeros(1))
    return Solved(_row(case, len(edges), solution.cost, None, solution.status == "ok"), None, None)


@dataclass(frozen=True)
class BallRow:
    """One row of Table 5.1."""

    optimal: int
    seed: int
    method: str
    actual: int | None
    cost: float | None
    expected_reduction: float | None
    converged: bool


def _row(
    case: Case, actual: int | None, cost: float | None, change: float | None, converged: bool
) -> BallRow:
    return BallRow(
        **case._asdict(),
        actual=actual,
        cost=cost,
        expected_reduction=change,
        converged=converged,
    )
