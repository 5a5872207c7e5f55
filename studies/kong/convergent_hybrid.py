"""HiLQR plans that shrink perturbations through impacts.

The bouncing ball and the hopper reach a height in a given time. Beside the plain plan, which pays
for force alone, one pays for |W Phi V|_F^2 too, the trace of the linearised covariance at the end
(3.37), with saltation matrices in Phi; a third does so with D_x R in their place. Starts are drawn
about the planned one and simulated event by event under each plan. ``--full`` tries other weights
of the cost on Phi, and wider starts.

Zhu, Payne and Johnson, "Convergent iLQR for Safe Trajectory Planning and Control of Legged Robots"
(2023), take the 2-norm of the closed loop's Phi instead. Here Phi is that of the open loop, as in
chapter 2, and its Frobenius norm, which is smooth; the LQR is put on the finished plans. Only the
columns lqr_* have feedback.

|det Phi| of the ball is e^2 per bounce for any force. That of the hopper depends on its time in
stance and its acceleration at the lowest point. The least trace is that of a circle.

The force and its rate are states that start at zero. A force that jumps when the plan meets the
floor would reduce Phi, but a perturbed trajectory would miss the jump.

lqr_effort of the ball does not compare plans: between 80 and 110 timesteps it changes several-fold
with the knots that enclose its impacts. The order of the traces does not change.
"""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from hybrid.examples.bouncing_ball import FALLING, bouncing_ball
from hybrid.examples.hopper import FLIGHT
from hybrid.hilqr import Hilqr, HilqrOptions, Policies, Trajectory, backward_pass
from hybrid.hilqr.cost import Cost, QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.options import SimulationOptions
from hybrid.systems import Array, System
from studies.figures import Panel, dots, draw, over
from studies.kong.two_methods import open_loop
from studies.kong.variational import (
    ConvergentCost,
    augmented,
    driven_hopper,
    pack_augmented,
    ramped,
)
from studies.study import Criterion, StudyOptions, StudyResult, study

Kind = Literal["plain", "convergent", "dxr"]
KINDS: tuple[Kind, ...] = ("plain", "convergent", "dxr")
TRIALS = 200
WEIGHTS = (0.01, 0.03, 0.1, 1.0)  # tried by --full beside the task's own
SCALES = (2.0, 4.0)  # of the starts' spread, tried by --full
SPREAD = 0.02  # standard deviation of a start in height [m]
SECONDS = 0.2  # a velocity error counts as the height error that it makes in this time [s]
OUTPUT = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, SECONDS, 0.0, 0.0]])  # W, of (z, v, f, df/dt)
STARTS = np.diag([SPREAD, SPREAD / SECONDS])  # V: 0.02 m and 0.1 m/s
COLUMNS = 2  # the force is the plan's own, and starts without error
TERMINAL = 1000.0  # on the squared end error, in height and SECONDS times velocity [1/m^2]
TRACKING = 3.0  # of the LQR; with TERMINAL some of the hopper's starts leave the linear range
POINTS = 40  # of the circle of uncertainty, as in 2.4 of the thesis
CIRCLE = 2.0 * np.pi * np.arange(POINTS) / POINTS
MAX_ITERATIONS = 60
ACCURACY = SimulationOptions(rtol=1e-8, atol=1e-10)
SHOWN = {
    "system": "system", "plan": "plan", "trace_ratio": "trace / start's",
    "mean_distance": "mean, m", "largest_distance": "farthest, m", "phi_norm": "norm of Phi",
    "effort": "effort", "lqr_trace_ratio": "trace with LQR",
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """Where a system starts, and the height and velocity that it is to reach after a duration."""

    name: str
    bare: System  # states (z, v), one force
    mode: int  # at the start
    start: tuple[float, float]  # z [m], v [m/s]
    goal: tuple[float, float]
    duration: float  # [s]
    steps: int  # N
    effort: float  # weight of the squared force [1/(N^2 s)]
    smoothness: float  # of its squared second derivative [s^3/N^2]
    convergence: float = 0.3  # w, of |W Phi V|_F^2 over the squared spread of the starts
    tolerance: float = 1e-3  # |dJ| at which a solve has converged

    @property
    def timestep(self) -> float:
        """Length of a timestep [s]."""
        return self.duration / self.steps

    @property
    def first(self) -> Array:
        """State (4,) at the start, without force."""
        return np.array([*self.start, 0.0, 0.0])

    def model(self, terminal: float = TERMINAL, weight: float | None = None,
              with_reset_jacobian: bool = False) -> EventDrivenModel:  # fmt: skip
        """States (z, v, f, df/dt); with a weight w, Phi V as states too, and the cost on it."""
        system = ramped(ramped(self.bare))
        end = terminal * np.diag([1.0, SECONDS**2, 0.0, 0.0])
        force = self.timestep * np.diag([0.0, 0.0, self.effort, 0.0])
        bend = np.array([[self.timestep * self.smoothness]])
        cost: Cost = QuadraticCost(np.array([*self.goal, 0.0, 0.0]), force, bend, end)
        if weight is not None:
            cost = ConvergentCost(cost, OUTPUT, weight / SPREAD**2)
            system = augmented(system, COLUMNS, with_reset_jacobian=with_reset_jacobian)
        return EventDrivenModel(system, self.mode, self.timestep, cost, ACCURACY, event_at="exact")


BALL = Task("bouncing ball", bouncing_ball(), FALLING, (2.5, 0.0), (0.8, -1.0), 2.2, 100, 0.5, 1e-7)
HOPPER = Task("hopper", driven_hopper(), FLIGHT, (0.8, 0.0), (0.9, 0.0), 1.35, 135, 0.01, 1e-8)


class Plan(NamedTuple):
    """A solved task."""

    task: Task
    kind: Kind
    weight: float  # w
    trajectory: Trajectory  # states (N+1, 4), inputs (N, 1)
    status: str
    iterations: int
    seconds: float  # of the solve
    perturbations: Array  # (N+1, 2, 2) W Phi V at each knot: of standard deviations at the start

    @property
    def effort(self) -> float:
        """Integral of the squared force [N^2 s]."""
        return float(self.task.timestep * np.sum(self.trajectory.states[:-1, 2] ** 2))

    @property
    def predicted_trace(self) -> float:
        """Trace of W Phi V V' Phi' W', the linearised covariance at the end (3.37) [m^2]."""
        return float(np.sum(self.perturbations[-1] ** 2))

    @property
    def times(self) -> Array:
        """Of the knots (N+1,) [s]."""
        return self.task.timestep * np.arange(self.task.steps + 1, dtype=np.float64)


class Ends(NamedTuple):
    """What perturbed starts of one plan did; those whose simulation failed are left out."""

    deviations: Array  # (T, N+1, 2) W (x - x_plan) at each knot [m]
    states: Array  # (T, N+1, 4)
    modes: NDArray[np.int64]  # (T, N+1)
    same_events: float  # share with the plan's own transitions
    failed: int

    @property
    def end(self) -> Array:
        """Deviations (T, 2) at the end [m]."""
        return self.deviations[:, -1]

    @property
    def covariance(self) -> Array:
        """Second moments (2, 2) of the end about the plan's [m^2]."""
        return self.end.T @ self.end / max(1, len(self.end))


class Measured(NamedTuple):
    """One plan and its perturbed starts."""

    plan: Plan
    starts: Array  # (T, 2) changes of height and velocity
    scale: float  # of their spread
    cloud: Ends  # of ``starts``, open loop
    tracked: Ends  # of ``starts``, with the plan's LQR
    circle: Ends  # of starts one standard deviation away, open loop


@study("Kong, section 7.1", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: plain, convergent and D_x R plans of the bouncing ball and of the hopper."""
    return report([measure_task(task, options) for task in (BALL, HOPPER)], options)


def report(groups: Sequence[Sequence[Measured]], options: StudyOptions) -> StudyResult:
    """Rows, figures and criteria of measured tasks; with ``full`` other weights and starts too."""
    rows, drawn, criteria = [], {}, []
    for group in groups:
        first, name = group[0].plan, group[0].plan.task.name
        plain, convergent, *_ = own = [row(one, first) for one in group]
        rows += own
        for key in ("trace", "mean_distance"):
            before, after = plain[key], convergent[key]
            ratio = after / before if before and after is not None else None
            criteria.append(Criterion(f"{name}: {key} over the plain plan's", ratio, "<", 1.0))
        drawn[f"ends-{name.replace(' ', '-')}"] = draw_clouds(group)
        if options.full:
            swept = [plan_convergent(first, each) for each in options.track(WEIGHTS)]
            more = [measure(plan, options) for plan in swept]
            more += [measure(one.plan, options, each) for each in SCALES for one in group[:2]]
            rows += [row(one, first) for one in more]
    return StudyResult(rows, drawn, columns=SHOWN, digits=3, criteria=criteria)


def measure_task(task: Task, options: StudyOptions) -> list[Measured]:
    """Plan a task in each way, and perturb the plans."""
    group: list[Measured] = []
    for kind in options.track(KINDS, lambda kind: f"{task.name}, {kind}"):
        plan = plan_convergent(group[0].plan, kind=kind) if group else plan_plain(task)
        group.append(measure(plan, options))
    return group


def measure(plan: Plan, options: StudyOptions, scale: float = 1.0) -> Measured:
    """Perturb a plan by random starts, and by starts one standard deviation away."""
    starts = gaussian_starts(options.count(TRIALS), options.seed, scale)
    circle = np.stack((np.cos(CIRCLE), np.sin(CIRCLE)), axis=1) @ STARTS
    ends = perturbed(plan, starts), perturbed(plan, starts, feedback=True), perturbed(plan, circle)
    return Measured(plan, starts, scale, *ends)


def plan_plain(task: Task) -> Plan:
    """HiLQR from no force at all."""
    return _solved(task, "plain", 0.0, task.model(), task.first, np.zeros((task.steps, 1)))


def plan_convergent(seed: Plan, weight: float | None = None, kind: Kind = "convergent") -> Plan:
    """HiLQR with the cost on Phi, from the inputs of another plan."""
    task, w = seed.task, seed.task.convergence if weight is None else weight
    model = task.model(weight=w, with_reset_jacobian=kind == "dxr")
    return _solved(task, kind, w, model, _wide(task), seed.trajectory.inputs)


def _wide(task: Task) -> Array:
    """The start with V beside it."""
    return pack_augmented(task.first, np.concatenate((STARTS, np.zeros((2, COLUMNS)))))


def _solved(
    task: Task, kind: Kind, weight: float, model: EventDrivenModel, x0: Array, inputs: Array
) -> Plan:
    """Raises ValueError where not even the seed can be simulated."""
    began = time.perf_counter()
    options = HilqrOptions(tolerance=task.tolerance, max_iterations=MAX_ITERATIONS)
    solution = Hilqr(model, options).solve(x0, open_loop(inputs, len(x0)))
    seconds = time.perf_counter() - began
    if solution.trajectory is None:
        raise ValueError(f"{task.name}: the seed's rollout fails; choose another start or duration")
    found, n = solution.trajectory.inputs, len(task.first)
    trajectory = Hilqr(task.model()).start(task.first, open_loop(found, n))
    assert trajectory is not None  # the wide rollout went through the same
    wide = task.model(weight=0.0).roll_out(_wide(task), open_loop(found, len(_wide(task))))
    columns = OUTPUT @ wide.select(0).states[:, n:].reshape(-1, n, COLUMNS)
    status, iterations = solution.status, solution.iterations
    return Plan(task, kind, weight, trajectory, status, iterations, seconds, columns)


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


def gaussian_starts(count: int, seed: int, scale: float = 1.0) -> Array:
    """Changes (count, 2) of height and velocity at the start, the same for every plan."""
    return scale * np.random.default_rng(seed).normal(size=(count, 2)) @ STARTS


def perturbed(plan: Plan, starts: Array, *, feedback: bool = False) -> Ends:
    """Simulate from changed starts (T, 2), open loop or with the plan's own LQR."""
    task, model = plan.task, plan.task.model()
    policies = lqr(plan) if feedback else open_loop(plan.trajectory.inputs, len(task.first))
    states, modes, same = [], [], 0
    for change in starts:
        rolled = model.roll_out(task.first + np.array([*change, 0.0, 0.0]), policies)
        if rolled.ok[0]:
            trajectory = rolled.select(0)
            same += event_names(trajectory) == event_names(plan.trajectory)
            states.append(trajectory.states)
            modes.append(trajectory.aux.knots)
    x = np.reshape(states, (len(states), task.steps + 1, len(task.first)))
    knots = np.reshape(np.array(modes, dtype=np.int64), x.shape[:2])
    deviations = (x - plan.trajectory.states) @ OUTPUT.T
    return Ends(deviations, x, knots, same / max(1, len(x)), len(starts) - len(x))


def event_names(trajectory: Trajectory) -> list[str]:
    """Of the transitions, in order."""
    return [happened.event.transition.name for happened in trajectory.aux.events]


def area_ratio(ends: Ends) -> float:
    """Area of the convex hull of the end over that of the circle's polygon, E_a; 0 if flat."""
    start = 0.5 * POINTS * np.sin(2.0 * np.pi / POINTS) * SPREAD**2
    if len(ends.end) < 3 or np.linalg.matrix_rank(ends.end - ends.end[0]) < 2:
        return 0.0
    return float(ConvexHull(ends.end).volume / start)


def row(one: Measured, plain: Plan) -> dict[str, Any]:
    """What a plan does to perturbed starts, beside the plain plan of the same task.

    Distances [m] are of W (x - x_plan), so a velocity counts by ``SECONDS``; traces [m^2] and
    determinants are of its second moments at the end, ``trace_ratio`` over those at the start.
    ``phi_norm`` is the Frobenius norm of W Phi W^-1, ``effort`` the integral of the squared force
    [N^2 s] and ``lqr_effort`` what feedback adds to it.
    """
    plan, cloud, tracked = one.plan, one.cloud, one.tracked
    start = float(np.mean(np.sum((one.starts @ OUTPUT[:, :2].T) ** 2, axis=1)))
    sign, log_det = np.linalg.slogdet(cloud.covariance)
    change = tracked.states[:, :-1, 2] - plan.trajectory.states[:-1, 2]
    made: dict[str, Any] = {"trace": float(np.trace(cloud.covariance))}
    for prefix, ends in (("", cloud), ("lqr_", tracked)):
        far = np.linalg.norm(ends.end, axis=1)
        made[f"{prefix}trace_ratio"] = float(np.trace(ends.covariance)) / start
        made[f"{prefix}mean_distance"] = float(np.mean(far)) if len(far) else None
        made[f"{prefix}largest_distance"] = float(np.max(far)) if len(far) else None
    return {
        "system": plan.task.name,
        "plan": plan.kind,
        "weight": plan.weight,
        "scale": one.scale,
        **made,
        "predicted_trace": plan.predicted_trace,
        "log_det": float(log_det) if sign > 0.0 and np.isfinite(log_det) else None,
        "area_ratio": area_ratio(one.circle),
        "phi_norm": float(np.sqrt(plan.predicted_trace)) / SPREAD,
        "phi_det": float(abs(np.linalg.det(plan.perturbations[-1]))) / SPREAD**2,
        "effort": plan.effort,
        "extra_effort": plan.effort / plain.effort - 1.0,
        "lqr_effort": float(plan.task.timestep * np.mean(np.sum(change**2, axis=1))),
        "same_events": cloud.same_events,
        "failed": cloud.failed + tracked.failed,
        "trials": len(one.starts),
        "events": event_names(plan.trajectory),
        "end": plan.trajectory.states[-1, :2].tolist(),
        "status": plan.status,
        "iterations": plan.iterations,
        "seconds": plan.seconds,
    }


def draw_clouds(group: Sequence[Measured]) -> Figure:
    """Where perturbed starts end, off the plan's end, and the growth of their spread over time."""
    circle, panels, growth = np.stack((np.cos(CIRCLE), np.sin(CIRCLE)), axis=1), [], {}
    for one in group:
        plan, cloud = one.plan, one.cloud
        panels.append(Panel(
            {"samples": dots(cloud.end), "start": SPREAD * circle, "end": one.circle.end,
             r"end, by $\Phi$": circle @ plan.perturbations[-1].T},
            "height [m]", f"velocity x {SECONDS:g} s [m]",
            settings={"aspect": "equal", "title": plan.kind},
        ))  # fmt: skip
        together = np.flatnonzero(np.all(cloud.modes == plan.trajectory.aux.knots, axis=0))[::5]
        sampled = np.sqrt(np.mean(np.sum(cloud.deviations[:, together] ** 2, axis=2), axis=0))
        growth[plan.kind] = over(plan.times, np.sqrt(np.sum(plan.perturbations**2, axis=(1, 2))))
        growth[f"{plan.kind}, samples"] = dots(np.stack((plan.times[together], sampled), axis=1))
    spread = Panel(growth, "time [s]", "spread [m]", settings={"yscale": "log"})
    return draw(*panels, spread)
