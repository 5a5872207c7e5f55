"""Two planners compared over the trials in which both succeeded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ttest_rel, wilcoxon

from saltus.studies.kong.table_2_1.trials import Trials

TIE = 1e-3  # of log E_a: closer than that, two solves may have ended in the same optimum


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
    pairs, apart = len(ours), ours - theirs
    if pairs == 0:
        return Comparison(np.nan, np.nan, 0, np.nan, np.nan, np.nan)
    ties, difference = float(np.mean(np.abs(apart) <= TIE)), float(np.mean(apart))
    wins = float(np.mean(apart < -TIE)) + 0.5 * ties
    if pairs < 2 or not np.any(apart):
        return Comparison(wins, ties, pairs, difference, np.nan, np.nan)
    tests: tuple[Any, Any] = (ttest_rel(ours, theirs), wilcoxon(apart))
    return Comparison(wins, ties, pairs, difference, *(float(test.pvalue) for test in tests))
