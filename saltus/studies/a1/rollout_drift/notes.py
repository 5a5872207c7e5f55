"""What a reader must know of ``rollout-drift``, from its own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saltus.studies.a1.rollout_drift.drift import FAR_OFF


def notes(rows: Sequence[Mapping[str, Any]], yardstick: str, walking: str) -> list[str]:
    """One line each: the planner's choices, the yardstick, and how it was measured."""
    lines = []
    for row in rows:
        if row["motion"] == walking:
            lines.append(_choices(row))
    for row in rows:
        if row["backend"] != yardstick:
            lines.append(_beside(row, _same_motion(rows, row["motion"], yardstick)))
    apart = [f"{row['backend']} in {row['motion']}" for row in rows if not row["same_finite"]]
    if apart:
        lines.append(f"Not the same candidates diverged: {', '.join(apart)}.")
    return [
        *lines,
        *_far_off([row for row in rows if row["backend"] != yardstick]),
        "Errors are against MuJoCo in float64, at the horizon's end over all candidates; the"
        " force's over all knots and the largest of the four feet. The cost is the planner's"
        " (6.1), relative; what is lost is MuJoCo's cost of the other choice.",
        "Warp also solves contacts to a tolerance of 1e-6, not MuJoCo's 1e-8.",
    ]


def _choices(row: Mapping[str, Any]) -> str:
    return (
        f"{row['backend']} ({row['device']}): {row['same_choice']:.1%} of {row['searches']} line"
        f" searches of the walk take MuJoCo's own candidate; at worst a choice costs"
        f" {row['cost_lost_worst']:.2g} of the best cost more."
    )


def _beside(row: Mapping[str, Any], yardstick: Mapping[str, Any]) -> str:
    ratio = row["position_m_p50"] / max(yardstick["position_m_p50"], 1e-300)
    return (
        f"{row['motion']}: {row['backend']} ({row['device']}) is {row['position_m_p50']:.2g} m off"
        f" after the horizon (median; 99 %: {row['position_m_p99']:.2g} m; worst"
        f" {row['position_m_worst']:.2g} m), {ratio:.3g} times what a rounded start alone makes;"
        f" cost {row['cost_relative_p99']:.2g} off (99 %), {row['cost_relative_worst']:.2g} at"
        f" worst; {row['same_choice']:.1%} same choices."
    )


def _far_off(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    count = sum(row["far_off"] for row in rows)
    if not count:
        return []
    return [
        f"{count} of {sum(row['candidates'] for row in rows)} candidates are off by more than"
        f" {FAR_OFF:g} of their cost. Where this was looked into, a foot was within 1e-7 m of the"
        " floor at a step, so that rounding decided whether it touched then or a step later."
    ]


def _same_motion(rows: Sequence[Mapping[str, Any]], motion: str, backend: str) -> Mapping[str, Any]:
    return next(row for row in rows if (row["motion"], row["backend"]) == (motion, backend))
