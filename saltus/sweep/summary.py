"""Success of a sweep, by group, controller and magnitude of the perturbation."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

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
    """Success by group, controller, kind and magnitude, groups in the order of their trials.

    `success` counts trials without a fall, `success_low` and `success_high` bound the rate; the
    mean deviation is over these trials (None without one).
    """
    summary = []
    for (group, controller, kind, magnitude), members in _cells(rows).items():
        upright = [row["max_lateral_deviation_m"] for row in members if not row["fell"]]
        low, high = wilson_interval(len(upright), len(members))
        summary.append({
            "controller": controller, "kind": kind, "magnitude": magnitude,
            "trials": len(members), "success": len(upright),
            "mean_max_lateral_deviation_m": float(np.mean(upright)) if upright else None,
            "group": group, "success_low": low, "success_high": high,
        })  # fmt: skip
    return summary


def readable_summary(rows: list[Row]) -> list[Row]:
    """The summary as a person reads it: success such as ``15/16 (72-99 %)``, times in ms."""
    table = []
    for entry, members in zip(summarise(rows), _cells(rows).values(), strict=True):
        group = {"group": entry["group"]} if entry["group"] else {}
        low, high = (100.0 * entry[key] for key in ("success_low", "success_high"))
        magnitude = f" {entry['magnitude']:g}" if entry["magnitude"] else ""
        table.append({
            **group, "controller": entry["controller"], "push": f"{entry['kind']}{magnitude}",
            "success": f"{entry['success']}/{entry['trials']} ({low:.0f}-{high:.0f} %)",
            "deviation m": entry["mean_max_lateral_deviation_m"],
            "solve ms": _median(members, "solve_ms_p50"),
            "p99 ms": _median(members, "solve_ms_p99"),
        })  # fmt: skip
    return table


def _cells(rows: Iterable[Row]) -> dict[tuple[str, str, str, float], list[Row]]:
    """Rows by group, controller, kind and magnitude."""
    rows = list(rows)
    order = {name: i for i, name in enumerate(dict.fromkeys(row.get("group", "") for row in rows))}
    cells: dict[tuple[str, str, str, float], list[Row]] = {}
    for row in rows:
        magnitude = round(float(np.linalg.norm(row["value"] or [])), 3)
        key = (row.get("group", ""), row["controller"], row["kind"], magnitude)
        cells.setdefault(key, []).append(row)
    return dict(sorted(cells.items(), key=lambda cell: (order[cell[0][0]], cell[0][1:])))


def _median(rows: list[Row], key: str) -> Any:
    values = [row[key] for row in rows if row.get(key) is not None]
    return float(np.median(values)) if values else None
