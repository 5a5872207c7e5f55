"""The bounds of the salted filter beside the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saltus.common.criterion import Criterion

Row = Mapping[str, Any]

OURS, LEGS, INVARIANT = "salted", "leg_odometry", "invariant"
WALKING = ("walk", "trot")
OVERALL, TOUCHDOWN = "velocity_rmse_m_s", "velocity_rmse_after_touchdown_m_s"
AT_MOST = {OVERALL: 0.8, TOUCHDOWN: 0.6}  # of leg odometry's error, on walk and trot
EQUAL = 0.01  # relative difference of two errors below which neither filter is better
BETTER_ON = 3  # streams
UPDATE_US = 500.0  # that keep 1 kHz with room for the rest


def error_ratio(rows: Sequence[Row], key: str = OVERALL) -> float | None:
    """The salted filter's error over leg odometry's, the larger of walk's and trot's.

    None where one of the filters or streams is not among the rows.
    """
    ratios = list(_ratios(rows, key, LEGS, WALKING).values())
    return max(ratios) if len(ratios) == len(WALKING) else None


def criteria(rows: Sequence[Row]) -> list[Criterion]:
    """The criteria for which the rows have figures."""
    bounds = []
    for key, name in ((OVERALL, "overall"), (TOUCHDOWN, "after touchdowns")):
        ratio = error_ratio(rows, key)
        if ratio is not None:
            what = f"velocity error {name}, salted over leg odometry, the larger of walk and trot"
            bounds.append(Criterion(what, ratio, "<=", AT_MOST[key]))
    flat = [row for row in rows if row["filter"] == OURS and row["stream"] in WALKING]
    if flat:
        outside = [row["stream"] for row in flat if not row["consistent"]]
        what = f"of walk and trot, NEES of the salted filter outside its band ({_names(outside)})"
        bounds.append(Criterion(what, len(outside), "<=", 0))
    times = [row["update_us_p99"] for row in rows if row["filter"] == OURS]
    if times:
        what = "99th percentile of an update, the largest of the streams' [us]"
        bounds.append(Criterion(what, max(times), "<", UPDATE_US))
    return bounds + _beside_the_invariant(rows)


def _beside_the_invariant(rows: Sequence[Row]) -> list[Criterion]:
    """On how many streams the salted filter is worse, and better."""
    ratios = _ratios(rows, OVERALL, INVARIANT)
    if not ratios:
        return []
    worse = [stream for stream, ratio in ratios.items() if ratio > 1.0 + EQUAL]
    better = [stream for stream, ratio in ratios.items() if ratio < 1.0 - EQUAL]
    margin = f"by more than {100 * EQUAL:g} % than with the invariant filter"
    return [
        Criterion(f"streams with a larger error {margin} ({_names(worse)})", len(worse), "<=", 0),
        Criterion(
            f"streams with a smaller error {margin} ({_names(better)})",
            len(better), ">=", BETTER_ON,
        ),
    ]  # fmt: skip


def _ratios(
    rows: Sequence[Row], key: str, other: str, streams: Sequence[str] = ()
) -> dict[str, float]:
    """Stream -> the salted filter's figure over another's, on `streams` or on all."""
    figures = {(row["stream"], row["filter"]): row[key] for row in rows}
    names = streams or dict.fromkeys(row["stream"] for row in rows)
    pairs = {name: (figures.get((name, OURS)), figures.get((name, other))) for name in names}
    return {name: ours / theirs for name, (ours, theirs) in pairs.items() if ours and theirs}


def _names(streams: Sequence[str]) -> str:
    return ", ".join(streams) or "none"
