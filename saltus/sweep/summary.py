"""Success of a sweep, by group, planner and magnitude of the perturbation."""

import math
from collections.abc import Iterable

import numpy as np

from saltus.metrics import DRIVING_MEASURES
from saltus.sweep.trials import Row

# Columns of means in the table for a person: name, key, digits, unit.
_SIDEWAYS = (("to the side", "max_lateral_deviation_m", 2, " m"),)
_DRIVEN = (
    ("off [m/s]", "velocity_rmse_m_s", 3, ""), ("off [rad/s]", "yaw_rate_rmse_rad_s", 3, ""),
    ("transport", "cost_of_transport", 2, ""), ("slip [m]", "foot_slip_m", 2, ""),
    ("way [m]", "distance_m", 1, ""),
)  # fmt: skip
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
    """Success by group, planner, kind and magnitude, in the order of the trials.

    `success` counts trials without a fall, `success_low` and `success_high` bound the rate; the
    means are over these trials (None without one). Those of a driven robot's measures are there
    where its rows have them.
    """
    summary = []
    for (group, planner, kind, magnitude), members in _cells(rows).items():
        upright = [row for row in members if not row["fell"]]
        low, high = wilson_interval(len(upright), len(members))
        summary.append({
            "planner": planner, "kind": kind, "magnitude": magnitude,
            "trials": len(members), "success": len(upright),
            "mean_max_lateral_deviation_m": _mean(upright, "max_lateral_deviation_m"),
            "group": group, "success_low": low, "success_high": high,
        } | {f"mean_{key}": _mean(upright, key) for key in _measures(members)})  # fmt: skip
    return summary


def readable_summary(rows: list[Row]) -> list[Row]:
    """The summary as a person reads it: success such as ``15/16 (72-99 %)``.

    Where every group has pushes of one kind and size, its name says enough.
    """
    summary, table = summarise(rows), []
    driven = any(_measures(members) for members in _cells(rows).values())
    named = len({(entry["group"], entry["planner"]) for entry in summary}) == len(summary)
    for entry, members in zip(summary, _cells(rows).values(), strict=True):
        group = {"group": entry["group"]} if entry["group"] else {}
        push = {} if named and group else {"push": _push(entry)}
        low, high = (100.0 * entry[key] for key in ("success_low", "success_high"))
        table.append({
            **group, "planner": entry["planner"], **push,
            "success": f"{entry['success']}/{entry['trials']} ({low:.0f}-{high:.0f} %)",
            **{name: _readable(entry.get(f"mean_{key}"), digits, unit)
               for name, key, digits, unit in (_DRIVEN if driven else _SIDEWAYS)},
            "solve": _median_ms(members),
        })  # fmt: skip
    return table


def _push(entry: Row) -> str:
    size = f"{entry['magnitude']:g}"
    words = {"base_velocity": f"{size} m/s", "base_force": f"{size} N", "motor_block": "motors off"}
    return words.get(entry["kind"], "none")


def _measures(rows: list[Row]) -> list[str]:
    """Keys of a driven robot's measures that all of the rows have."""
    return [key for key in DRIVING_MEASURES if all(key in row for row in rows)]


def _mean(rows: list[Row], key: str) -> float | None:
    """Over the rows that know it; None where none does."""
    values = [row[key] for row in rows if row[key] is not None]
    return float(np.mean(values)) if values else None


def _readable(value: float | None, digits: int, unit: str) -> str:
    return "-" if value is None else f"{value:.{digits}f}{unit}"


def _cells(rows: Iterable[Row]) -> dict[tuple[str, str, str, float], list[Row]]:
    """Rows by group, planner, kind and magnitude; groups and planners as they first come."""
    rows = list(rows)
    groups = list(dict.fromkeys(row.get("group", "") for row in rows))
    planners = list(dict.fromkeys(row["planner"] for row in rows))
    cells: dict[tuple[str, str, str, float], list[Row]] = {}
    for row in rows:
        magnitude = round(float(np.linalg.norm(row["value"] or [])), 3)
        key = (row.get("group", ""), row["planner"], row["kind"], magnitude)
        cells.setdefault(key, []).append(row)
    places = {key: (groups.index(key[0]), planners.index(key[1]), *key[2:]) for key in cells}
    return {key: cells[key] for key in sorted(cells, key=lambda key: places[key])}


def _median_ms(rows: list[Row]) -> str:
    values = [row["solve_ms_p50"] for row in rows if row["solve_ms_p50"] is not None]
    return f"{np.median(values):.1f} ms" if values else "-"
