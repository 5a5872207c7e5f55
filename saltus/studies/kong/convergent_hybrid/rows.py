"""Rows of the convergent-hybrid study."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hybrid.systems import Array
from saltus.studies.kong.convergent_hybrid.cases import SEEN, SPREAD, Plan
from saltus.studies.kong.convergent_hybrid.spread import Ends, area_ratio

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


class Measured(NamedTuple):
    """One plan and its perturbed starts."""

    plan: Plan
    starts: Array  # (T, 2) changes of height and velocity
    cloud: Ends  # of ``starts``, open loop
    tracked: Ends  # of ``starts``, with the plan's LQR
    circle: Ends  # of starts one standard deviation away, open loop


def row(one: Measured, plain: Measured) -> dict[str, Any]:
    """What a plan does to perturbed starts, beside the plain plan of the same task.

    Distances [m] are of W (x - x_plan), so a velocity counts by ``SECONDS``; traces [m^2] and
    determinants are of its second moments at the end, ``trace_ratio`` over those at the start.
    ``phi_norm`` is the Frobenius norm of W Phi W^-1, ``effort`` the integral of the squared force
    [N^2 s] and ``lqr_effort`` what feedback adds to it.
    """
    plan, cloud, tracked = one.plan, one.cloud, one.tracked
    start = trace_of_starts(one.starts)
    return {
        "system": plan.task.name,
        "plan": plan.kind,
        "weight": plan.weight,
        "trace": float(np.trace(cloud.covariance)),
        "trace_ratio": float(np.trace(cloud.covariance)) / start,
        "predicted_trace": plan.predicted_trace,
        "log_det": log_det(cloud),
        "mean_distance": mean(cloud.distances),
        "largest_distance": largest(cloud.distances),
        "area_ratio": area_ratio(one.circle),
        "phi_norm": float(np.sqrt(plan.predicted_trace)) / SPREAD,
        "phi_det": float(abs(np.linalg.det(plan.perturbations[-1]))) / SPREAD**2,
        "effort": plan.effort,
        "extra_effort": plan.effort / plain.plan.effort - 1.0,
        "lqr_trace_ratio": float(np.trace(tracked.covariance)) / start,
        "lqr_mean_distance": mean(tracked.distances),
        "lqr_largest_distance": largest(tracked.distances),
        "lqr_effort": tracked.added_effort(plan),
        "same_events": cloud.same_events,
        "failed": cloud.failed + tracked.failed,
        "trials": len(one.starts),
        "events": list(plan.events),
        "end": [float(value) for value in plan.trajectory.states[-1, :2]],
        "status": plan.status,
        "iterations": plan.iterations,
        "seconds": plan.seconds,
    }


def trace_of_starts(starts: Array) -> float:
    """Mean |W dx|^2 of starts (T, 2) [m^2]."""
    return float(np.mean(np.sum((starts @ SEEN[:, :2].T) ** 2, axis=1)))


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
