"""HiLQR MPC of a bouncing ball, with and without the hybrid cost update.

6.5.1, 6.6.1 and Figure 6.4. Printed are the reference (one bounce in 1 s, from rest at 4 m to rest
at 2.5 m), 1001 timesteps, a solve and its first input at each, and the cut-off |dJ| < 1e-4. Not
printed, and chosen here: the perturbation, the weights, the horizon and the iteration limit.

The perturbed ball is lower and faster than the reference, so it meets the floor first. Where it
is late instead, the controller without the update never lets it touch the floor: it turns the
ball around in the air, at the time of the reference's impact, with some 340 N, and every solve
of that smooth problem converges. tracking_cost is that of the closed loop, with the hybrid cost
update in both rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from saltation.examples.bouncing_ball import FALLING, INPUT_WEIGHT, bouncing_ball
from saltation.hilqr import Hilqr, HilqrOptions, Policies, Solution
from saltation.hilqr.cost import QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.hilqr.extension import KnotEvent, Modes
from saltation.hilqr.tracking_cost import HybridReference, HybridTrackingCost
from saltation.simulation import simulate_step
from saltation.systems import Array
from studies.figures import Panel, Styled, dots, draw, over
from studies.kong.two_methods import open_loop
from studies.study import Criterion, StudyOptions, StudyResult, study

TIMESTEP = 1e-3  # [s], 6.6.1: 1001 of them
START = np.array([4.0, 0.0])  # height [m] and velocity [m/s] of the reference, 6.6.1
TARGET_HEIGHT = 2.5  # [m], 6.6.1
TOLERANCE = 1e-4  # of |dJ|, 6.5.1
HORIZON = 0.1  # [s], chosen, as is all that follows
PERTURBATION = (-0.3, -1.0)  # [m], [m/s]
WEIGHTS = (100.0, 10.0)  # of position [1 / m^2 s] and velocity [s / m^2]
EFFORT = 0.01  # of the input [1 / N^2 s]
MAX_ITERATIONS = 50  # of one solve
SEED_FORCE = -8.0  # [N] constant, to one bounce
TERMINAL_WEIGHT = 1e4  # of the reference; it ends within 3 mm of the target height
PLANS = 34  # drawn of each run


class ClosedLoop(NamedTuple):
    """Course of a controlled system over T timesteps."""

    states: Array  # (T+1, n)
    inputs: Array  # (T, m)
    modes: Modes
    converged: NDArray[np.bool_]  # (T,) of each solve
    plans: list[Array]  # (T,) of (horizon+1, n): the states that each solve planned


@study("Kong, figure 6.4")
def run(options: StudyOptions) -> StudyResult:
    """Both rows, and Figure 6.4, at the printed size. Nothing in it is random."""
    target = reference()
    rows, loops = [], {}
    for update in (True, False):
        title = f"{'With' if update else 'Without'} the hybrid cost update"

        knots = options.track(range(target.steps), title)
        loop = loops[title] = close_loop(target, tracking_cost(target, update), knots)
        cost = tracking_cost(target, True)
        rows.append({
            "hybrid_cost_update": update,
            "unconverged_steps": np.sum(~loop.converged),
            "steps": len(loop.converged),
            "tracking_cost": cost.value(loop.states, loop.inputs, loop.modes),
            "peak_input": np.max(abs(loop.inputs))
        })  # fmt: skip
    updated, plain = rows
    criteria = [Criterion(f"{what} with the update", updated[what], "<", plain[what])
                for what in ("unconverged_steps", "tracking_cost")]  # fmt: skip
    return StudyResult(rows, {"figure-6.4": figure_6_4(loops, target)}, criteria=criteria)


def reference(timestep: float = TIMESTEP) -> HybridReference:
    """The target trajectory, optimal under the cost of 5.4.1 with a stiffer end (6.5.1).

    Raises:
        RuntimeError: HiLQR did not converge on it.
    """
    cost = QuadraticCost.reaching(
        np.array([TARGET_HEIGHT, 0.0]), np.array([[INPUT_WEIGHT * timestep]]),
        TERMINAL_WEIGHT * np.eye(2)
    )  # fmt: skip
    problem = EventDrivenModel(bouncing_ball(), FALLING, timestep, cost, event_at="end")
    seed = open_loop(np.full((round(1.0 / timestep) + 1, 1), SEED_FORCE), 2)
    solution = Hilqr(problem, HilqrOptions(tolerance=1e-3)).solve(START, seed)
    if solution.trajectory is None or solution.status != "converged":
        raise RuntimeError(f"the reference of ball-mpc is {solution.status}")
    return HybridReference(problem.system, timestep, solution.trajectory)


def tracking_cost(
    target: HybridReference, hybrid_update: bool, dt: float = TIMESTEP
) -> HybridTrackingCost:
    """(6.1) with the same weight on every state of a plan, its last included."""
    Q, R = dt * np.diag(WEIGHTS), dt * EFFORT * np.eye(1)  # noqa: N806
    return HybridTrackingCost(target, Q, R, Q, hybrid_update)


def close_loop(
    target: HybridReference,
    cost: HybridTrackingCost,
    knots: Iterable[int] = (),
    perturbation: tuple[float, float] = PERTURBATION,
    dt: float = TIMESTEP,
) -> ClosedLoop:
    """HiLQR MPC (6.4): apply the first input of each plan, from the perturbed start to the end.

    A plan looks `HORIZON` ahead, less near the end of the reference, and starts from
    the last one, moved on by one timestep. A solve that fails altogether counts as not converged,
    and the reference's input is applied. A timestep that fails ends the loop.
    """
    mode, x = FALLING, START + perturbation
    model = EventDrivenModel(bouncing_ball(), mode, dt, cost, event_at="end")
    solver = Hilqr(model, HilqrOptions(tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS))
    states, modes, events, inputs, converged, plans = [x], [mode], [], [], [], []
    solution: Solution | None = None
    for k in knots or range(target.steps):
        model.initial_mode, model.cost = mode, cost.window(k, len(events))
        solution = solver.solve(x, _seed(target, k, solution, dt))
        plan = solution.trajectory
        inputs.append(target.inputs[k] if plan is None else plan.inputs[0])
        plans.append(x[None] if plan is None else plan.states)
        converged.append(solution.status == "converged")
        step = simulate_step(model.system, mode, x, dt, inputs[k], k * dt, model.options)
        x, mode = step.state, step.mode
        states.append(x)
        modes.append(mode)
        events += [KnotEvent(k, event) for event in step.events]
        if step.status != "ok":
            break
    return ClosedLoop(np.array(states), np.array(inputs), Modes(tuple(modes), tuple(events)),
                      np.array(converged), plans)  # fmt: skip


def _seed(target: HybridReference, knot: int, last: Solution | None, dt: float) -> Policies:
    """The last plan without its first timestep, and at its end the reference's input.

    Without a last plan the reference's inputs, without feedback.
    """
    before, end = (min(k + round(HORIZON / dt), target.steps) for k in (knot - 1, knot))
    if last is None or last.trajectory is None or last.gains is None:
        states, inputs = target.states[knot : end + 1], target.inputs[knot:end]
        return Policies.of(states, inputs, np.zeros((*inputs.shape, states.shape[1])))
    plan, new = last.trajectory, end - before
    events = [KnotEvent(k - 1, event._replace(time=event.time - dt))
              for k, event in plan.aux.events if k > 0]  # fmt: skip
    knots = (*plan.aux.knots[1:], *plan.aux.knots[-1:][:new])
    return Policies.of(
        np.concatenate((plan.states[1:], plan.states[-1:][:new])),
        np.concatenate((plan.inputs[1:], target.inputs[before:end])),
        np.concatenate((last.gains[1:], last.gains[-1:][:new])),
        aux=Modes(knots, tuple(events)),
    )


def figure_6_4(loops: dict[str, ClosedLoop], target: HybridReference) -> Figure:
    """Figure 6.4: a row of panels for each run; green where a solve did not converge."""
    panels, times = [], TIMESTEP * np.arange(target.steps)
    for title, loop in loops.items():
        plans = loop.plans[:: max(1, len(loop.plans) // PLANS)]
        lost = ~loop.converged
        panels += [
            Panel({"target trajectory": target.states, "executed": loop.states,
                   "plans": Styled(plans, {"linewidth": 0.5})},
                  "height [m]", "velocity [m/s]", settings={"title": title}),
            Panel({"target trajectory": over(times, target.inputs),
                   "executed": over(times[: len(lost)], loop.inputs),
                   "did not converge": dots(
                       np.stack((times[: len(lost)], loop.inputs[:, 0]), axis=1)[lost])},
                  "time [s]", "input [N]")
        ]  # fmt: skip
    return draw(*panels, columns=2)
