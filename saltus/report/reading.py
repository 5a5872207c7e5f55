"""Contents of the page of a sweep: facts, rows, traces."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from saltus.common.errors import BadRequest
from saltus.common.files import is_file
from saltus.configuration.planners import PlannerEntry, entry_of, in_order
from saltus.launch.lock_step import AFTER_FALL_S
from saltus.launch.trace import Trace, load_trace, trace_path
from saltus.sweep.conditions import Conditions, magnitude_of
from saltus.sweep.folder import SweepDescription, read_description, read_rows
from saltus.sweep.summary import succeeded
from sim_bridge.terrain_options import Terrain

Row = dict[str, Any]


@dataclass(frozen=True)
class TrialRecord:
    """One run of the robot.

    Attributes:
        row: with the keys of a sweep's rows.
        trace: None where there is none.
    """

    row: Row
    trace: Trace | None = None

    @property
    def planner(self) -> str:
        """Name of the planner."""
        return str(self.row["planner"])

    @property
    def entry(self) -> PlannerEntry:
        """Label and colour of its planner."""
        return entry_of(self.planner)

    @property
    def label(self) -> str:
        """Planner and number, for people."""
        return f"{self.entry.label}, trial {self.row['trial']}"

    @property
    def has_states(self) -> bool:
        """Whether its trace holds states."""
        return self.trace is not None and len(self.trace.time) > 1

    @property
    def pushed(self) -> bool:
        """Whether its trace knows a perturbation."""
        return self.trace is not None and bool(self.trace.events)

    @property
    def fell(self) -> bool:
        """True when the robot fell, or its trial broke off."""
        return bool(self.row["fell"])

    @property
    def passed(self) -> bool:
        """See `succeeded`."""
        return succeeded(self.row)

    @property
    def deviation(self) -> float:
        """Maximum lateral deviation [m]; NaN where it is not known."""
        value = self.row.get("max_lateral_deviation_m")
        return float("nan") if value is None else float(value)

    @property
    def is_driven(self) -> bool:
        """Whether commands came on the way: then it has a driven robot's measures."""
        return "velocity_rmse_m_s" in self.row

    @property
    def magnitude(self) -> float:
        """Length of the perturbation's value, [m/s] for a jump of velocity; 0 without one."""
        return magnitude_of(self.row)

    @property
    def robot(self) -> str:
        """Robot of the trial."""
        return self.row.get("robot", "a1")

    @property
    def terrain(self) -> Terrain:
        """The ground that the robot walked on."""
        return msgspec.convert(self.row.get("terrain", "flat"), Terrain)

    @property
    def begin(self) -> float:
        """Begin of the first perturbation [s]; 0 without one."""
        if self.trace is not None and self.trace.events:
            return float(min(self.trace.events))
        return float(self.row.get("at") or 0.0)

    @property
    def fall_time(self) -> float | None:
        """Time of the robot's fall [s]; None where it did not fall, or where no trace says."""
        if not self.fell or self.trace is None or not len(self.trace.time):
            return None
        # A sweep's trial goes on for a fixed time after a fall and ends.
        return float(self.trace.time[-1] - AFTER_FALL_S)


@dataclass(frozen=True)
class Subject:
    """A sweep.

    Attributes:
        folder: where it was read from.
        name: of the suite.
        facts: what was run, when, with which code: names and values, in order.
        settings: the whole suite, as YAML text.
        trials: those that have finished, by planner.
        expected: number of trials of the whole sweep; None where it is unknown.
        missing: one sentence for each thing that is not there, with how to get it.
        in_lock_step: the robot waited for its planner.
    """

    folder: Path
    name: str
    facts: dict[str, str]
    settings: str
    trials: Sequence[TrialRecord]
    expected: int | None = None
    missing: list[str] = field(default_factory=list)
    in_lock_step: bool = False

    @property
    def planners(self) -> list[str]:
        """Planners that have a trial, in the page's order."""
        return list(dict.fromkeys(trial.planner for trial in self.trials))

    @cached_property
    def conditions(self) -> Conditions:
        """Conditions that the trials repeat."""
        return Conditions(trial.row for trial in self.trials)

    @property
    def unfinished(self) -> bool:
        """True when trials are known to be lacking."""
        return self.expected is not None and len(self.trials) < self.expected


PASSES = {"paused": "in lock step", "realtime": "in real time"}


def date_of(path: Path) -> str:
    """Time of a file's last change, in the machine's own zone."""
    return datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m-%d %H:%M")


def is_sweep(folder: Path) -> bool:
    """Whether the folder holds a sweep."""
    return is_file(folder / "sweep.json") or is_file(folder / "rows.jsonl")


def read_sweep(folder: Path) -> Subject:
    """A sweep as a report's subject; what is not there is named in its ``missing``.

    Raises:
        BadRequest: all rows are of another version.
    """
    asked, lines, missing = SweepDescription(), list[Row | None](), list[str]()
    try:
        asked = read_description(folder)
    except (OSError, ValueError):
        missing.append("The sweep's description (sweep.json) is missing or damaged: its suite, "
                       "code and settings are not known.")  # fmt: skip
    with suppress(OSError):
        lines = read_rows(folder)
    # Of two rows of one trial the later counts, as it does where a sweep goes on.
    rows = {(row["planner"], row["trial"]): row for row in lines if row}
    if lines and not rows:
        raise BadRequest(
            f"{folder}: rows.jsonl has no row of this version of Saltus; run the sweep again"
        )
    if others := lines.count(None):
        missing.append(f"{others} line(s) of rows.jsonl are damaged and left out.")
    order = in_order({planner for planner, _ in rows}).index
    trials = [TrialRecord(row, _trace(folder, row))
              for row in sorted(rows.values(), key=lambda row: order(row["planner"]))]  # fmt: skip
    subject = Subject(
        folder, asked.suite or folder.resolve().name, _facts(folder, asked),
        "".join(f"# --set {setting}\n" for setting in asked.settings) + asked.suite_text, trials,
        sum(map(len, asked.trials.values())) or None, missing, asked.mode == "paused",
    )  # fmt: skip
    missing += _lacking(subject, asked)
    return subject


def _trace(folder: Path, row: Row) -> Trace | None:
    try:
        return load_trace(trace_path(folder, row["planner"], row["trial"]))
    except (OSError, ValueError):
        return None


def _lacking(subject: Subject, asked: SweepDescription) -> list[str]:
    output = f" --output {shlex.quote(str(subject.folder))}"
    again = " and ".join(f"`{command}{output}`" for command in asked.commands)
    again = f"run {again or 'the same command again'}: it goes on where it stopped"
    sentences: list[str] = []
    done = len(subject.trials)
    if subject.unfinished or not done:
        sentences.append(f"{done} of {subject.expected or 'the'} requested trials are finished; "
                         f"for the others, {again}.")  # fmt: skip
    without = sum(trial.trace is None for trial in subject.trials)
    if without:
        sentences.append(
            f"{without} of {len(subject.trials)} trials have no readable trace in traces/, so they "
            "are in the tables and not in the figures. Only paused sweeps leave traces."
        )
    return sentences


def _facts(folder: Path, asked: SweepDescription) -> dict[str, str]:
    source = next(p for name in ("sweep.json", "rows.jsonl") if (p := folder / name).is_file())
    rows = folder / "rows.jsonl"
    return {
        "Sweep": folder.resolve().name,
        "Suite": asked.suite or "not noted",
        "Planners": ", ".join(asked.trials) or "not noted",
        "Time passes": PASSES.get(asked.mode, "not noted"),
        "Begun": date_of(source),
        "Last trial": date_of(rows) if rows.is_file() else "none yet",
        "Code": asked.code or "not noted",
    }
