"""Reads the folder of a sweep: what was asked, the rows so far, and the traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from saltus.report.read_run import date_of, read_json
from saltus.report.subject import Row, Subject, Trial
from saltus.trace import Trace, load_trace
from sim_bridge.suites import SuiteError, parse_suite


def is_sweep(folder: Path) -> bool:
    """Whether the folder holds a sweep."""
    return (folder / "sweep.json").is_file() or (folder / "rows.jsonl").is_file()


def read_sweep(folder: Path) -> Subject:
    """A sweep as a report's subject; what is not there is named in its ``missing``."""
    asked = read_json(folder / "sweep.json")
    missing = [] if asked else [
        "The sweep's description (sweep.json) is missing or broken, so that nothing is said about "
        "its suite, code and settings."
    ]  # fmt: skip
    rows = _rows(folder, missing)
    traces = [_trace(folder, row) for row in rows]
    trials = [Trial(row, trace) for row, trace in zip(rows, traces, strict=True)]
    subject = Subject(
        "sweep", folder, str(asked.get("suite") or folder.resolve().name), _facts(folder, asked),
        _settings(asked), trials, _expected(asked), missing,
    )  # fmt: skip
    missing += _lacking(subject)
    return subject


def _rows(folder: Path, missing: list[str]) -> list[Row]:
    """Whole rows; the last line may be half of one where the sweep was broken off."""
    try:
        lines = (folder / "rows.jsonl").read_bytes().splitlines()
    except OSError:
        return []
    rows = [row for line in lines if (row := _row(line))]
    if len(rows) < len(lines):
        missing.append(f"{len(lines) - len(rows)} line(s) of rows.jsonl are no rows: left out.")
    return rows


def _row(line: bytes) -> Row | None:
    try:
        row = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return None
    return row if {"controller", "trial", "fell"} <= row.keys() else None


def _trace(folder: Path, row: Row) -> Trace | None:
    try:
        return load_trace(folder / "traces" / f"{row['controller']}-{row['trial']}.npz")
    except (OSError, ValueError):
        return None


def _lacking(subject: Subject) -> list[str]:
    again = "run the same `saltus perturb` command again: it goes on where it stopped"
    told = []
    if subject.unfinished:
        done = f"{len(subject.trials)} of {subject.expected}"
        told.append(f"{done} trials of the suite are done; for the others, {again}.")
    elif not subject.trials:
        told.append(f"The sweep has no finished trial: {again}.")
    without = sum(trial.trace is None for trial in subject.trials)
    if without:
        told.append(f"{without} of {len(subject.trials)} trials have no readable trace in traces/, "
                    "so they are in the tables and not in the figures. Only paused sweeps leave "
                    "traces; record one trial with `saltus launch --record` to see it by the "
                    "clock.")  # fmt: skip
    return told


def _expected(asked: dict[str, Any]) -> int | None:
    """Trials of the whole suite, for all controllers of the sweep."""
    try:
        groups = parse_suite(asked.get("suite_text", ""))
    except SuiteError:
        return None
    return sum(len(g.trials) * g.seeds for g in groups) * len(asked.get("controllers") or [])


def _settings(asked: dict[str, Any]) -> str:
    settings = "".join(f"# --set {setting}\n" for setting in asked.get("settings") or [])
    return settings + str(asked.get("suite_text", ""))


def _facts(folder: Path, asked: dict[str, Any]) -> dict[str, str]:
    source = next(p for name in ("sweep.json", "rows.jsonl") if (p := folder / name).is_file())
    mode = {"paused": "in lock step", "realtime": "by the clock"}
    rows = folder / "rows.jsonl"
    return {
        "Sweep": folder.resolve().name,
        "Suite": str(asked.get("suite", "not noted")),
        "Controllers": ", ".join(asked.get("controllers") or []) or "not noted",
        "Time passes": mode.get(str(asked.get("mode")), "not noted"),
        "Begun": date_of(source),
        "Last trial": date_of(rows) if rows.is_file() else "none yet",
        "Code": str(asked.get("code", "not noted")),
    }
