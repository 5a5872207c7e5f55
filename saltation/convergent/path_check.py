"""Whether a path keeps what its problem asks, found anew from the path alone."""

from __future__ import annotations

import numpy as np

from saltation.arrays import Pair
from saltation.convergent.hill import Hill
from saltation.convergent.hill_path import HillPath, HillProblem
from saltation.convergent.power_controller import divergence_metrics, jacobian
from saltation.systems import Array

_STEEP = 30.0  # times as steep as where the ground is called almost level
SLACK = 1e-9  # by which bounds [m] and powers may be missed: rounding


def step_divergence(problem: HillProblem, path: HillPath, at_ends: bool = False) -> Pair:
    """D_a and D_m (N - 1,) of every step, with its velocity, where it begins or ends [1/step]."""
    positions = path.positions[1:] if at_ends else path.positions[:-1]
    at, (v_x, v_y) = problem.hill.at(*positions.T), path.velocities.T
    return divergence_metrics(
        *jacobian(at.h_x, at.h_y, at.h_xx, at.h_xy, at.h_yy, v_x, v_y, path.powers)
    )


def violation(problem: HillProblem, path: HillPath) -> str:
    """Largest violation of (2.21), then of (2.22) or (2.23), and its place; "" without one.

    D_a and D_m must be below zero, without slack, at the first waypoint of every step, as in the
    thesis. Steps without length do not count: neither metric has a sign there.
    """
    hill, found = problem.hill, []
    for axis, (low, high) in enumerate((hill.x_bounds, hill.y_bounds)):
        found.append((f"{'xy'[axis]} on the map", _past(path.positions[:, axis], low, high)))
    found.append(("power", _past(path.powers, *problem.powers)))
    found.append(("start", np.abs(path.positions[:1] - problem.start).max(1)))
    missed = np.abs(path.positions - problem.goal).max(1) - problem.eta
    missed[:-1] = 0.0  # of the last waypoint alone
    found.append(("goal", missed))
    name, by = max(found, key=lambda entry: np.max(entry[1], initial=0.0))
    if np.max(by, initial=0.0) > SLACK:
        return f"{name}: missed by {np.max(by):.1e} at waypoint {np.argmax(by)}"
    return divergent(problem, path)


def almost_level(hill: Hill, positions: Array) -> str:
    """Place on its way (N, 2) where a planner met almost level ground, and a remedy; or ""."""
    at = hill.at(*positions.T)
    slope = np.broadcast_to(np.hypot(at.h_x, at.h_y), len(positions))
    least = int(np.argmin(slope))  # the first that is not a number, where one is not
    if not slope[least] * _STEEP < np.max(slope):
        return ""
    return (
        f"; the ground is almost level at waypoint {least}, where D_a has no bound:"
        " leave such ground out of the map, or lower sigma and nu"
    )


def _past(values: Array, low: float, high: float) -> Array:
    """By how much values are outside an interval; not a number counts as infinitely far."""
    return np.nan_to_num(np.maximum(low - values, values - high), nan=np.inf)


def divergent(problem: HillProblem, path: HillPath, at_ends: bool = False) -> str:
    """Largest violation of (2.22) or (2.23) where steps begin, or where they end."""
    if problem.convergence == "none" or len(path.powers) == 0:
        return ""
    average, maximum = step_divergence(problem, path, at_ends)
    strict = problem.convergence == "maximum"
    metric, name = (maximum, "D_m < 0 (2.22)") if strict else (average, "D_a < 0 (2.23)")
    speeds = np.linalg.norm(path.velocities, axis=1)
    moving = speeds > 0.0
    rate = np.where(moving, metric / np.where(moving, speeds, 1.0), -1.0)
    worst = int(np.argmax(np.nan_to_num(rate, nan=np.inf)))
    if rate[worst] < 0.0:
        return ""
    return f"{name} at waypoint {worst + at_ends}: it is {metric[worst]:.1e} per step"
