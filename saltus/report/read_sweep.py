"""Reads the folder of a sweep: what was asked, the rows so far, and the traces."""

from __future__ import annotations

import shlex
from pathlib import Path

from saltus.folders import data_folder, is_file
from saltus.report.read_run import date_of
from saltus.report.subject import Row, Subject, Trial
from saltus.report.sweep_files import Asked, read_asked, read_rows
from saltus.trace import Trace, load_trace
from sim_bridge.suites import SuiteError, parse_suite


def is_sweep(folder: Path) -> bool:
    """Whether the folder holds a sweep."""
    return is_file(folder / "sweep.json") or is_file(folder / "rows.jsonl")


def read_sweep(folder: Path) -> Subject:
    """A sweep as a report's subject; what is not there is named in its ``missing``."""
    found = read_asked(folder)
    asked = found or Asked()
    missing = [] if found else [
        "The sweep's description (sweep.json) is missing or broken, so that nothing is said about "
        "its suite, code and settings."
    ]  # fmt: skip
    rows, others = read_rows(folder)
    if others:
        missing.append(f"{others} line(s) of rows.jsonl are no rows: left out.")
    traces = [_trace(folder, row) for row in rows]
    trials = [Trial(row, trace) for row, trace in zip(rows, traces, strict=True)]
    subject = Subject(
        "sweep", folder, asked.suite or folder.resolve().name, _facts(folder, asked),
        _settings(asked), trials, _expected(asked), missing, asked.mode == "paused",
    )  # fmt: skip
    missing += _lacking(subject, asked)
    return subject


def _trace(folder: Path, row: Row) -> Trace | None:
    try:
        return load_trace(folder / "traces" / f"{row['controller']}-{row['trial']}.npz")
    except (OSError, ValueError):
        return None


def _lacking(subject: Subject, asked: Asked) -> list[str]:
    again = f"run `{_command(subject.folder, asked)}`: it goes on where it stopped"
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


def _command(folder: Path, asked: Asked) -> str:
    """What runs the trials that are lacking, as far as the sweep says so."""
    controller = asked.controllers[0] if len(asked.controllers) == 1 else "all"
    ours = is_file(data_folder("config") / f"{asked.suite}.yaml")
    suite = asked.suite if ours else f"{asked.suite or 'SUITE'}.yaml"
    words = ["saltus", "perturb", suite, "--controller", controller]
    words += ["--mode", asked.mode or "paused"]
    words += [word for setting in asked.settings for word in ("--set", setting)]
    return shlex.join([*words, "--output", str(folder)])


def _expected(asked: Asked) -> int | None:
    """Trials of the whole suite, for all controllers of the sweep."""
    try:
        groups = parse_suite(asked.suite_text)
    except SuiteError:
        return None
    return sum(len(g.trials) * g.seeds for g in groups) * len(asked.controllers) or None


def _settings(asked: Asked) -> str:
    return "".join(f"# --set {setting}\n" for setting in asked.settings) + asked.suite_text


def _facts(folder: Path, asked: Asked) -> dict[str, str]:
    source = next(p for name in ("sweep.json", "rows.jsonl") if (p := folder / name).is_file())
    mode = {"paused": "in lock step", "realtime": "by the clock"}
    rows = folder / "rows.jsonl"
    return {
        "Sweep": folder.resolve().name,
        "Suite": asked.suite or "not noted",
        "Controllers": ", ".join(asked.controllers) or "not noted",
        "Time passes": mode.get(asked.mode, "not noted"),
        "Begun": date_of(source),
        "Last trial": date_of(rows) if rows.is_file() else "none yet",
        "Code": asked.code or "not noted",
    }
