"""Counts of a report: cells of the success table, choice of trials, verdict, the thesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from runtime.checked import Array
from saltus.common.files import read_table
from saltus.configuration.planners import entry_of
from saltus.report.reading import Row, Subject, TrialRecord
from saltus.sweep import summary
from saltus.sweep.conditions import Condition

SAFE = ("hold", "stand_down", "damp")  # motor commands for want of a good plan
START = 1  # ticks of damping with which a run by the clock begins, before its first reading
_LARGE = 1.5  # lateral velocity of a push of the thesis [m/s]


class Published(NamedTuple):
    """One cell of a table of N. J. Kong's thesis.

    Attributes:
        success: trials without a fall.
        trials: in all.
        deviation: average maximum lateral deviation [m]; None where it gives none.
        remark: what else it says.
    """

    success: int
    trials: int
    deviation: float | None = None
    remark: str = ""


# By suite, kind of perturbation, planner and magnitude.
PUBLISHED = {tuple(row[:4]): Published(*row[4:]) for row in read_table(__file__, "thesis.yaml")}


class Cell(NamedTuple):
    """The trials of one planner under one condition."""

    condition: Condition
    planner: str
    trials: Sequence[TrialRecord]


def success(subject: Subject) -> list[Row]:
    """The summary of a sweep, with what the thesis has `published` for each of its rows."""

    def published(entry: Row) -> Published | None:
        magnitude = round(entry["magnitude"], 3) if subject.name == "table-6.1" else 0.0
        return PUBLISHED.get((subject.name, entry["kind"], entry["planner"], magnitude))

    entries = summary.summarise(trial.row for trial in subject.trials)
    return [entry | {"published": published(entry)} for entry in entries]


def cells(subject: Subject, trials: Sequence[TrialRecord] | None = None) -> list[Cell]:
    """Trials by condition and planner; all unless some are given."""
    trials = subject.trials if trials is None else trials
    found = summary.cells(trials, subject.conditions, lambda trial: trial.row)
    return [Cell(*each) for each in found]


def success_word(subject: Subject) -> str:
    """Word for the success of a trial: one with a distance to come has more to do."""
    return "Passed" if any("passed" in trial.row for trial in subject.trials) else "On its feet"


def safe_commands(trial: TrialRecord) -> int:
    """Ticks of a trial with a safe command; without a trace also those before the first plan."""
    if trial.trace is not None:
        return sum(trial.trace.commands.get(status, 0) for status in SAFE)
    return int(trial.row.get("not_tracking_ticks") or 0)


def worst(trials: Sequence[TrialRecord]) -> TrialRecord | None:
    """The one on its feet that came furthest to the side; None where all fell."""
    upright = [trial for trial in trials if not trial.fell]
    return max(upright, key=lambda trial: trial.deviation, default=None)


def verdict(subject: Subject) -> str:
    """The result of the sweep in a sentence or two."""
    if not subject.trials:
        return "No trial has finished yet."
    groups = {entry_of(c).label: [t for t in subject.trials if t.planner == c]
              for c in subject.planners}  # fmt: skip
    rates = [f"{name} in {sum(trial.passed for trial in own)} of {len(own)} trials"
             for name, own in groups.items()]  # fmt: skip
    furthest = {name: worst([trial for trial in own if not trial.is_driven])
                for name, own in groups.items()}  # fmt: skip
    beyond = [f"{name} {each.deviation:.2f} m" for name, each in furthest.items() if each]
    done = f"{len(subject.trials)} of {subject.expected} trials are done. "
    return (
        (done if subject.unfinished else "")
        + f"{success_word(subject)}: {'; '.join(rates)}."
        + (f" Furthest to the side without a fall: {'; '.join(beyond)}." if beyond else "")
    )


def representatives(subject: Subject) -> list[TrialRecord]:
    """One trial for each planner, the same one where they have it: its contacts and search.

    It is that of the thesis's Fig. 6.9, the earliest of the pushes of 1.5 m/s; in a suite without
    such a push the earliest of the hardest ones.
    """
    trials = [trial for trial in subject.trials if trial.has_states]
    if not trials:
        return []
    magnitudes = {trial.magnitude for trial in trials}
    most = _LARGE if _LARGE in magnitudes else max(magnitudes)
    first = min((trial for trial in trials if trial.magnitude == most),
                key=lambda trial: (trial.begin, int(trial.row["trial"])))  # fmt: skip
    return [
        min(own, key=lambda other: (other.row["trial"] != first.row["trial"],
                                    abs(other.magnitude - first.magnitude)))
        for c in subject.planners if (own := [t for t in trials if t.planner == c])
    ]  # fmt: skip


def strips(subject: Subject) -> list[TrialRecord]:
    """Trials of which film strips are made.

    Of the thesis's suite the push of Fig. 6.9 for every planner; else for each the survivor that
    came furthest to the side and the first fall.
    """
    if subject.name == "table-6.1":
        return representatives(subject)
    chosen: list[TrialRecord] = []
    for planner in subject.planners:
        own = [t for t in subject.trials if t.planner == planner and t.has_states]
        survivor = worst(own)
        chosen += [survivor] if survivor else []
        chosen += [trial for trial in own if trial.fell][:1]
    return chosen


def solve_times(trials: Sequence[TrialRecord]) -> Array:
    """Durations of the solves of several trials (n,) [ms]; recordings of lock step leave zeros."""
    return np.concatenate([t.trace.solve_ms for t in trials if t.trace] or [np.zeros(0)])


def solve_quantiles(trials: Sequence[TrialRecord]) -> list[float | None]:
    """p50, p90, p99 and longest [ms]; without traces of times, median and largest of the rows'."""
    ms = solve_times(trials)
    if (ms > 0.0).any():
        return np.percentile(ms, (50, 90, 99, 100)).tolist()
    medians, tails = ([t.row[key] for t in trials if t.row.get(key) is not None]
                      for key in ("solve_ms_p50", "solve_ms_p99"))  # fmt: skip
    return [float(np.median(medians)) if medians else None, None, max(tails, default=None), None]


def statuses(trials: Sequence[TrialRecord]) -> Counter[str]:
    """Plans by status; from the rows where there are no traces."""
    total, keys = Counter[str](), {"failed": "plans_failed", "time_limit": "plans_late"}
    for trial in trials:
        known = {status: trial.row.get(key) or 0 for status, key in keys.items()}
        total.update(trial.trace.statuses if trial.trace else known)
    return total


def commands(trials: Sequence[TrialRecord]) -> Counter[str]:
    """Motor commands by status, of the trials with traces."""
    return sum((Counter(each.trace.commands) for each in trials if each.trace), Counter[str]())
