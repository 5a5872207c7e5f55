"""The planners of table 2.1 in pairs: how often one's E_a is smaller.

A share is over the trials in which both methods succeeded (pairs_N), and half of the ties are added
to it (ties_N: log E_a within 0.001, where two solves may have ended in the same optimum).
difference_N is the mean of log E_a less that of method N. t_N is the p value of Student's paired
test of it, rank_N that of Wilcoxon's signed-rank test, which is robust to a few divergent paths;
neither is corrected for the number of comparisons. The thesis does not name its paired difference
test. thesis_N is Table 2.2.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import ttest_rel, wilcoxon

from studies.kong.hill import METHODS, Trials, run_trials
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

TIE = 1e-3  # of log E_a: closer than that, two solves may have ended in the same optimum
ORDER = (8, 2, 4, 9, 11, 10, 3)  # of the thesis's rows and columns


def compare(trials: Trials, first: int, second: int) -> Row:
    """One method against another over the trials that both solved; None where they are too few.

    Paired by trial: both had the same start and goal. ``difference`` is the mean of log E_a of the
    first less that of the second; ``t`` and ``rank`` are p values.
    """
    ours, theirs = (trials[number]["log_area_ratio"] for number in (first, second))
    both = np.isfinite(ours) & np.isfinite(theirs)
    ours, theirs = ours[both], theirs[both]
    change = ours - theirs
    found: Row = {"wins": None, "pairs": len(ours), "ties": None, "difference": None, "t": None,
                  "rank": None}  # fmt: skip
    if len(ours):
        ties = np.mean(np.abs(change) <= TIE)
        wins = np.mean(change < -TIE) + 0.5 * ties
        found |= {"wins": wins, "ties": ties, "difference": np.mean(change)}
    if len(ours) > 1 and np.any(change):
        found |= {"t": ttest_rel(ours, theirs).pvalue, "rank": wilcoxon(change).pvalue}
    return found


@study("Kong, table 2.2", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the seven methods of Table 2.2, with a key for each that they are compared with.

    Win fractions by method; pairs, ties, differences and p values beside, as ``pairs_N``. Method 8
    shall be ahead of every other, in more than half of the pairs.
    """
    trials, rows = run_trials(options, [METHODS[number - 1] for number in ORDER]), list[Row]()
    for number in ORDER:
        pairs = {other: compare(trials, number, other) for other in ORDER}
        row: Row = {"method": METHODS[number - 1].label}
        row |= {str(other): pair["wins"] for other, pair in pairs.items()} | {str(number): 0.0}
        for other in ORDER:
            wins, *beside = pairs[other].items()
            row |= {f"{name}_{other}": v for name, v in beside if other != number}
        rows.append(row)
    what = "share of trials in which method 8 has a smaller E_a than"
    criteria = [Criterion(f"{what} {b}", rows[0][str(b)], ">", 0.5) for b in ORDER[1:]]
    columns = ", ".join(("method", *map(str, ORDER)))
    return StudyResult(rows, columns=columns, criteria=criteria)
