"""The planners of table 2.1 in pairs: how often one's E_a is smaller.

A share is over the trials in which both methods succeeded (pairs_N), and half of the ties are added
to it (ties_N: log E_a within 0.001, where two solves may have ended in the same optimum).
difference_N is the mean of log E_a less that of method N. t_N is the p value of Student's paired
test of it, rank_N that of Wilcoxon's signed-rank test, which is robust to a few divergent paths;
neither is corrected for the number of comparisons. The thesis does not name its paired difference
test. thesis_N is Table 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import ttest_rel, wilcoxon

from studies.figures import figure
from studies.kong.hill.methods import METHODS
from studies.kong.hill.trials import Trials, run_trials
from studies.study import Criterion, StudyOptions, StudyResult, study

TIE = 1e-3  # of log E_a: closer than that, two solves may have ended in the same optimum
ORDER = (8, 2, 4, 9, 11, 10, 3)  # of the thesis's rows and columns
SHOWN = ("method", *(str(number) for number in ORDER))  # keys in the table for a person
PRINTED = (
    (0.0, 0.66, 0.67, 0.9, 0.73, 0.67, 0.72),
    (0.34, 0.0, 0.6, 0.72, 0.63, 0.6, 0.63),
    (0.33, 0.4, 0.0, 0.5, 0.66, 0.64, 0.64),
    (0.099, 0.28, 0.5, 0.0, 0.59, 0.57, 0.57),
    (0.27, 0.37, 0.34, 0.41, 0.0, 0.51, 0.53),
    (0.33, 0.4, 0.36, 0.43, 0.49, 0.0, 0.57),
    (0.28, 0.37, 0.36, 0.42, 0.47, 0.43, 0.0),
)  # Table 2.2


class Comparison(NamedTuple):
    """One method against another, over the trials in which both succeeded; NaN where too few."""

    wins: float  # share in which the first has the smaller E_a; half of the ties are added
    ties: float  # share in which both have the same
    pairs: int
    difference: float  # mean of log E_a of the first less that of the second
    t_test: float  # p value that the mean difference is zero, Student's paired test
    rank_test: float  # p value that differences are symmetric about zero, Wilcoxon's


def compare(trials: Trials, first: int, second: int) -> Comparison:
    """Paired by trial: both had the same start and goal."""
    ours, theirs = (trials.values(number, "log_area_ratio") for number in (first, second))
    both = np.isfinite(ours) & np.isfinite(theirs)
    ours, theirs = ours[both], theirs[both]
    pairs, change = len(ours), ours - theirs
    if pairs == 0:
        return Comparison(np.nan, np.nan, 0, np.nan, np.nan, np.nan)
    ties, difference = float(np.mean(np.abs(change) <= TIE)), float(np.mean(change))
    wins = float(np.mean(change < -TIE)) + 0.5 * ties
    if pairs < 2 or not np.any(change):
        return Comparison(wins, ties, pairs, difference, np.nan, np.nan)
    tests: tuple[Any, Any] = (ttest_rel(ours, theirs), wilcoxon(change))
    return Comparison(wins, ties, pairs, difference, *(float(test.pvalue) for test in tests))


@study("Kong, table 2.2", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the seven methods of Table 2.2, with a key for each that they are compared with."""
    trials = run_trials(options, [METHODS[number - 1] for number in ORDER])
    made = rows(trials)
    options.progress(trials.count, trials.count, "figures")
    return StudyResult(
        made, {"win-fractions": draw(made)}, columns=SHOWN, digits=2, criteria=criteria(trials)
    )  # fmt: skip


def rows(trials: Trials) -> list[dict[str, Any]]:
    """Win fractions by method; pairs, ties, differences and p values beside, as ``pairs_N``."""
    made = []
    for place, number in enumerate(ORDER):
        row: dict[str, Any] = {"method": METHODS[number - 1].label}
        details: dict[str, Any] = {}
        for column, other in enumerate(ORDER):
            pair = compare(trials, number, other)
            row[str(other)] = 0.0 if other == number else _value(pair.wins)
            details[f"thesis_{other}"] = PRINTED[place][column]
            if other != number:
                details |= {
                    f"pairs_{other}": pair.pairs,
                    f"ties_{other}": _value(pair.ties),
                    f"difference_{other}": _value(pair.difference),
                    f"t_{other}": _value(pair.t_test),
                    f"rank_{other}": _value(pair.rank_test),
                }
        made.append(row | details)
    return made


def _value(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def criteria(trials: Trials) -> list[Criterion]:
    """Method 8 is ahead of every other, in more than half of the pairs."""
    return [
        Criterion(f"share of trials in which method 8 has a"
                  f" smaller E_a than {b}", compare(trials, 8, b).wins, ">", 0.5)
        for b in ORDER[1:]
    ]


def draw(made: Sequence[Mapping[str, Any]]) -> Figure:
    """Win fractions by colour; the thesis's in brackets below each."""
    drawing, axes = figure(width=5.8, height=4.6)
    shares = np.array([[row[str(n)] for n in ORDER] for row in made], dtype=np.float64)
    np.fill_diagonal(shares, np.nan)
    axes.imshow(shares, cmap="PRGn", vmin=-0.2, vmax=1.2)
    for i in range(len(ORDER)):
        for j in range(len(ORDER)):
            if np.isfinite(shares[i, j]):
                axes.text(j, i, f"{shares[i, j]:.2f}\n({PRINTED[i][j]:.2g})", ha="center",
                          va="center", fontsize=7)  # fmt: skip
    axes.set_xticks(range(len(ORDER)), [str(number) for number in ORDER])
    axes.set_yticks(range(len(ORDER)), [METHODS[number - 1].tick for number in ORDER])
    axes.set(xlabel="compared method")
    axes.set_title("share of trials in which the row's $E_a$ is smaller (thesis)", fontsize=9)
    return drawing
