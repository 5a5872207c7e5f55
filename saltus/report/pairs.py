"""Planners trial by trial, and the processor time that each had for a plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltus.configuration.planners import entry_of
from saltus.report.html import Html, section, table
from saltus.report.subject import Subject
from saltus.report.tables import NONE, number, planner_name
from saltus.sweep.condition_words import budget_words
from saltus.sweep.pairs import Pairing, pair_up
from saltus.sweep.pairs_table import chance_words

CAPTION = (
    "The same trials of two planners: how many only one of them passed, with McNemar's exact test; "
    "over the trials in which neither fell, the median of {planner}'s largest deviation to the "
    "side [m] (of a driven robot, its velocity error [m/s]) less the rival's, with Wilcoxon's "
    "signed-rank test. p values are corrected by Holm's method for the number of lines, those of "
    "all trials on their own."
)
TIMES = (
    "Median processor time of a plan on all threads, over the trials. Where a plan may take a "
    "certain time, each planner works as hard as fits into it, measured before the sweep on the "
    "same computer, and in lock step its plans come as much later. One that always does the same "
    "work takes what that takes; one that cannot work less takes more."
)


def pairs_section(subject: Subject) -> Html | None:
    """Our planner beside each rival; None where there is only one planner."""
    pairings = pair_up(trial.row for trial in subject.trials)
    if not pairings:
        return None
    name = entry_of(pairings[0].planner).label
    head = ["Condition", "Rival", "Trials", f"{name} alone passed", "rival alone", "p",
            "median difference", "p"]  # fmt: skip
    body = table(head, [_line(each) for each in pairings], CAPTION.format(planner=name), words=2)
    return section(f"{name} beside each rival", body)


def times_section(subject: Subject) -> Html | None:
    """Processor times of plans; None in a sweep without budgets."""
    rows = [trial.row for trial in subject.trials if "budget_ms" in trial.row]
    if not rows:
        return None
    budgets = dict.fromkeys(row["budget_ms"] for row in rows)
    lines = [
        [planner_name(planner), *(_median([
            row["processor_ms_p50"] for row in rows
            if (row["planner"], row["budget_ms"]) == (planner, budget)
            and row.get("processor_ms_p50") is not None
        ]) for budget in budgets)]
        for planner in subject.planners
    ]  # fmt: skip
    head = ["Planner", *(f"{budget_words(budget)} [ms]" for budget in budgets)]
    return section("Processor time of a plan", table(head, lines, TIMES))


def _line(pairing: Pairing) -> list[Html | str]:
    return [
        pairing.condition, planner_name(pairing.rival), str(pairing.trials),
        str(pairing.only_planner), str(pairing.only_rival), chance_words(pairing.p_success_holm),
        number(pairing.difference, 3), chance_words(pairing.p_difference_holm),
    ]  # fmt: skip


def _median(values: Sequence[float]) -> str:
    return f"{np.median(values):.1f}" if values else NONE
