"""Notes of the convergent-hybrid study, computed from its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hybrid.systems import Array
from studies.kong.convergent_hybrid.cases import SECONDS, SPREAD, TERMINAL, SolvedTask
from studies.kong.convergent_hybrid.spread import (
    POINTS,
    TRACKING,
    Ends,
    PlanRow,
    trace_of_starts,
)


def notes(rows: Sequence[PlanRow]) -> tuple[str, ...]:
    """One line each: the verdict by system, what cannot change, and the choices."""
    systems = dict.fromkeys(row.system for row in rows)
    by_system = [{row.plan: row for row in rows if row.system == name} for name in systems]
    return (
        *(_verdict(plans) for plans in by_system),
        *(_reset_jacobian(plans) for plans in by_system),
        *(_tracked(plans) for plans in by_system),
        *(_areas(plans) for plans in by_system),
        "|det Phi| of the ball is e^2 per bounce for any force. That of the hopper depends on its"
        " time in stance and its acceleration at the lowest point.",
        f"Initial perturbations are Gaussian, with standard deviations of {SPREAD:g} m and"
        f" {SPREAD / SECONDS:g} m/s. Only the columns lqr_* have feedback. Velocities are scaled by"
        f" {SECONDS:g} s; area_ratio is that of {POINTS} points one standard deviation away.",
        "The force and its rate are states that start at zero. A force that jumps when the plan"
        " meets the floor would reduce Phi, but a perturbed trajectory would miss the jump.",
        f"Terminal weight of the LQR: {TRACKING:g}; of the task: {TERMINAL:g}. With the task's"
        " weight, the gains move some of the hopper's starts beyond the linear range.",
        "lqr_effort of the ball does not compare plans: between 80 and 110 timesteps it changes"
        " several-fold with the knots that enclose its impacts. The order of the traces does not"
        " change.",
        *_troubles(rows),
    )


def _verdict(plans: Mapping[str, PlanRow]) -> str:
    plain, convergent = plans["plain"], plans["convergent"]
    if plain.mean_distance is None or convergent.mean_distance is None:
        return f"{plain.system}: no result, because no simulation of a plan reached the end."
    closer = convergent.trace < plain.trace and convergent.mean_distance < plain.mean_distance
    word = "end closer to the plan" if closer else "do NOT end closer to the plan"
    return (
        f"{plain.system}: with the cost on Phi perturbed trajectories {word}: spread"
        f" {_spread(convergent)} instead of {_spread(plain)} cm (root of the trace), largest"
        f" distance {_cm(convergent.largest_distance)} instead of {_cm(plain.largest_distance)} cm,"
        f" with {100.0 * convergent.extra_effort:.0f} % more effort."
    )


def _reset_jacobian(plans: Mapping[str, PlanRow]) -> str:
    ends = {kind: plans[kind].trace / plans["plain"].trace for kind in plans}
    return (
        f"{plans['plain'].system}: trace over that of the plain plan: {ends['convergent']:.2f} with"
        f" Xi in Phi, {ends['dxr']:.2f} with D_x R in Phi."
    )


def _tracked(plans: Mapping[str, PlanRow]) -> str:
    plain, convergent = plans["plain"], plans["convergent"]
    trace = convergent.lqr_trace_ratio / plain.lqr_trace_ratio
    return (
        f"{plain.system}: with an LQR on both plans, the trace of the convergent plan is"
        f" {trace:.2f} times that of the plain plan."
    )


def _areas(plans: Mapping[str, PlanRow]) -> str:
    """Minimum spread: areas shrink by |det Phi|, and a circle has the least trace."""
    dets = [plans[kind].phi_det for kind in ("plain", "convergent")]
    floor = 100.0 * SPREAD * np.sqrt(2.0 * dets[1])
    return (
        f"{plans['plain'].system}: |det Phi| is {dets[0]:.3f} for the plain and {dets[1]:.3f} for"
        f" the convergent plan; the latter gives a minimum spread of {floor:.2f} cm (first order)."
    )


def _troubles(rows: Sequence[PlanRow]) -> list[str]:
    """Solves that did not converge, simulations that failed, and other event sequences."""
    lines = []
    for row in rows:
        what = f"{row.system}, {row.plan}"
        if row.status != "converged":
            lines.append(f"{what}: status of the solve: {row.status.replace('_', ' ')}.")
        if row.failed:
            lines.append(f"{what}: {row.failed} simulations failed and are omitted.")
        if row.same_events < 1.0:
            share = 100.0 * (1.0 - row.same_events)
            lines.append(f"{what}: {share:.1f} % of the trajectories had other events than the"
                         " plan.")
    return lines


def sweep_note(plans: Sequence[SolvedTask]) -> str:
    """A line: spread and effort by weight."""
    by_weight = ", ".join(
        f"w = {plan.weight:g}: {100.0 * np.sqrt(plan.predicted_trace):.2f} cm at"
        f" {plan.effort:.3g} N^2 s ({plan.status.replace('_', ' ')})"
        for plan in plans
    )
    return f"{plans[0].task.name}, spread by Phi and effort by weight: {by_weight}."


def wider_note(system: str, scale: float, starts: Array, ends: Sequence[Ends]) -> str:
    """A line: the ratio of traces for wider starts, plain and convergent."""
    start = trace_of_starts(starts)
    plain, convergent = (float(np.trace(one.covariance)) / start for one in ends)
    return (
        f"{system}, initial perturbations {scale:g} times as large: trace at the end over that at"
        f" the start {plain:.3g} (plain), {convergent:.3g} (convergent);"
        f" {100.0 * ends[0].same_events:.0f} and {100.0 * ends[1].same_events:.0f} % of the"
        " trajectories have the plan's events."
    )


def _spread(row: PlanRow) -> str:
    return f"{100.0 * np.sqrt(row.trace):.2f}"


def _cm(distance: float | None) -> str:
    return "no" if distance is None else f"{100.0 * distance:.1f}"
