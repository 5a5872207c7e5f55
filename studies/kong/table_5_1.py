"""Bouncing ball: HiLQR with the saltation matrix or the reset Jacobian.

Seeds are constant forces that end halfway through the flight after the last seeded bounce. Expected
reduction is |dJ| of (5.19), and converged means at most 0.05 of it (5.4.1). For direct collocation
there is none, and converged is the status of its optimiser. In the thesis D_x R drops the bounce
where one is seeded, and then converges; it keeps the one that is seeded here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from saltation.examples.bouncing_ball import (
    FALLING,
    GRAVITY,
    INPUT_WEIGHT,
    MASS,
    RESTITUTION,
    TERMINAL_WEIGHT,
    bouncing_ball,
    bouncing_ball_problem,
)
from saltation.hilqr import Hilqr, HilqrOptions, Trajectory
from studies.figures import Panel, draw
from studies.kong.direct_collocation import DirectProblem, solve_direct
from studies.kong.two_methods import (
    CUT_OFF,
    MAX_ITERATIONS,
    STEPS,
    heights_panel,
    inputs_panel,
    magnitude,
    open_loop,
)
from studies.study import Row, StudyOptions, StudyResult, study

START = np.array([4.0, 0.0])  # 5.4.1


class Case(NamedTuple):
    """A row of Table 5.1: how many bounces are optimal, how many the seed has, and the method."""

    optimal: int
    seed: int
    method: str  # "xi", "dxr", "direct" or "no_extension"

    @property
    def target_height(self) -> float:
        """Height to come to rest at [m], 5.4.1."""
        return 3.0 if self.optimal == 0 else 1.0

    @property
    def duration(self) -> float:
        """N steps of 1 ms, or of 4 ms where three bounces are optimal [s], 5.4.1."""
        return 4.0 if self.optimal == 3 else 1.0


PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1), (1, 3), (3, 1), (3, 3))  # optimal and seeded bounces
CASES = [Case(*pair, method) for pair in PAIRS for method in ("xi", "dxr")]
CASES.insert(4, Case(0, 1, "direct"))
CASES.append(Case(3, 3, "no_extension"))  # in the order of the printed table
SHOWN = (1, 3)  # optimal and seeded bounces of figure 5.2


class Solved(NamedTuple):
    """A case's row of the table, and its trajectories (None by direct collocation)."""

    row: Row
    seed: Trajectory | None = None
    final: Trajectory | None = None


@study("Kong, table 5.1")
def run(options: StudyOptions) -> StudyResult:
    """The 16 rows of Table 5.1; it is printed with N = 1000 and has nothing random in it."""
    solved = {case: solve_case(case, STEPS) for case in options.track(CASES)}
    shown = {case.method: one for case, one in solved.items() if case[:2] == SHOWN}
    rows = [one.row for one in solved.values()]
    return StudyResult(rows, {"figure-5.2": draw_example(shown)})


def seed_force(bounces: int, duration: float) -> float:
    """Constant force [N] under which time [s] ends in the flight after a number of bounces.

    It ends when half of that flight has passed, so that seeds lie well within the forces that give
    their number of bounces. From rest at height z under the acceleration -a the first fall takes
    t = sqrt(2 z / a), and the flight after the i-th bounce 2 e^i t.
    """
    e = RESTITUTION
    falls = 1.0 + 2.0 * sum(e**i for i in range(1, bounces)) + e**bounces
    return MASS * (GRAVITY - 2.0 * START[0] * ((falls if bounces else 0.5) / duration) ** 2)


def count_bounces(trajectory: Trajectory) -> int:
    """Number of times that the ball hits the floor."""
    return sum(happened.event.transition.source == FALLING for happened in trajectory.aux.events)


def solve_case(case: Case, steps: int = STEPS) -> Solved:
    """Solve a case in ``steps`` timesteps; direct collocation has its own intervals."""
    if case.method == "direct":
        return Solved(case._asdict() | _by_direct(case))
    model = bouncing_ball_problem(case.target_height, case.duration / steps)
    options = HilqrOptions(
        tolerance=CUT_OFF, max_iterations=MAX_ITERATIONS,
        variant=case.method  # type: ignore
    )  # fmt: skip
    force = seed_force(case.seed, case.duration)
    policies = open_loop(np.full((steps, 1), force), 2)
    solver = Hilqr(model, options)
    seed, solution = solver.start(START, policies), solver.solve(START, policies)
    final = solution.trajectory
    row = case._asdict() | {
        "actual": count_bounces(final) if final else None,
        "cost": final.cost if final else None,
        "expected_reduction": magnitude(solution.expected_change) if final else None,
        "converged": solution.status == "converged",
    }
    return Solved(row, seed, final)


def _by_direct(case: Case) -> Row:
    """One phase before the bounce and one after it, in which the ball rises until the end."""
    ball, target = bouncing_ball(), np.array([case.target_height, 0.0])
    problem = DirectProblem(
        ball, FALLING, ball.transitions[:1], START, case.duration,
        running=lambda t, x, u: INPUT_WEIGHT * u[0] * u[0],
        terminal=lambda x: TERMINAL_WEIGHT * np.sum((x - target) ** 2)
    )  # fmt: skip
    found = solve_direct(problem, (0.5 * case.duration, 0.5 * case.duration), np.zeros(1))
    return {"actual": 1, "cost": found.cost, "expected_reduction": None, "converged": found.ok}


def draw_example(solved: Mapping[str, Solved]) -> Figure:
    """Figure 5.2: height, phase plane and input of the seed and of both methods."""
    case = Case(*SHOWN, "xi")
    found = {"seed": solved["xi"].seed} | {name: one.final for name, one in solved.items()}
    ends = {name: one for name, one in found.items() if one is not None}
    plane: Row = {
        name: np.split(one.states, [knot + 1 for knot, _ in one.aux.events])
        for name, one in ends.items()
    }
    plane["target"] = np.array([[case.target_height, 0.0]])
    return draw(
        heights_panel(ends, case.duration, case.target_height),
        Panel(plane, "height [m]", "velocity [m/s]", ((0.0,), ())),
        inputs_panel(ends, case.duration, "force [N]"),
    )
