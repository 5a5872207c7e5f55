"""The rows of `saltus bench estimators` as a person reads them: few digits, short headings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Column(NamedTuple):
    """A column: its heading, the row's key, and the factor and digits of the number."""

    heading: str
    key: str
    factor: float
    digits: int


COLUMNS = (
    Column("mm/s", "velocity_rmse_m_s", 1e3, 1),
    Column("land", "velocity_rmse_after_touchdown_m_s", 1e3, 1),
    Column("mrad", "tilt_rmse_rad", 1e3, 1),
    Column("mm", "height_rmse_m", 1e3, 1),
    Column("drift", "drift_percent", 1.0, 1),
    Column("up", "height_drift_percent", 1.0, 2),
    Column("p99", "update_us_p99", 1.0, 0),
    Column("cpu", "update_cpu_us_p99", 1.0, 0),
    Column("NEES", "nees_mean", 1.0, 1),
    Column("in", "nees_inside_percent", 1.0, 0),
)


def table(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A line for each row."""
    lines = []
    for row in rows:
        name = f"{row['stream']}, {row['filter']}".replace("_", " ")
        lines.append({"": name} | {each.heading: _cell(row, each) for each in COLUMNS})
    return lines


def legend() -> list[str]:
    """What the headings mean."""
    return [
        "mm/s: error of the velocity in base axes, RMS; land: within 50 ms after touchdowns; mrad:",
        "of the tilt; mm: of the height; drift, up: by how much the errors of position and height",
        "changed over a run, % of the distance walked; p99: of an update by the clock [us]; cpu:",
        "the same without what other processes took; NEES: 3 where errors are as large as the",
        "covariance says; in: % of the ticks in its 95 % band; unknown: the filter has no ground",
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}: beside other work p99 is theirs",
    ]


def _cell(row: Mapping[str, Any], column: Column) -> str:
    value = row[column.key]
    return "" if value is None else f"{column.factor * value:.{column.digits}f}"
