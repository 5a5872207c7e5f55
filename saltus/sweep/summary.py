"""Success of a sweep, by condition and planner, as rows and as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from scipy.stats import binomtest

from saltus.common.console import print_table
from saltus.metrics.run import DRIVING_MEASURES
from saltus.sweep.conditions import Condition, Conditions
from saltus.sweep.trials import Row

Item = TypeVar("Item")


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a success rate, both ends in [0, 1].

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22
    (1927). Unlike the normal approximation it says something sensible at 0 and 100 %.
    """
    interval = binomtest(successes, trials).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def summarise(rows: Iterable[Row]) -> list[Row]:
    """Success by condition and planner, see `Conditions`; both in the order of the trials.

    `success` counts trials that succeeded, `success_low` and `success_high` bound the rate; the
    means are over trials without a fall (None without one). Those of a driven robot are there where
    its rows have them. `condition` says it in words, `values` are the pushes, and the other
    fields are those that the condition's rows have in common.
    """
    return [_summary(*cell) for cell in _cells(list(rows))]


def _cells(rows: list[Row]) -> list[tuple[Condition, str, list[Row]]]:
    return cells(rows, Conditions(rows), lambda row: row)


def _summary(condition: Condition, planner: str, rows: list[Row]) -> Row:
    side, successes = "max_lateral_deviation_m", sum(map(succeeded, rows))
    low, high = wilson_interval(successes, len(rows))
    return {
        "planner": planner, "kind": condition.kind, "magnitude": condition.magnitude,
        "trials": len(rows), "success": successes, f"mean_{side}": _mean(rows, side),
        "mean_max_lateral_deviation_of_all_m": _mean(rows, side, True),
        "largest_lateral_deviation_m": max(_known(rows, side), default=None),
        "group": condition.group, "success_low": low, "success_high": high,
        **{f"mean_{key}": _mean(rows, key) for key in measures(rows)},
        "condition": condition.words, "values": condition.values, **condition.fields,
    }  # fmt: skip


def cells(
    trials: Iterable[Item], conditions: Conditions, row_of: Callable[[Item], Row]
) -> list[tuple[Condition, str, list[Item]]]:
    """Trials by condition and planner, both in the order of the trials."""
    members: dict[tuple[str, str], list[Item]] = {}
    for trial in trials:
        row = row_of(trial)
        members.setdefault((conditions.of(row).key, row["planner"]), []).append(trial)
    planners = dict.fromkeys(planner for _, planner in members)
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


def _known(rows: list[Row], key: str, fallen: bool = False) -> list[float]:
    """Values of the rows that know it; of those with a fall only if they are wanted."""
    return [row[key] for row in rows if (fallen or not row["fell"]) and row.get(key) is not None]


def _mean(rows: list[Row], key: str, fallen: bool = False) -> float | None:
    """See `_known`; None where none does."""
    values = _known(rows, key, fallen)
    return float(np.mean(values)) if values else None


# Columns: heading, key of the summary, digits, unit.
_SIDEWAYS = (
    ("lateral deviation", "mean_max_lateral_deviation_m", 2, " m"),
    ("largest", "largest_lateral_deviation_m", 2, " m"),
)
_DRIVEN = (
    ("velocity error", "mean_velocity_rmse_m_s", 3, " m/s"),
    ("yaw rate error", "mean_yaw_rate_rmse_rad_s", 3, " rad/s"),
    ("cost of transport", "mean_cost_of_transport", 2, ""), ("slip", "mean_foot_slip_m", 2, " m"),
    ("distance", "mean_distance_m", 1, " m"),
)  # fmt: skip

_NAMED = 3  # trials that a warning names


def print_summary(title: str, rows: Iterable[Row]) -> None:
    """Print a line for each condition and planner on standard output."""
    print_table(title, readable_summary(list(rows)))


def failed_solves(rows: Iterable[Row]) -> str:
    """Trials in which solves gave no plan, in a line; empty where none did."""
    failing = [row for row in rows if row.get("plans_failed")]
    if not failing:
        return ""
    named = [f"{row['planner']} in trial {row['trial']}" for row in failing[:_NAMED]]
    named += [f"{len(failing) - _NAMED} more"] if len(failing) > _NAMED else []
    return f"{sum(row['plans_failed'] for row in failing)} solves failed: {', '.join(named)}"


def readable_summary(rows: list[Row]) -> list[Row]:
    """The summary in words: success such as ``15/16 (72-99 %)``, the rate's 95 % interval."""
    found = _cells(rows)
    columns = _DRIVEN if any(measures(members) for _, _, members in found) else _SIDEWAYS
    known = {key for row in rows for key in row}
    table = []
    for condition, planner, members in found:
        entry = _summary(condition, planner, members)
        low, high = (100.0 * entry[key] for key in ("success_low", "success_high"))
        line = {
            "condition": condition.words, "planner": planner,
            "success": f"{entry['success']}/{entry['trials']} ({low:.0f}-{high:.0f} %)",
        }  # fmt: skip
        for name, key, digits, unit in columns:
            line[name] = "-" if entry.get(key) is None else f"{entry[key]:.{digits}f}{unit}"
        line["solve time"] = _of(np.median, members, "solve_ms_p50", "{:.1f} ms")
        if "budget_ms" in known:
            line["processor"] = _of(np.median, members, "processor_ms_p50", "{:.1f} ms")
        if "worst_violation" in known:
            line["largest violation"] = _of(max, members, "worst_violation", "{:.0%}")
        table.append(line)
    return table


def _of(figure: Callable[[list[float]], Any], rows: list[Row], key: str, form: str) -> str:
    """A figure of the rows that have a value."""
    values = _known(rows, key, True)
    return form.format(figure(values)) if values else "-"
