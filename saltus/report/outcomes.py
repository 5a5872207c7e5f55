"""Success rates: cells of the success table, and the verdict in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from saltus.configuration.planners import entry_of
from saltus.report.subject import Subject, TrialRecord
from saltus.sweep.conditions import Condition
from saltus.sweep.summary import wilson_interval

SAFE = ("hold", "stand_down", "damp")  # motor commands for want of a good plan
START = 1  # ticks of damping with which a run by the clock begins, before its first reading
UNTRACED = "of trials without a trace, ticks before the first plan count as well"


class Cell(NamedTuple):
    """The trials of one planner under one condition."""

    condition: Condition
    planner: str
    trials: Sequence[TrialRecord]

    @property
    def upright(self) -> list[TrialRecord]:
        """Those without a fall."""
        return [trial for trial in self.trials if not trial.fell]

    @property
    def passed(self) -> int:
        """How many succeeded."""
        return sum(trial.passed for trial in self.trials)

    @property
    def deviation(self) -> float | None:
        """Mean maximum lateral deviation of the trials without a fall [m]; None without one."""
        return _mean([trial.deviation for trial in self.upright])

    @property
    def deviation_of_all(self) -> float | None:
        """Mean maximum lateral deviation of all trials, fallen ones up to their end [m]."""
        return _mean([trial.deviation for trial in self.trials])

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the share of trials that succeeded."""
        return wilson_interval(self.passed, len(self.trials))


def cells(subject: Subject, trials: Sequence[TrialRecord] | None = None) -> list[Cell]:
    """Trials by condition, in the order of the suite, and by planner; all unless some are given."""
    members: dict[tuple[str, str], list[TrialRecord]] = {}
    for trial in subject.trials if trials is None else trials:
        key = subject.conditions.of(trial.row).key, trial.planner
        members.setdefault(key, []).append(trial)
    return [
        Cell(condition, planner, members[condition.key, planner])
        for condition in subject.conditions for planner in subject.planners
        if (condition.key, planner) in members
    ]  # fmt: skip


def success_word(subject: Subject) -> str:
    """What a trial that succeeded is called: one with a distance to come has more to do."""
    return "Passed" if any("passed" in trial.row for trial in subject.trials) else "On its feet"


def verdict(subject: Subject) -> str:
    """What a person wants to know first, in a sentence or two."""
    if not subject.trials:
        return "No trial has finished yet."
    told = _of_run(subject.trials[0]) if subject.kind == "run" else _of_sweep(subject)
    if subject.kind == "sweep" and subject.unfinished:
        return f"{len(subject.trials)} of {subject.expected} trials are done. {told}"
    return told


def safe_commands(trial: TrialRecord) -> int:
    """Ticks of a trial with a safe command; without a trace also those before the first plan."""
    if trial.trace is not None:
        return sum(trial.trace.commands.get(status, 0) for status in SAFE)
    return int(trial.row.get("not_tracking_ticks") or 0)


def _of_run(trial: TrialRecord) -> str:
    name, side = entry_of(trial.planner).label, _metres(trial.deviation)
    came = "" if trial.is_driven else f"; it came at most {side} to the side"
    end = f"The run broke off {trial.broke_off}." if trial.broke_off else ""
    problems = f"Problems: {trial.problems}." if trial.problems else ""
    if trial.fell:
        at = "" if trial.fall_time is None else f" at {trial.fall_time:.2f} s"
        first = f"With {name} the robot fell{at}{came}."
    elif trial.broke_off:
        first, end = f"With {name} the run broke off {trial.broke_off}{came}.", ""
    else:
        first = f"With {name} the robot stayed on its feet{came}."
    return " ".join(filter(None, (problems, first, end)))


def _of_sweep(subject: Subject) -> str:
    rates = [_rate(subject, planner) for planner in subject.planners]
    furthest = [_furthest(subject, planner) for planner in subject.planners]
    beyond = [text for text in furthest if text]
    told = f"{success_word(subject)}: {'; '.join(rates)}."
    return told + (f" Furthest to the side without a fall: {'; '.join(beyond)}." if beyond else "")


def _rate(subject: Subject, planner: str) -> str:
    own = [trial for trial in subject.trials if trial.planner == planner]
    passed = sum(trial.passed for trial in own)
    return f"{entry_of(planner).label} in {passed} of {len(own)} trials"


def _furthest(subject: Subject, planner: str) -> str:
    own = [trial.deviation for trial in subject.trials
           if trial.planner == planner and not (trial.fell or trial.is_driven)]  # fmt: skip
    return f"{entry_of(planner).label} {_metres(max(own))}" if own else ""


def _metres(value: float) -> str:
    return "an unknown distance" if np.isnan(value) else f"{value:.2f} m"


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
