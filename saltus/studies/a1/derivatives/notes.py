"""What ``derivatives`` found, from its own rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saltus.studies.a1.derivatives.descent import THREADS
from saltus.studies.a1.derivatives.errors import AGREEMENT, ANALYTIC, KINDS
from saltus.studies.a1.derivatives.prediction import SIZES
from saltus.studies.a1.derivatives.problems import FLIGHT, LIMIT, TOUCHDOWN
from saltus.studies.a1.derivatives.rows import (
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
from sim_bridge.rollouts.derivatives import DIFFERENCE

READING = (
    f"error: norm of the error of A or B over the reference's, of centred differences with the"
    f" contacts solved to tolerance 0; only of knots in which these and those of a tenth of the"
    f" step agree to {AGREEMENT:g}. step: of differences, over all knots, the larger error of A"
    f" and B: of rollout DxR against centred differences, and of the planner's one-sided ones"
    f" against rollout DxR. prediction: median error of a deviation under the same feedback, over"
    f" the true one, by its size at the start (1: 3 mm, 0.01 rad, 0.1 m/s and rad/s) and whether a"
    f" foot lands. descent: of the planner's own solves, whose seeds are its earlier plans; costs"
    f" are geometric means, ratio is the median of actual over expected change (5.19)."
    f" gain: of each joint by its own angle [N m/rad] and velocity [N m s/rad]. loop: fastest"
    f" growth of an error [1/s] under gains and delay, the state held still. time: a knot on"
    f" one thread, with its ratio to rigid Xi, and a horizon on {THREADS} threads, on this"
    f" machine."
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
        f"Away from changes of the active set ({kept} of {kept + left} knots) rollout DxR agrees"
        f" with differences in every situation to {typical:.1g} of their norm in the median knot,"
        f" and to {getattr(worst, ANALYTIC):.1g} in 99 % of the knots (worst: {worst.case},"
        f" {worst.measure[0]})."
    )


def _rigid(rows: Sequence[Any]) -> str:
    medians = [row for row in rows if row.measure == "A, median"]
    contact = min(row.rigid_dxr for row in medians if row.case not in (FLIGHT, LIMIT))
    flight = [f"; in flight by {row.rigid_dxr:.1%}" for row in medians if row.case == FLIGHT]
    return (
        f"rigid DxR's A is off by {contact:.0%} of its norm or more (median) where a foot touches"
        f" or is about to{''.join(flight)}."
    )


def _steps(rows: Sequence[Any], step: float) -> str:
    tails = [row for row in rows if row.measure == "99 %"]
    best = min(tails, key=lambda row: row.differences)
    own = min(tails, key=lambda row: abs(row.step - DIFFERENCE))
    return (
        f"Truncation and rounding of centred differences are balanced at {step:.0e}, the"
        f" reference's step. The planner's one-sided differences are best at {best.case}, where"
        f" 99 % of the knots are within {best.differences:.1g} of rollout DxR; with their own,"
        f" {own.case}, within {own.differences:.1g}."
    )


def _saltation(rows: Sequence[Any]) -> list[str]:
    lines = []
    for row in _of(rows, ERROR, case=TOUCHDOWN, measure="A, median"):
        lines.append(f"rollout Xi moves A by {row.rollout_xi:.0%} of its norm at touchdowns"
                     " (median): it is no derivative of the step, but of its mean.")  # fmt: skip
    verdicts = []
    for size in SIZES:
        lands = _of(rows, PREDICTION, size=size, touchdown=True)
        better = [row for row in lands if row.rollout_xi < row.rollout_dxr]
        if lands:
            words = ", ".join(str(row.knots) for row in better) or "none"
            verdicts.append(f"{words} at size {size:g}")
    lines.append(
        f"Horizons [knots] with a touchdown at which rollout Xi predicts better than rollout DxR:"
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
    return f"Line searches rejected, and cost over the seed's, by iteration: {words}."


def _gains(rows: Sequence[Any]) -> str:
    row = next(row for row in rows if row.measure == "99 %")
    words = ", ".join(f"{name} {getattr(row, key):.0f}" for key, name in KINDS.items())
    return f"99 % of the gains by a joint's own angle are below [N m/rad]: {words}."


def _loop(rows: Sequence[Any]) -> str:
    row = rows[-1]
    words = ", ".join(f"{name} {getattr(row, key):.0f}" for key, name in KINDS.items())
    return (
        f"In the 1 kHz loop, {row.case}, small errors grow by less than this in 99 % of the"
        f" states [1/s]: {words}."
    )


def _times(rows: Sequence[Any]) -> str:
    row = next(row for row in rows if row.measure == RATIO)
    return (
        f"On one thread a knot takes rollout DxR {row.rollout_dxr:.2g} times, finite differences"
        f" {row.differences:.2g} times as long as rigid Xi."
    )
