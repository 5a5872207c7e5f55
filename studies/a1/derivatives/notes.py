"""Notes of ``derivatives``, computed from its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim_bridge.rollouts.derivatives import DIFFERENCE
from studies.a1.derivatives.descent import THREADS
from studies.a1.derivatives.errors import AGREEMENT, ANALYTIC, KINDS
from studies.a1.derivatives.prediction import SIZES
from studies.a1.derivatives.problems import FLIGHT, LIMIT, TOUCHDOWN
from studies.a1.derivatives.rows import (
    COST,
    DESCENT,
    ERROR,
    GAIN,
    LOOP,
    PREDICTION,
    RATIO,
    REJECTED,
    STEP,
    TIME,
)

READING = (
    f"error: relative error of A or B against centred differences with contacts solved to tolerance"
    f" 0, in knots where these agree with those of a tenth of the step to {AGREEMENT:g}. step:"
    f" larger relative error of A and B over all knots, of rollout DxR against centred differences,"
    f" and of the planner's one-sided differences against rollout DxR. prediction: median relative"
    f" error of a predicted deviation under the same feedback, by size of the initial deviation (1:"
    f" 3 mm, 0.01 rad, 0.1 m/s and rad/s) and with or without a touchdown. descent: solves of the"
    f" planner, seeded by its earlier plans; costs are geometric means, ratio is the median of"
    f" actual over expected change (5.19). gain: of a joint by its own angle [N m/rad] and velocity"
    f" [N m s/rad]. loop: fastest growth of an error [1/s] under gains and delay, at a fixed state."
    f" time: of a knot on one thread, its ratio to rigid Xi, and of a horizon on {THREADS} threads,"
    f" on this computer."
)


def notes(rows: Sequence[Any], step: float) -> list[str]:
    """One line each; `step` is the reference's."""
    return [
        _agreement(_of(rows, ERROR)), _rigid(_of(rows, ERROR)), _steps(_of(rows, STEP), step),
        *_saltation(rows), _descent(_of(rows, DESCENT)), _gains(_of(rows, GAIN)),
        _loop(_of(rows, LOOP)), _times(_of(rows, TIME)), READING,
    ]  # fmt: skip


def _of(rows: Sequence[Any], part: str, **values: Any) -> list[Any]:
    """A part's rows, of which some keys have these values."""
    return [row for row in rows if row.part == part
            and all(getattr(row, key) == value for key, value in values.items())]  # fmt: skip


def _agreement(rows: Sequence[Any]) -> str:
    kept = sum(row.count for row in rows if row.measure == "A, median")
    left = sum(row.left_out for row in rows if row.measure == "A, median")
    typical = max(getattr(row, ANALYTIC) for row in rows if row.measure.endswith("median"))
    tails = (row for row in rows if row.measure.endswith("99 %"))
    worst = max(tails, key=lambda row: getattr(row, ANALYTIC))
    return (
        f"Knots without a change of the active set ({kept} of {kept + left}): rollout DxR agrees"
        f" with differences to a relative error of {typical:.1g} in the median, and of"
        f" {getattr(worst, ANALYTIC):.1g} in 99 % of the knots (largest: {worst.case},"
        f" {worst.measure[0]})."
    )


def _rigid(rows: Sequence[Any]) -> str:
    medians = [row for row in rows if row.measure == "A, median"]
    contact = min(row.rigid_dxr for row in medians if row.case not in (FLIGHT, LIMIT))
    flight = [f"; in flight {row.rigid_dxr:.1%}" for row in medians if row.case == FLIGHT]
    return (
        f"Relative error of rigid DxR's A (median): {contact:.0%} or more where a foot touches or"
        f" is about to{''.join(flight)}."
    )


def _steps(rows: Sequence[Any], step: float) -> str:
    tails = [row for row in rows if row.measure == "99 %"]
    best = min(tails, key=lambda row: row.differences)
    own = min(tails, key=lambda row: abs(row.step - DIFFERENCE))
    return (
        f"Reference step of centred differences: {step:.0e}, where truncation and rounding balance."
        f" The planner's one-sided differences are best at {best.case}, with a relative error of"
        f" {best.differences:.1g} against rollout DxR in 99 % of the knots; with their own step,"
        f" {own.case}, of {own.differences:.1g}."
    )


def _saltation(rows: Sequence[Any]) -> list[str]:
    lines = []
    for row in _of(rows, ERROR, case=TOUCHDOWN, measure="A, median"):
        lines.append(f"rollout Xi changes A by {row.rollout_xi:.0%} of its norm at touchdowns"
                     " (median), because it is the derivative of a mean over landing"
                     " times.")  # fmt: skip
    verdicts = []
    for size in SIZES:
        lands = _of(rows, PREDICTION, size=size, touchdown=True)
        better = [row for row in lands if row.rollout_xi < row.rollout_dxr]
        if lands:
            words = ", ".join(str(row.knots) for row in better) or "none"
            verdicts.append(f"{words} at size {size:g}")
    lines.append(
        f"Horizons [knots] with a touchdown where rollout Xi predicts better than rollout DxR:"
        f" {'; '.join(verdicts) or 'no foot lands'}."
    )
    return lines


def _descent(rows: Sequence[Any]) -> str:
    costs, rejected = ([r for r in rows if r.measure == name] for name in (COST, REJECTED))
    words = "; ".join(
        f"{name} {' and '.join(f'{getattr(row, key):.0%}' for row in rejected)},"
        f" {' and '.join(f'{getattr(row, key):.3f}' for row in costs)}"
        for key, name in KINDS.items()
    )
    return f"Share of rejected line searches, and cost over the seed's, by iteration: {words}."


def _gains(rows: Sequence[Any]) -> str:
    row = next(row for row in rows if row.measure == "99 %")
    words = ", ".join(f"{name} {getattr(row, key):.0f}" for key, name in KINDS.items())
    return f"99 % quantile of the gain of a joint by its own angle [N m/rad]: {words}."


def _loop(rows: Sequence[Any]) -> str:
    row = rows[-1]
    words = ", ".join(f"{name} {getattr(row, key):.0f}" for key, name in KINDS.items())
    return (
        f"99 % quantile of the growth rate of small errors in the 1 kHz loop, {row.case} [1/s]:"
        f" {words}."
    )


def _times(rows: Sequence[Any]) -> str:
    row = next(row for row in rows if row.measure == RATIO)
    return (
        f"Time of a knot on one thread over that of rigid Xi: rollout DxR {row.rollout_dxr:.2g},"
        f" finite differences {row.differences:.2g}."
    )
