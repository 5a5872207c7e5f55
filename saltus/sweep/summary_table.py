"""The summary of a sweep as a person reads it: a table, or text where the table is too wide."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from saltus.console import NO_BREAK, fits, print_paragraphs, print_table
from saltus.sweep.summary import cells, measures, summarise
from saltus.sweep.trials import Row

# Columns of means: heading, key of the row, digits, unit.
_SIDEWAYS = (("to the side", "max_lateral_deviation_m", 2, " m"),)
_DRIVEN = (
    ("velocity off", "velocity_rmse_m_s", 3, " m/s"),
    ("turning off", "yaw_rate_rmse_rad_s", 3, " rad/s"),
    ("cost of transport", "cost_of_transport", 2, ""), ("slip", "foot_slip_m", 2, " m"),
    ("way", "distance_m", 1, " m"),
)  # fmt: skip


def print_summary(title: str, rows: Iterable[Row]) -> None:
    """Print a line for each condition and planner on standard output.

    Where a table does not fit the terminal, each condition is a line of its own, and its planners
    follow as text.
    """
    table = readable_summary(list(rows))
    if fits(title, table):
        print_table(title, table)
        return
    lines: list[tuple[int, str]] = []
    before = ""
    for line in table:
        condition, planner = line.pop("condition"), line.pop("planner")
        if condition != before:
            lines.append((0, condition))
        before = condition
        parts = [f"{name} {value}" for name, value in line.items() if value != "-"]
        lines.append((2, f"{planner}: {', '.join(part.replace(' ', NO_BREAK) for part in parts)}"))
    print_paragraphs(title, lines)


def readable_summary(rows: list[Row]) -> list[Row]:
    """The summary in words: success such as ``15/16 (72-99 %)``, the rate's 95 % interval."""
    driven = any(measures(members) for _, _, members in cells(rows))
    columns = _DRIVEN if driven else _SIDEWAYS
    table = []
    for entry, (condition, planner, members) in zip(summarise(rows), cells(rows), strict=True):
        low, high = (100.0 * entry[key] for key in ("success_low", "success_high"))
        table.append({
            "condition": condition.words, "planner": planner,
            "on its feet": f"{entry['success']}/{entry['trials']} ({low:.0f}-{high:.0f} %)",
            **{name: _readable(entry.get(f"mean_{key}"), digits, unit)
               for name, key, digits, unit in columns},
            "solve": _median_ms(members),
        })  # fmt: skip
    return table


def _readable(value: float | None, digits: int, unit: str) -> str:
    return "-" if value is None else f"{value:.{digits}f}{unit}"


def _median_ms(rows: list[Row]) -> str:
    values = [row["solve_ms_p50"] for row in rows if row["solve_ms_p50"] is not None]
    return f"{np.median(values):.1f} ms" if values else "-"
