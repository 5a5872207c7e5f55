"""HiLQR plans that shrink perturbations through impacts.

The bouncing ball and the hopper reach a height in a given time. Beside the plain plan, which pays
for force alone, one pays for |W Phi V|_F^2 too, the trace of the linearised covariance at the end
(3.37), with saltation matrices in Phi; a third does so with D_x R in their place. Starts are drawn
about the planned one and simulated event by event under each plan.

Zhu, Payne and Johnson, "Convergent iLQR for Safe Trajectory Planning and Control of Legged Robots"
(2023), take the 2-norm of the closed loop's Phi instead. Here Phi is that of the open loop, as in
chapter 2, and its Frobenius norm, which is smooth; the LQR is put on the finished plans. Only the
columns lqr_* have feedback.

The force and its rate are states that start at zero. A force that jumps when the plan meets the
floor would reduce Phi, but a perturbed trajectory would miss the jump.
"""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from saltation.examples.bouncing_ball import FALLING, bouncing_ball
from saltation.examples.hopper import FLIGHT
from saltation.hilqr import Hilqr, HilqrOptions, Policies, Solution, Trajectory, backward_pass
from saltation.hilqr.cost import Cost, QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.options import SimulationOptions
from saltation.systems import Array, System
from studies.kong.two_methods import open_loop
from studies.kong.variational import (
    ConvergentCost,
    augmented,
    driven_hopper,
    pack_augmented,
    ramped,
)
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

KINDS = ("plain", "convergent", "dxr")
TRIALS = 200
SPREAD = 0.02  # standard deviation of a start in height [m]
SECONDS = 0.2  # a velocity error counts as the height error that it makes in this time [s]
OUTPUT = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, SECONDS, 0.0, 0.0]])  # W, of (z, v, f, df/dt)
STARTS = np.diag([SPREAD, SPREAD / SECONDS])  # V: 0.02 m and 0.1 m/s
COLUMNS = 2  # the force is the plan's own, and starts without error
TERMINAL = 1000.0  # on the squared end error, in height and SECONDS times velocity [1/m^2]
TRACKING = 3.0  # of the LQR; with TERMINAL some of the hopper's starts leave the linear range
CONVERGENCE = 0.3  # w, of |W Phi V|_F^2 over the squared spread of the starts
TOLERANCE, MAX_ITERATIONS = 1e-3, 60  # |dJ| at which a solve has converged
ACCURACY = SimulationOptions(rtol=1e-8, atol=1e-10)


class Task(NamedTuple):
    """Start of a system, and the height and velocity that it is to reach after a duration."""

    name: str
    system: System  # states (z, v, f, df/dt): the force and its rate are states too
    mode: int  # at the start
    start: Array  # (4,), without force
    goal: Array
    duration: float  # [s]
    steps: int  # N
    effort: float  # weight of the squared force [1/(N^2 s)]
    smoothness: float  # of its squared second derivative [s^3/N^2]

    @property
    def timestep(self) -> float:
        """Length of a timestep [s]."""
        return self.duration / self.steps

    @property
    def wide(self) -> Array:
        """The start with V beside it."""
        return pack_augmented(self.start, np.concatenate((STARTS, np.zeros((2, COLUMNS)))))

    def model(self, terminal: float = TERMINAL, weight: float | None = None,
              with_reset_jacobian: bool = False) -> EventDrivenModel:  # fmt: skip
        """States (z, v, f, df/dt); with a weight w, Phi V as states too, and the cost on it."""
        system = self.system
        end = terminal * np.diag([1.0, SECONDS**2, 0.0, 0.0])
        force = self.timestep * np.diag([0.0, 0.0, self.effort, 0.0])
        bend = np.array([[self.timestep * self.smoothness]])
        cost: Cost = QuadraticCost(self.goal, force, bend, end)
        if weight is not None:
            cost = ConvergentCost(cost, OUTPUT, weight / SPREAD**2)
            system = augmented(system, COLUMNS, with_reset_jacobian=with_reset_jacobian)
        return EventDrivenModel(system, self.mode, self.timestep, cost, ACCURACY, event_at="exact")


TASKS = (
    Task("bouncing ball", ramped(ramped(bouncing_ball())), FALLING, np.array([2.5, 0.0, 0.0, 0.0]),
         np.array([0.8, -1.0, 0.0, 0.0]), 2.2, 100, 0.5, 1e-7),
    Task("hopper", ramped(ramped(driven_hopper())), FLIGHT, np.array([0.8, 0.0, 0.0, 0.0]),
         np.array([0.9, 0.0, 0.0, 0.0]), 1.35, 135, 0.01, 1e-8)
)  # fmt: skip


class Plan(NamedTuple):
    """A solved task."""

    task: Task
    kind: str
    trajectory: Trajectory  # states (N+1, 4), inputs (N, 1)
    solution: Solution
    seconds: float  # of the solve
    spread: Array  # (2, 2) W Phi V at the end: of standard deviations at the start


@study("Kong, section 7.1", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows: plain, convergent and D_x R plans of the ball and of the hopper.

    Each is planned from no force at all, then from the inputs of its first plan.
    """
    rows, criteria = [], []
    for task in TASKS:
        plans: list[Plan] = []
        for kind in options.track(KINDS):
            plans.append(solved(task, kind, plans[0] if plans else None))
        plain, convergent, _ = own = [row(plan, options) for plan in plans]
        rows += own
        for key in ("trace", "mean_distance"):
            what = f"{task.name}: {key} over the plain plan's"
            criteria.append(Criterion(what, convergent[key] / plain[key], "<", 1.0))
    columns = (
        "system, plan, trace_ratio, mean_distance=mean [m], largest_distance=farthest [m],"
        " phi_norm, effort, lqr_trace_ratio=trace with LQR"
    )
    return StudyResult(rows, columns=columns, criteria=criteria)


def solved(task: Task, kind: str, seed: Plan | None) -> Plan:
    """HiLQR, with the cost on Phi where there is a plan to start from.

    Raises:
        ValueError: not even the seed can be simulated.
    """
    x0, inputs, model = task.start, np.zeros((task.steps, 1)), task.model()
    if seed is not None:
        x0, inputs = task.wide, seed.trajectory.inputs
        model = task.model(weight=CONVERGENCE, with_reset_jacobian=kind == "dxr")
    began = time.perf_counter()
    options = HilqrOptions(tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS)
    solution = Hilqr(model, options).solve(x0, open_loop(inputs, len(x0)))
    seconds = time.perf_counter() - began
    if solution.trajectory is None:
        raise ValueError(f"{task.name}: the seed's rollout fails; choose another start or duration")
    found, n = solution.trajectory.inputs, len(task.start)
    trajectory = Hilqr(task.model()).start(task.start, open_loop(found, n))
    assert trajectory is not None  # the wide rollout went through the same
    wide = task.model(weight=0.0).roll_out(task.wide, open_loop(found, len(task.wide)))
    spread = OUTPUT @ wide.select(0).states[-1, n:].reshape(n, COLUMNS)
    return Plan(task, kind, trajectory, solution, seconds, spread)


def lqr(plan: Plan) -> Policies:
    """LQR about a plan, with references extended over mode mismatches (5.3.4).

    It weighs deviations as the task weighs states and inputs, but for those at the end: with the
    task's own weight the gains are so high that the hopper leaves the range of its linearisation.
    """
    model, trajectory = plan.task.model(TRACKING), plan.trajectory
    expansion = model.quadratise(trajectory)
    gradients = {"l_x": np.zeros_like(expansion.l_x), "l_u": np.zeros_like(expansion.l_u)}
    linear = model.linearise(trajectory)
    gains = backward_pass(linear, expansion._replace(**gradients)).gains
    return Policies.of(trajectory.states, trajectory.inputs, gains, aux=trajectory.aux)


def perturbed(plan: Plan, starts: Array, policies: Policies) -> tuple[Array, float]:
    """Simulate from changed starts (T, 2).

    Returns:
        Of the S starts whose simulation did not fail: deviations (S, 2) W (x - x_plan) at the end
        [m], and the share with the plan's own transitions.
    """
    model, ends, same = plan.task.model(), [], 0
    for change in starts:
        rolled = model.roll_out(plan.task.start + np.append(change, (0.0, 0.0)), policies)
        if rolled.ok[0]:
            same += event_names(rolled.select(0)) == event_names(plan.trajectory)
            ends.append(rolled.select(0).states[-1])
    x = np.reshape(ends, (-1, 4))
    return (x - plan.trajectory.states[-1]) @ OUTPUT.T, same / max(1, len(x))


def event_names(trajectory: Trajectory) -> list[str]:
    """Names of the transitions, in order."""
    return [happened.event.transition.name for happened in trajectory.aux.events]


def row(plan: Plan, options: StudyOptions) -> Row:
    """Effect of a plan on random starts about its own.

    Distances [m] are of W (x - x_plan), so a velocity counts by ``SECONDS``; traces [m^2] are of
    its second moments at the end, ``trace_ratio`` over those at the start. ``predicted_trace`` is
    that of W Phi V V' Phi' W' (3.37), ``phi_norm`` the Frobenius norm of W Phi W^-1, ``effort`` the
    integral of the squared force [N^2 s].
    """
    task, ends = plan.task, plan.trajectory
    drawn = np.random.default_rng(options.seed).normal(size=(options.count(TRIALS), 2))
    starts = drawn @ STARTS  # of height and velocity, the same for every plan
    start = np.mean(np.sum((starts @ OUTPUT[:, :2].T) ** 2, axis=1))
    made, failed = {}, 0
    for prefix, policies in (("lqr_", lqr(plan)), ("", open_loop(ends.inputs, 4))):
        end, same = perturbed(plan, starts, policies)
        far, trace = np.linalg.norm(end, axis=1), np.trace(end.T @ end / max(1, len(end)))
        failed += len(starts) - len(end)
        made[f"{prefix}trace_ratio"] = trace / start
        made[f"{prefix}mean_distance"] = np.mean(far)
        made[f"{prefix}largest_distance"] = max(far, default=None)
    predicted = np.sum(plan.spread**2)
    return {
        "system": task.name,
        "plan": plan.kind,
        "weight": 0.0 if plan.kind == "plain" else CONVERGENCE,
        "trace": trace,
        **made,
        "predicted_trace": predicted,
        "phi_norm": np.sqrt(predicted) / SPREAD,
        "effort": task.timestep * np.sum(ends.states[:-1, 2] ** 2),
        "same_events": same,
        "failed": failed,
        "events": event_names(ends),
        "status": plan.solution.status,
        "iterations": plan.solution.iterations,
        "seconds": plan.seconds,
    }
