"""Random hybrid systems simulated here and by SciPy's `solve_ivp` with events: who disagrees.

A disagreement is a simulation of ours with the status "ok" whose events, modes, times or end differ
from SciPy's by more than SciPy differs from itself (`scipy_judgement`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from saltus.studies.engine import Criterion, StudyOptions, StudyResult
from saltus.studies.numerics.scipy_comparison.judgement import Comparison, compare
from saltus.studies.numerics.scipy_comparison.problems import WAYS
from saltus.sweep.parallel import backend_ready, default_jobs, run_all

TRIALS, ALL_TRIALS = 2000, 20_000
CHUNK = 25  # trials that a process does in one go
STATUSES = (
    "ok", "zeno", "inside_guard", "ambiguous", "grazing", "too_stiff", "not_finite",
    "wrong_dimension",
)  # fmt: skip
SHOWN = ("way", "trials", "ok", "zeno", "refused", "sensitive", "disagreements", "worst")
LEAST_OK, MOST_REFUSED, MOST_SENSITIVE = 0.9, 0.005, 0.005  # shares of the trials


def run(options: StudyOptions) -> StudyResult:
    """Rows ``way, trials, ok, <other statuses>, refused, sensitive, disagreements, worst, seeds``.

    A trial's problem depends on the seed and on the trial's number alone: ``compare(seed, number)``
    of `scipy_judgement` repeats one of ``seeds``.
    """
    count = options.trials or (ALL_TRIALS if options.full else TRIALS)
    results = compare_all(options, count)
    rows = [row(way, [each for each in results if each.way == way]) for way in WAYS]
    total = row("all", results)
    criteria = [
        Criterion("disagreements", float(total["disagreements"]), "<=", 0.0),
        Criterion("share with the status ok", total["ok"] / count, ">=", LEAST_OK),
        Criterion("share refused", total["refused"] / count, "<=", MOST_REFUSED),
        Criterion("share too sensitive to judge", total["sensitive"] / count, "<=", MOST_SENSITIVE),
    ]
    notes = [
        "Tolerances are 1e-6, 1e-8 or 1e-10, relative; worst is the largest difference over what"
        " is allowed, among trials that agree. Refused: a status other than ok where SciPy reaches"
        " the end. Sensitive: SciPy's own events change within those tolerances.",
    ]
    if total["seeds"]:
        notes.append(
            f"Disagreements, each to be repeated by compare({options.seed}, trial) of"
            f" {compare.__module__}: {', '.join(map(str, total['seeds']))}."
        )
    return StudyResult([*rows, total], notes=notes, shown=SHOWN, criteria=criteria)


def compare_all(options: StudyOptions, count: int) -> list[Comparison]:
    """Every trial, in order; on all cores."""
    first = range(0, count, CHUNK)
    compare(options.seed, 0)  # what is compiled here is kept where the processes find it
    results: list[Comparison] = []
    work = partial(_chunk, options.seed, count)
    with backend_ready("loky", None, default_jobs("loky")):
        for part in run_all(work, list(first)):
            results += part
            wrong = sum(each.verdict == "disagrees" for each in results)
            options.progress(len(results), count, f"trials, {wrong} disagreements")
    return sorted(results)


def row(way: str, results: Sequence[Comparison]) -> dict[str, Any]:
    """Statuses, verdicts and the trials that disagree."""
    statuses = Counter(each.status for each in results)
    verdicts = Counter(each.verdict for each in results)
    agreeing = [each.excess for each in results if each.verdict == "agrees"]
    return {
        "way": way,
        "trials": len(results),
        **{status: statuses.pop(status, 0) for status in STATUSES},
        "other": statuses.total(),
        "refused": verdicts["refused"],
        "sensitive": verdicts["sensitive"],
        "disagreements": verdicts["disagrees"],
        "worst": max(agreeing, default=0.0),
        "seeds": [each.trial for each in results if each.verdict == "disagrees"],
    }


def _chunk(seed: int, count: int, first: int) -> list[Comparison]:
    return [compare(seed, trial) for trial in range(first, min(first + CHUNK, count))]
