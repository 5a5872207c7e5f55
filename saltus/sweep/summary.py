"""Success of a sweep, by condition and planner."""

import math
from collections.abc import Iterable

import numpy as np

from saltus.metrics.run import DRIVING_MEASURES
from saltus.sweep.conditions import Condition, Conditions
from saltus.sweep.trials import Row

NORMAL_97_5 = 1.959963984540054  # quantile of the standard normal for an interval of 95 %


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a success rate, both ends in [0, 1].

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22
    (1927). Unlike the normal approximation it says something sensible at 0 and 100 %.
    """
    square = NORMAL_97_5**2 / trials
    rate = successes / trials
    middle = rate + 0.5 * square
    half = math.sqrt(square * (rate * (1.0 - rate) + 0.25 * square))
    low, high = (middle - half) / (1.0 + square), (middle + half) / (1.0 + square)
    return (0.0 if successes == 0 else low), (1.0 if successes == trials else high)


def summarise(rows: Iterable[Row]) -> list[Row]:
    """Success by condition and planner, see `Conditions`; both in the order of the trials.

    `success` counts trials that succeeded, `success_low` and `success_high` bound the rate; the
    means are over trials without a fall (None without one). Those of a driven robot are there where
    its rows have them. `condition` says it in words, `values` are the pushes, and the other
    fields are those that the condition's rows have in common.
    """
    return [
        {
            "planner": planner, "kind": condition.kind, "magnitude": condition.magnitude,
            **_success(members), "group": condition.group, **_interval(members),
            **{f"mean_{key}": _mean(members, key) for key in measures(members)},
            "condition": condition.words, "values": condition.values, **condition.fields,
        }
        for condition, planner, members in cells(rows)
    ]  # fmt: skip


def cells(rows: Iterable[Row]) -> list[tuple[Condition, str, list[Row]]]:
    """Rows by condition and planner, both in the order of the trials."""
    rows = list(rows)
    conditions = Conditions(rows)
    planners = list(dict.fromkeys(row["planner"] for row in rows))
    members: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        members.setdefault((conditions.of(row).key, row["planner"]), []).append(row)
    return [
        (condition, planner, members[condition.key, planner])
        for condition in conditions for planner in planners
        if (condition.key, planner) in members
    ]  # fmt: skip


def succeeded(row: Row) -> bool:
    """Whether a trial was passed: without a fall, and beyond the distance that it was to come."""
    return row.get("passed", not row["fell"])


def measures(rows: list[Row]) -> list[str]:
    """Keys of a driven robot's measures that all of the rows have."""
    return [key for key in DRIVING_MEASURES if all(key in row for row in rows)]


def _success(rows: list[Row]) -> Row:
    return {
        "trials": len(rows), "success": sum(map(succeeded, rows)),
        "mean_max_lateral_deviation_m": _mean(rows, "max_lateral_deviation_m"),
    }  # fmt: skip


def _interval(rows: list[Row]) -> Row:
    low, high = wilson_interval(sum(map(succeeded, rows)), len(rows))
    return {"success_low": low, "success_high": high}


def _mean(rows: list[Row], key: str) -> float | None:
    """Over the rows without a fall that know it; None where none does."""
    values = [row[key] for row in rows if not row["fell"] and row[key] is not None]
    return float(np.mean(values)) if values else None
