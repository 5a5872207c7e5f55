"""Reads the folder of a sweep: what was asked, the rows so far, and the traces."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import msgspec

from saltus.common.errors import BadRequest
from saltus.common.folders import data_folder, is_file
from saltus.configuration.planners import ALL, planners_in_words
from saltus.report.read_run import date_of
from saltus.report.subject import Row, Subject, TrialRecord
from saltus.trace import Trace, load_trace, trace_path
from sim_bridge.suites import SuiteError, parse_suite


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


def is_sweep(folder: Path) -> bool:
    """Whether the folder holds a sweep."""
    return is_file(folder / "sweep.json") or is_file(folder / "rows.jsonl")


def read_sweep(folder: Path) -> Subject:
    """A sweep as a report's subject; what is not there is named in its ``missing``."""
    found = read_description(folder)
    asked = found or SweepDescription()
    missing = [] if found else [
        "The sweep's description (sweep.json) is missing or damaged: its suite, code and settings "
        "are not known."
    ]  # fmt: skip
    rows, others = read_rows(folder)
    if others:
        missing.append(f"{others} line(s) of rows.jsonl are damaged and left out.")
    traces = [_trace(folder, row) for row in rows]
    trials = [TrialRecord(row, trace) for row, trace in zip(rows, traces, strict=True)]
    subject = Subject(
        "sweep", folder, asked.suite or folder.resolve().name, _facts(folder, asked),
        _settings(asked), trials, _expected(asked), missing, asked.mode == "paused",
    )  # fmt: skip
    missing += _lacking(subject, asked)
    return subject


def _trace(folder: Path, row: Row) -> Trace | None:
    try:
        return load_trace(trace_path(folder, row["planner"], row["trial"]))
    except (OSError, ValueError):
        return None


def _lacking(subject: Subject, asked: SweepDescription) -> list[str]:
    commands = " and ".join(f"`{command}`" for command in go_on(subject, asked))
    again = f"run {commands}: it goes on where it stopped"
    sentences: list[str] = []
    if subject.unfinished:
        done = f"{len(subject.trials)} of {subject.expected}"
        sentences.append(f"{done} requested trials are finished; for the others, {again}.")
    elif not subject.trials:
        sentences.append(f"The sweep has no finished trial: {again}.")
    without = sum(trial.trace is None for trial in subject.trials)
    if without:
        sentences.append(
            f"{without} of {len(subject.trials)} trials have no readable trace in traces/, so they "
            "are in the tables and not in the figures. Only paused sweeps leave traces; record one "
            "trial with `saltus launch --record` to see it by the clock."
        )
    return sentences


def go_on(subject: Subject, asked: SweepDescription) -> list[str]:
    """The commands that run the trials that are lacking, as far as the sweep says so."""
    done = {(trial.planner, int(trial.row["trial"])) for trial in subject.trials}
    lacking = {planner: numbers for planner, numbers in asked.trials.items()
               if any((planner, number) not in done for number in numbers)}  # fmt: skip
    alike: dict[tuple[int, ...], list[str]] = {}
    for planner, numbers in lacking.items():
        alike.setdefault(tuple(numbers), []).append(planner)
    return [_command(subject.folder, asked, planners_in_words(planners), list(numbers))
            for numbers, planners in alike.items()] or [
        _command(subject.folder, asked, ALL, [])
    ]  # fmt: skip


def _command(folder: Path, asked: SweepDescription, planners: str, numbers: list[int]) -> str:
    ours = is_file(data_folder("config") / f"{asked.suite}.yaml")
    suite = asked.suite if ours else f"{asked.suite or 'SUITE'}.yaml"
    words = ["saltus", "perturb", suite, "--planner", planners, "--mode", asked.mode or "paused"]
    words += _selection(asked, numbers)
    words += [word for setting in asked.settings for word in ("--set", setting)]
    words += [word for budget in asked.budgets_ms for word in ("--budget", f"{budget:g}")]
    return shlex.join([*words, "--output", str(folder)])


def _selection(asked: SweepDescription, numbers: list[int]) -> list[str]:
    """Options for these trials of the suite; none for all of them."""
    try:
        count = sum(len(group.trials) * group.seeds for group in parse_suite(asked.suite_text))
    except SuiteError:
        return []
    numbers = sorted({number % count for number in numbers})  # of each budget they come once more
    if len(numbers) == count:
        return []
    return [word for number in numbers for word in ("--trial", str(number))]


def _expected(asked: SweepDescription) -> int | None:
    """Trials that were asked for, of all planners of the sweep."""
    return sum(map(len, asked.trials.values())) or None


def _settings(asked: SweepDescription) -> str:
    return "".join(f"# --set {setting}\n" for setting in asked.settings) + asked.suite_text


def _facts(folder: Path, asked: SweepDescription) -> dict[str, str]:
    source = next(p for name in ("sweep.json", "rows.jsonl") if (p := folder / name).is_file())
    mode = {"paused": "in lock step", "realtime": "in real time"}
    rows = folder / "rows.jsonl"
    return {
        "Sweep": folder.resolve().name,
        "Suite": asked.suite or "not noted",
        "Planners": ", ".join(asked.trials) or "not noted",
        "Time passes": mode.get(asked.mode, "not noted"),
        "Begun": date_of(source),
        "Last trial": date_of(rows) if rows.is_file() else "none yet",
        "Code": asked.code or "not noted",
    }


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
