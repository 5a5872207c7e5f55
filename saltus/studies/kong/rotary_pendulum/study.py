"""Rotary cart pole: 2.6, figures 2.4 to 2.10.

The thesis prints no durations, weights or results in numbers, and its figures 2.7 and 2.8 are of
hardware. What it says in words is looked for here: that the convergent swing-up comes back from
more of the perturbations of 2.6.5 than the smooth one of minimal energy.
"""

from __future__ import annotations

from saltus.studies.engine import StudyOptions, StudyResult
from saltus.studies.kong.rotary_pendulum.cases import (
    BASE,
    Case,
    Solved,
    evaluate,
    family,
    smooth_again,
    solve,
)
from saltus.studies.kong.rotary_pendulum.figures import figures
from saltus.studies.kong.rotary_pendulum.notes import (
    choices,
    criteria,
    failures,
    family_notes,
    swing_note,
    verdict,
)

TRIALS = 50  # machines that track each plan
SHOWN = {
    "trajectory": "trajectory",
    "case": "case",
    "success": "success",
    "swing_time": "swing [s]",
    "success_swinging": "success swinging",
    "average_divergence": "D_a [1/s]",
    "tracked": "tracked",
}  # keys in the table for a person, and their headings


def run(options: StudyOptions) -> StudyResult:
    """Rows: the three swing-ups of the base; with ``full``, of a family around it as well."""
    trials = options.trials or TRIALS
    cases = [BASE, *(family() if options.full else [])]
    total, done = 3 * len(cases) + options.full, 0

    def report(what: str) -> None:
        nonlocal done
        done += 1
        options.progress(done, total, what)

    solved = {case.name: solve(case, trials, options.seed, report) for case in cases}
    rows = [entry.row for entries in solved.values() for entry in entries.values()]
    base = solved[BASE.name]
    if options.full and base["convergent"].swing.ok:
        again = _again(BASE, base["convergent"], trials, options.seed)
        report("base: smooth, seeded by the convergent one")
        rows.insert(3, again.row)
    whole = family_notes(rows) if options.full else ()
    closing = [verdict(rows), *swing_note(rows), *whole, *failures(rows), *choices(base)]
    return StudyResult(
        rows, figures(base), closing, SHOWN, digits=3, criteria=criteria(rows)
    )


def _again(case: Case, convergent: Solved, trials: int, seed: int) -> Solved:
    swing, seconds = smooth_again(case, convergent.swing)
    return evaluate(case, "smooth_from_convergent", swing, seconds, trials, seed)
