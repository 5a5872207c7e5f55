"""What a reader of the convergent-hybrid study must know, from its own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hybrid.systems import Array
from saltus.studies.kong.convergent_hybrid.cases import SECONDS, SPREAD, TERMINAL, SolvedTask
from saltus.studies.kong.convergent_hybrid.spread import (
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
        "|det Phi| of the ball is e^2 a bounce under any force; the hopper's depends on its"
        " time in stance and its acceleration at the bottom.",
        f"Starts are Gaussian, {SPREAD:g} m and {SPREAD / SECONDS:g} m/s about the plan's, and no"
        f" plan feeds back but in the columns lqr_*. A velocity counts by {SECONDS:g} s; area_ratio"
        f" is of {POINTS} points one standard deviation away.",
        "The force and its rate are states, and start at zero: a held force may jump as the plan"
        " meets the floor, which Phi would reward and a start off the plan would miss.",
        f"The LQR weighs the end {TRACKING:g} where the task weighs it {TERMINAL:g}: with the"
        " task's own its gains carry some of the hopper's starts beyond their linearisation.",
        "lqr_effort of the ball is no measure of a plan: from 80 to 110 timesteps it changes"
        " several-fold, with the knots that its impacts fall between; the traces keep their order.",
        *_troubles(rows),
    )


def _verdict(plans: Mapping[str, PlanRow]) -> str:
    plain, convergent = plans["plain"], plans["convergent"]
    if plain.mean_distance is None or convergent.mean_distance is None:
        return f"{plain.system}: nothing is shown, as no simulation of a plan reached the end."
    closer = convergent.trace < plain.trace and convergent.mean_distance < plain.mean_distance
    word = "end closer together" if closer else "do NOT end closer together"
    return (
        f"{plain.system}: perturbed starts {word} with the cost on Phi than without: spread"
        f" {_spread(convergent)} against {_spread(plain)} cm (root of the trace), farthest"
        f" {_cm(convergent.largest_distance)} against {_cm(plain.largest_distance)} cm, for"
        f" {100.0 * convergent.extra_effort:.0f} % more effort."
    )


def _reset_jacobian(plans: Mapping[str, PlanRow]) -> str:
    ends = {kind: plans[kind].trace / plans["plain"].trace for kind in plans}
    return (
        f"{plans['plain'].system}: with D_x R in Phi in place of Xi the trace is"
        f" {ends['dxr']:.2f} times that of the plain plan; with Xi it is"
        f" {ends['convergent']:.2f} times."
    )


def _tracked(plans: Mapping[str, PlanRow]) -> str:
    plain, convergent = plans["plain"], plans["convergent"]
    trace = convergent.lqr_trace_ratio / plain.lqr_trace_ratio
    return (
        f"{plain.system}: with an LQR on both plans, the convergent one's trace is {trace:.2f}"
        " times the plain one's."
    )


def _areas(plans: Mapping[str, PlanRow]) -> str:
    """Why it shrinks no further: areas shrink by |det Phi|, and a circle has the least trace."""
    dets = [plans[kind].phi_det for kind in ("plain", "convergent")]
    floor = 100.0 * SPREAD * np.sqrt(2.0 * dets[1])
    return (
        f"{plans['plain'].system}: |det Phi| is {dets[0]:.3f} plain, {dets[1]:.3f} convergent;"
        f" with that the least spread is {floor:.2f} cm, to first order."
    )


def _troubles(rows: Sequence[PlanRow]) -> list[str]:
    """Solves that did not converge, simulations that failed, and other event sequences."""
    lines = []
    for row in rows:
        what = f"{row.system}, {row.plan}"
        if row.status != "converged":
            lines.append(f"{what}: the solve ended {row.status.replace('_', ' ')}.")
        if row.failed:
            lines.append(f"{what}: {row.failed} simulations failed and are left out.")
        if row.same_events < 1.0:
            share = 100.0 * (1.0 - row.same_events)
            lines.append(f"{what}: {share:.1f} % of the starts went through other events.")
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
        f"{system}, starts {scale:g} times as far: trace over that at the start {plain:.3g} plain,"
        f" {convergent:.3g} convergent; {100.0 * ends[0].same_events:.0f} and"
        f" {100.0 * ends[1].same_events:.0f} % through the plan's events."
    )


def _spread(row: PlanRow) -> str:
    return f"{100.0 * np.sqrt(row.trace):.2f}"


def _cm(distance: float | None) -> str:
    return "no" if distance is None else f"{100.0 * distance:.1f}"
