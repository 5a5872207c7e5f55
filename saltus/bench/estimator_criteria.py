"""What the salted filter has to show beside the others, and whether it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


def criteria(rows: Sequence[Row]) -> list[str]:
    """One line for each criterion that the rows can tell: figure, bound, and whether it is met."""
    lines = []
    for key, name in ((OVERALL, "overall"), (TOUCHDOWN, "after touchdowns")):
        found = error_ratio(rows, key)
        if found is not None:
            what = f"velocity error {name}, salted over leg odometry, the larger of walk and trot"
            lines.append(_line(f"{what}: {found:.3f}", f"<= {AT_MOST[key]}", found <= AT_MOST[key]))
    return [*lines, *_beside_the_invariant(rows), *_update_time(rows)]


def _beside_the_invariant(rows: Sequence[Row]) -> list[str]:
    ratios = _ratios(rows, OVERALL, INVARIANT)
    if not ratios:
        return []
    worse = [stream for stream, ratio in ratios.items() if ratio > 1.0 + EQUAL]
    better = [stream for stream, ratio in ratios.items() if ratio < 1.0 - EQUAL]
    beside = f"by more than {100 * EQUAL:g} % than the invariant filter on"
    return [
        _line(f"worse {beside}: {', '.join(worse) or 'no stream'}", "none", not worse),
        _line(
            f"better {beside}: {', '.join(better) or 'no stream'}", f"{BETTER_ON} or more",
            len(better) >= BETTER_ON,
        ),
    ]  # fmt: skip


def _update_time(rows: Sequence[Row]) -> list[str]:
    times = [row["update_us_p99"] for row in rows if row["filter"] == OURS]
    if not times:
        return []
    longest = f"99th percentile of an update, the largest of the streams': {max(times):.0f} us"
    return [_line(longest, f"< {UPDATE_US:g} us", max(times) < UPDATE_US)]


def _ratios(
    rows: Sequence[Row], key: str, other: str, streams: Sequence[str] = ()
) -> dict[str, float]:
    """Stream -> the salted filter's figure over another's, on `streams` or on all."""
    found = {(row["stream"], row["filter"]): row[key] for row in rows}
    names = streams or dict.fromkeys(row["stream"] for row in rows)
    pairs = {name: (found.get((name, OURS)), found.get((name, other))) for name in names}
    return {name: ours / theirs for name, (ours, theirs) in pairs.items() if ours and theirs}


def _line(figure: str, bound: str, met: bool) -> str:
    return f"{'met' if met else 'NOT met'}: {figure} (asked: {bound})"
