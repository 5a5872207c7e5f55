"""Reads the folder of a sweep: what was asked, the rows so far, and the traces."""

from __future__ import annotations

import shlex
from pathlib import Path

from saltus.common.folders import data_folder, is_file
from saltus.configuration.planners import ALL, planners_in_words
from saltus.report.read_run import date_of
from saltus.report.subject import Row, Subject, TrialRecord
from saltus.report.sweep_files import SweepDescription, read_description, read_rows
from saltus.trace import Trace, load_trace, trace_path
from sim_bridge.suites import SuiteError, parse_suite


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
    """Options for these trials of the suite: none for all, whole groups where they are, numbers."""
    try:
        suite = parse_suite(asked.suite_text)
    except SuiteError:
        return []
    groups: dict[str, list[int]] = {}
    for group in suite:
        first = sum(map(len, groups.values()))
        mine = groups.setdefault(group.name, [])
        mine += range(first, first + len(group.trials) * group.seeds)
    count = sum(map(len, groups.values()))
    numbers = sorted({number % count for number in numbers})  # of each budget they come once more
    if not numbers or len(numbers) == count:
        return []
    named = [name for name, mine in groups.items() if set(mine) <= set(numbers)]
    if sum(len(groups[name]) for name in named) == len(numbers):
        return [word for name in named for word in ("--group", name)]
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
