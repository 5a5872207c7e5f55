"""Perturbed starts of a plan, simulated event by event, and how far apart they end."""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from hybrid.hilqr import Policies, backward_pass
from hybrid.systems import Array
from studies.kong.convergent_hybrid.cases import (
    OUTPUT,
    SPREAD,
    STARTS,
    SolvedTask,
    narrow_model,
    open_loop,
)

POINTS = 40  # of the circle of uncertainty, as in 2.4 of the thesis
TRACKING = 3.0  # of the LQR, in place of the task's TERMINAL [1/m^2]
SHOWN = {
    "system": "system",
    "plan": "plan",
    "trace_ratio": "trace / start's",
    "mean_distance": "mean, m",
    "largest_distance": "farthest, m",
    "phi_norm": "norm of Phi",
    "effort": "effort",
    "lqr_trace_ratio": "trace with LQR",
}  # keys in the table for a person, and their headings


class Ends(NamedTuple):
    """What perturbed starts of one plan did; those whose simulation failed are left out."""

    deviations: Array  # (T, N+1, 2) W (x - x_plan) at each knot [m]
    forces: Array  # (T, N+1) [N]
    heights: Array  # (T, N+1) [m]
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

    def added_effort(self, plan: SolvedTask) -> float:
        """Mean integral of the squared force that feedback adds to the plan's [N^2 s]."""
        change = self.forces[:, :-1] - plan.trajectory.states[:-1, 2]
        return float(plan.task.timestep * np.mean(np.sum(change**2, axis=1)))

    @property
    def distances(self) -> Array:
        """How far from the plan each run ends (T,) [m]."""
        return np.linalg.norm(self.end, axis=1)


def gaussian_starts(count: int, seed: int, scale: float = 1.0) -> Array:
    """Changes (count, 2) of height and velocity at the start, the same for every plan."""
    return scale * np.random.default_rng(seed).normal(size=(count, 2)) @ STARTS


def circle_starts() -> Array:
    """Changes (POINTS, 2) one standard deviation from the start."""
    angles = 2.0 * np.pi * np.arange(POINTS) / POINTS
    return np.stack((np.cos(angles), np.sin(angles)), axis=1) @ STARTS


def area_ratio(ends: Ends) -> float:
    """Area of the convex hull of the end over that of the circle's polygon, E_a; 0 if flat."""
    start = 0.5 * POINTS * np.sin(2.0 * np.pi / POINTS) * SPREAD**2
    if len(ends.end) < 3 or np.linalg.matrix_rank(ends.end - ends.end[0]) < 2:
        return 0.0
    return float(ConvexHull(ends.end).volume / start)


def perturbed(plan: SolvedTask, starts: Array, *, feedback: bool = False) -> Ends:
    """Simulate from changed starts (T, 2), open loop or with the plan's own LQR."""
    model, task = narrow_model(plan.task), plan.task
    policies = lqr(plan) if feedback else open_loop(plan.trajectory.inputs, len(task.first))
    states, modes, same = [], [], 0
    for change in starts:
        rolled = model.roll_out(task.first + np.array([*change, 0.0, 0.0]), policies)
        if not rolled.ok[0]:
            continue
        trajectory = rolled.select(0)
        names = tuple(happened.event.transition.name for happened in trajectory.aux.events)
        same += names == plan.events
        states.append(trajectory.states)
        modes.append(trajectory.aux.knots)
    x = np.reshape(states, (len(states), task.steps + 1, len(task.first)))
    deviations = (x - plan.trajectory.states) @ OUTPUT.T
    knots = np.reshape(np.array(modes, dtype=np.int64), x.shape[:2])
    share, failed = same / max(1, len(x)), len(starts) - len(x)
    return Ends(deviations, x[:, :, 2], x[:, :, 0], knots, share, failed)


def lqr(plan: SolvedTask) -> Policies:
    """LQR about a plan, with references extended over mode mismatches (5.3.4).

    It weighs deviations as the task weighs states and inputs, but for those at the end: with the
    task's own weight the gains are so high that the hopper leaves the range of its linearisation.
    """
    model, trajectory = narrow_model(plan.task, TRACKING), plan.trajectory
    linear = model.linearise(trajectory)
    expansion = model.quadratise(trajectory)
    gradients = {"l_x": np.zeros_like(expansion.l_x), "l_u": np.zeros_like(expansion.l_u)}
    gains = backward_pass(linear, expansion._replace(**gradients)).gains
    return Policies.of(trajectory.states, trajectory.inputs, gains, aux=trajectory.aux)


class Measured(NamedTuple):
    """One plan and its perturbed starts."""

    plan: SolvedTask
    starts: Array  # (T, 2) changes of height and velocity
    cloud: Ends  # of ``starts``, open loop
    tracked: Ends  # of ``starts``, with the plan's LQR
    circle: Ends  # of starts one standard deviation away, open loop


@dataclass(frozen=True)
class PlanRow:
    """One plan and what it does to perturbed starts."""

    system: str
    plan: str
    weight: float
    trace: float
    trace_ratio: float
    predicted_trace: float
    log_det: float | None
    mean_distance: float | None
    largest_distance: float | None
    area_ratio: float
    phi_norm: float
    phi_det: float
    effort: float
    extra_effort: float
    lqr_trace_ratio: float
    lqr_mean_distance: float | None
    lqr_largest_distance: float | None
    lqr_effort: float
    same_events: float
    failed: int
    trials: int
    events: list[str]
    end: list[float]
    status: str
    iterations: int
    seconds: float


def row(one: Measured, plain: Measured) -> PlanRow:
    """What a plan does to perturbed starts, beside the plain plan of the same task.

    Distances [m] are of W (x - x_plan), so a velocity counts by ``SECONDS``; traces [m^2] and
    determinants are of its second moments at the end, ``trace_ratio`` over those at the start.
    ``phi_norm`` is the Frobenius norm of W Phi W^-1, ``effort`` the integral of the squared force
    [N^2 s] and ``lqr_effort`` what feedback adds to it.
    """
    plan, cloud, tracked = one.plan, one.cloud, one.tracked
    start = trace_of_starts(one.starts)
    return PlanRow(
        system=plan.task.name,
        plan=plan.kind,
        weight=plan.weight,
        trace=float(np.trace(cloud.covariance)),
        trace_ratio=float(np.trace(cloud.covariance)) / start,
        predicted_trace=plan.predicted_trace,
        log_det=log_det(cloud),
        mean_distance=mean(cloud.distances),
        largest_distance=largest(cloud.distances),
        area_ratio=area_ratio(one.circle),
        phi_norm=float(np.sqrt(plan.predicted_trace)) / SPREAD,
        phi_det=float(abs(np.linalg.det(plan.perturbations[-1]))) / SPREAD**2,
        effort=plan.effort,
        extra_effort=plan.effort / plain.plan.effort - 1.0,
        lqr_trace_ratio=float(np.trace(tracked.covariance)) / start,
        lqr_mean_distance=mean(tracked.distances),
        lqr_largest_distance=largest(tracked.distances),
        lqr_effort=tracked.added_effort(plan),
        same_events=cloud.same_events,
        failed=cloud.failed + tracked.failed,
        trials=len(one.starts),
        events=list(plan.events),
        end=[float(value) for value in plan.trajectory.states[-1, :2]],
        status=plan.status,
        iterations=plan.iterations,
        seconds=plan.seconds,
    )


def trace_of_starts(starts: Array) -> float:
    """Mean |W dx|^2 of starts (T, 2) [m^2]."""
    return float(np.mean(np.sum((starts @ OUTPUT[:, :2].T) ** 2, axis=1)))


def log_det(ends: Ends) -> float | None:
    """log det of the second moments at the end; None where they are singular."""
    sign, value = np.linalg.slogdet(ends.covariance)
    return float(value) if sign > 0.0 and np.isfinite(value) else None


def mean(distances: Array) -> float | None:
    """Mean (T,); None where nothing arrived."""
    return float(np.mean(distances)) if len(distances) else None


def largest(distances: Array) -> float | None:
    """Largest (T,); None where nothing arrived."""
    return float(np.max(distances)) if len(distances) else None
