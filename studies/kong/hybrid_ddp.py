"""Bouncing ball: HiLQR beside hybrid DDP, whose backward pass has a second-order Xi.

At an impact hybrid DDP (end of 5.3.3) adds V_x Xi_xx, mapped back through the timestep, to the
Hessians (5.29)-(5.31); Xi_xx are second differences of trajectories through the event. Where that
leaves an input Hessian that is not positive definite, the iteration is HiLQR's. Start, seeds and
all else are of table 5.1. Iterations are counted until the cost is within 0.1 % of the better of
both ends. The source has no numbers on it.
"""

from __future__ import annotations

import numpy as np

from saltation.events import EventRecord
from saltation.examples.bouncing_ball import FALLING, bouncing_ball_problem
from saltation.hilqr import Hilqr, HilqrOptions, backward_pass
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.hilqr.event_linearisation import events_by_knot
from saltation.hilqr.riccati import compose
from saltation.hilqr.types import CostExpansion, Linearisation, Trajectory
from saltation.systems import Array, System
from studies.figures import Panel, draw, over
from studies.kong.saltations import through_event
from studies.kong.table_5_1 import PAIRS, START, Case, seed_force
from studies.kong.two_methods import MAX_ITERATIONS, STEPS, open_loop
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

REACHED = 1e-3  # of the better cost
TOLERANCE = 1e-10  # |dJ| of (5.19) that ends a descent, far below any that shows
BUMP = 1e-3  # of the differences [m], [m/s]


def second_order_saltation(system: System, event: EventRecord, u_after: Array) -> Array:
    """Xi_xx (n_target, n, n): second derivatives of the state after an event by that before it."""
    edge, x = event.transition, event.state_before
    at = event.time, x, event.input
    rate, bumps = system.guard_rate(edge, *at), BUMP * np.eye(len(x))

    def end(bump: Array) -> Array:
        return through_event(system, edge, at[0], x + bump, at[2], rate, u_after)

    rows = [[end(a + b) - end(a - b) - end(b - a) + end(-a - b) for b in bumps] for a in bumps]
    return np.moveaxis(np.array(rows), 2, 0) / (4.0 * BUMP**2)


class DdpModel(EventDrivenModel):
    """Bouncing ball with the curvature of its impacts in the cost's Hessians."""

    def quadratise(self, trajectory: Trajectory) -> CostExpansion:
        """The cost's expansion with V_x Xi_xx at impacts; without it where that is not convex."""
        plain, linear, n = super().quadratise(trajectory), self.linearise(trajectory), 2
        cost, (A, B) = CostExpansion(*(each.copy() for each in plain)), compose(linear)
        last = len(A) - 1
        for k, events in sorted(events_by_knot(trajectory).items(), reverse=True):
            for impact in (one for one in events if one.transition.source == FALLING):
                V_x = cost.l_x[-1]
                if k < last:
                    tail = CostExpansion(*(each[k + 1 :] for each in cost))
                    ahead = backward_pass(Linearisation(A[k + 1 :], B[k + 1 :]), tail)
                    if not ahead.ok:
                        return plain
                    V_x = ahead.V_x
                u_after = trajectory.inputs[min(k + 1, last)]
                curved = np.tensordot(V_x, second_order_saltation(self.system, impact, u_after), 1)
                before = np.hstack((linear.A[k], linear.B[k]))
                added = before.T @ curved @ before
                cost.l_xx[k] += added[:n, :n]
                cost.l_ux[k] += added[n:, :n]
                cost.l_uu[k] += added[n:, n:]
        return cost if backward_pass(linear, cost).ok else plain


METHODS = {"hilqr": EventDrivenModel, "ddp": DdpModel}


@study("Kong, section 5.3.3")
def run(options: StudyOptions) -> StudyResult:
    """A row for each pair of optimal and seeded bounces, and for each method."""
    rows, criteria, panels = list[Row](), [], []
    for case in options.track([Case(*pair, "xi") for pair in PAIRS]):
        costs = {name: descend(case, name) for name in METHODS}
        better = min(found[-1] for found in costs.values())
        reached = {name: int(np.argmax(found <= (1.0 + REACHED) * better))
                   for name, found in costs.items()}  # fmt: skip
        for name, found in costs.items():
            ended = found[-1] <= (1.0 + REACHED) * better
            rows.append({
                "optimal": case.optimal, "seed": case.seed, "method": name, "cost": found[-1],
                "iterations_to_it": reached[name] if ended else None, "iterations": len(found) - 1
            })  # fmt: skip
        title = f"{case.optimal} optimal, {case.seed} seeded"
        criteria.append(Criterion(f"{title}: DDP's cost over HiLQR's", costs["ddp"][-1] /
                                  costs["hilqr"][-1], "<=", 1.0 + REACHED))  # fmt: skip
        if case.seed:
            curves = {name: over(np.arange(len(found)), found / better - 1.0 + 1e-6, marker=".")
                      for name, found in costs.items()}  # fmt: skip
            panels.append(Panel(curves, "iteration", "cost over the better, less 1",
                                settings={"yscale": "log", "title": title}))  # fmt: skip
    return StudyResult(rows, {"hybrid-ddp": draw(*panels, columns=3)}, criteria=criteria)


def descend(case: Case, method: str) -> Array:
    """Costs (K,) of the seed and after each iteration, until none is accepted."""
    ball = bouncing_ball_problem(case.target_height, case.duration / STEPS)
    model = METHODS[method](ball.system, FALLING, ball.timestep, ball.cost, event_at="end")
    solver = Hilqr(model, HilqrOptions(tolerance=TOLERANCE))
    force = seed_force(case.seed, case.duration)
    trajectory = solver.start(START, open_loop(np.full((STEPS, 1), force), 2))
    assert trajectory is not None  # seeds roll out
    costs, going = [trajectory.cost], True
    while going and len(costs) <= MAX_ITERATIONS:
        iteration = solver.iterate(START, trajectory)
        trajectory, going = iteration.trajectory, iteration.status == "improved"
        costs.append(trajectory.cost)
    return np.array(costs)
