"""The planners of table 2.1 in pairs: how often one's E_a is smaller.

A share is over the trials in which both methods succeeded (pairs_N), and half of the ties are added
to it (ties_N: log E_a within 0.001, where two solves may have ended in the same optimum).
difference_N is the mean of log E_a less that of method N. t_N is the p value of Student's paired
test of it, rank_N that of Wilcoxon's signed-rank test, which is robust to a few divergent paths;
neither is corrected for the number of comparisons. The thesis does not name its paired difference
test. thesis_N is Table 2.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ttest_rel, wilcoxon

from studies.kong.hill import METHODS, Trials, run_trials
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

TIE = 1e-3  # of log E_a: closer than that, two solves may have ended in the same optimum
ORDER = (8, 2, 4, 9, 11, 10, 3)  # of the thesis's rows and columns


class Comparison(NamedTuple):
    """One method against another, over the trials in which both succeeded; None where too few."""

    wins: Any = None  # share in which the first has the smaller E_a, with half of the ties
    pairs: int = 0
    ties: Any = None  # share in which both have the same
    difference: Any = None  # mean of log E_a of the first less that of the second
    t: Any = None  # p value that the mean difference is zero, Student's paired test
    rank: Any = None  # p value that differences are symmetric about zero, Wilcoxon's


def compare(trials: Trials, first: int, second: int) -> Comparison:
    """Paired by trial: both had the same start and goal."""
    ours, theirs = (trials.values(number, "log_area_ratio") for number in (first, second))
    both = np.isfinite(ours) & np.isfinite(theirs)
    ours, theirs = ours[both], theirs[both]
    pairs, change = len(ours), ours - theirs
    if pairs == 0:
        return Comparison()
    ties = np.mean(np.abs(change) <= TIE)
    found = Comparison(np.mean(change < -TIE) + 0.5 * ties, pairs, ties, np.mean(change))
    if pairs < 2 or not np.any(change):
        return found
    return found._replace(t=ttest_rel(ours, theirs).pvalue, rank=wilcoxon(change).pvalue)


@study("Kong, table 2.2", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the seven methods of Table 2.2, with a key for each that they are compared with."""
    trials = run_trials(options, [METHODS[number - 1] for number in ORDER])
    columns = ", ".join(("method", *map(str, ORDER)))
    return StudyResult(rows(trials), columns=columns, criteria=criteria(trials))


def rows(trials: Trials) -> list[Row]:
    """Win fractions by method; pairs, ties, differences and p values beside, as ``pairs_N``."""
    made = []
    for number in ORDER:
        pairs = {other: compare(trials, number, other) for other in ORDER}
        row: Row = {"method": METHODS[number - 1].label}
        row |= {str(other): pair.wins if other != number else 0.0 for other, pair in pairs.items()}
        for other, pair in pairs.items():
            if other != number:
                row |= {f"{name}_{other}": v for name, v in list(pair._asdict().items())[1:]}
        made.append(row)
    return made


def criteria(trials: Trials) -> list[Criterion]:
    """Method 8 is ahead of every other, in more than half of the pairs."""
    what = "share of trials in which method 8 has a smaller E_a than"
    return [Criterion(f"{what} {b}", compare(trials, 8, b).wins, ">", 0.5) for b in ORDER[1:]]
