"""What ``sweep.json`` and ``rows.jsonl`` hold, as far as a report can rely on them."""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from saltus.common.errors import BadRequest
from saltus.report.subject import Row

Value = TypeVar("Value")


class SweepDescription(msgspec.Struct):
    """What a sweep was asked to do; whatever ``sweep.json`` does not say is empty."""

    suite: str = ""
    suite_text: str = ""
    mode: str = ""
    code: str = ""
    settings: list[str] = []
    trials: dict[str, list[int]] = {}  # by planner
    budgets_ms: list[float] = []


class _Row(msgspec.Struct):
    """The types that a report reckons with; other keys are nobody's business."""

    planner: str
    trial: int
    fell: bool
    kind: str | None = None
    group: str | None = None
    at: float | None = None
    value: list[float] | None = None
    length: float | None = msgspec.field(name="for", default=None)
    every: float | None = None
    reference: str | None = None
    command: dict[str, Any] | list[Any] | None = None
    simulation: dict[str, float | bool | str | dict[str, float | bool | str]] | None = None
    timing: dict[str, float | str] | None = None
    duration: float | None = None
    max_lateral_deviation_m: float | None = None
    solve_ms_p50: float | None = None
    solve_ms_p99: float | None = None
    processor_ms_p50: float | None = None
    budget_ms: float | None = None
    plans_failed: int | None = None
    plans_late: int | None = None
    not_tracking_ticks: int | None = None
    velocity_rmse_m_s: float | None = None
    yaw_rate_rmse_rad_s: float | None = None
    cost_of_transport: float | None = None
    foot_slip_m: float | None = None
    distance_m: float | None = None


def read_description(folder: Path) -> SweepDescription | None:
    """The description of a sweep; None where it is missing or broken."""
    try:
        asked = msgspec.json.decode((folder / "sweep.json").read_bytes(), type=SweepDescription)
    except (OSError, ValueError):
        return None
    return asked if asked != SweepDescription() else None


def read_rows(folder: Path) -> tuple[list[Row], int]:
    """The rows of a sweep, and how many lines are none.

    The last line may be half of one where the sweep was broken off. Of two rows of one trial the
    later counts, as it does where a sweep goes on.

    Raises:
        BadRequest: all lines are of another version, such as those that name a `controller`.
    """
    try:
        lines = (folder / "rows.jsonl").read_bytes().splitlines()
    except OSError:
        return [], 0
    rows = [row for line in lines if (row := _row(line))]
    if lines and not rows:
        raise BadRequest(
            f"{folder}: rows.jsonl has no row of this version of Saltus; run the sweep again"
        )
    return list({(row["planner"], row["trial"]): row for row in rows}.values()), (
        len(lines) - len(rows)
    )


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        msgspec.json.decode(line, type=_Row)
        return msgspec.json.decode(line, type=dict[str, Any])
    except ValueError:  # of JSON, of a type, of UTF-8
        return None
