"""The summary of a sweep as a table, or as text where the table is too wide."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable
from itertools import groupby

import numpy as np

from saltus.common.console import fits, print_lines, print_table
from saltus.sweep.summary import cells, measures, summarise
from saltus.sweep.trials import Row

# Columns of means: heading, key of the row, digits, unit.
_SIDEWAYS = (("lateral deviation", "max_lateral_deviation_m", 2, " m"),)
_DRIVEN = (
    ("velocity error", "velocity_rmse_m_s", 3, " m/s"),
    ("yaw rate error", "yaw_rate_rmse_rad_s", 3, " rad/s"),
    ("cost of transport", "cost_of_transport", 2, ""), ("slip", "foot_slip_m", 2, " m"),
    ("distance", "distance_m", 1, " m"),
)  # fmt: skip

_NO_BREAK = "\N{NO-BREAK SPACE}"
_NAMED = 3  # trials that a warning names
_NARROWEST = 34  # columns in which every value has room


def print_summary(title: str, rows: Iterable[Row]) -> None:
    """Print a line for each condition and planner on standard output.

    Where a table does not fit the terminal, each condition is a line of its own, and its planners
    follow as text.
    """
    table = readable_summary(list(rows))
    if fits(title, table):
        print_table(title, table)
        return
    width = max(shutil.get_terminal_size().columns, _NARROWEST)
    lines = [title]
    for condition, entries in groupby(table, key=lambda entry: entry["condition"]):
        lines.append(textwrap.fill(condition, width, subsequent_indent="    "))
        lines += [_paragraph(entry, width) for entry in entries]
    print_lines(lines)


def failed_solves(rows: Iterable[Row]) -> str:
    """In which trials solves gave no plan, in a line; empty where none did."""
    failing = [row for row in rows if row.get("plans_failed")]
    if not failing:
        return ""
    named = [f"{row['planner']} in trial {row['trial']}" for row in failing[:_NAMED]]
    named += [f"{len(failing) - _NAMED} more"] if len(failing) > _NAMED else []
    return f"{sum(row['plans_failed'] for row in failing)} solves failed: {', '.join(named)}"


def _paragraph(entry: Row, width: int) -> str:
    """A planner's line as text, broken between its values alone."""
    names = [name for name in entry if name not in ("condition", "planner") and entry[name] != "-"]
    values = [f"{name} {entry[name]}" for name in names]
    text = f"{entry['planner']}: {', '.join(value.replace(' ', _NO_BREAK) for value in values)}"
    filled = textwrap.fill(
        text, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )
    return filled.replace(_NO_BREAK, " ")


def readable_summary(rows: list[Row]) -> list[Row]:
    """The summary in words: success such as ``15/16 (72-99 %)``, the rate's 95 % interval."""
    driven = any(measures(members) for _, _, members in cells(rows))
    columns = _DRIVEN if driven else _SIDEWAYS
    limited = any("worst_violation" in row for row in rows)
    budgeted = any("budget_ms" in row for row in rows)
    table = []
    for entry, (condition, planner, members) in zip(summarise(rows), cells(rows), strict=True):
        low, high = (100.0 * entry[key] for key in ("success_low", "success_high"))
        table.append({
            "condition": condition.words, "planner": planner,
            "success": f"{entry['success']}/{entry['trials']} ({low:.0f}-{high:.0f} %)",
            **{name: _readable(entry.get(f"mean_{key}"), digits, unit)
               for name, key, digits, unit in columns},
            "solve time": _median_ms(members, "solve_ms_p50"),
            **({"processor": _median_ms(members, "processor_ms_p50")} if budgeted else {}),
            **({"largest violation": _largest_violation(members)} if limited else {}),
        })  # fmt: skip
    return table


def _readable(value: float | None, digits: int, unit: str) -> str:
    return "-" if value is None else f"{value:.{digits}f}{unit}"


def _median_ms(rows: list[Row], key: str) -> str:
    values = [row[key] for row in rows if row.get(key) is not None]
    return f"{np.median(values):.1f} ms" if values else "-"


def _largest_violation(rows: list[Row]) -> str:
    values = [row["worst_violation"] for row in rows if "worst_violation" in row]
    return f"{100.0 * max(values):.0f} %" if values else "-"
