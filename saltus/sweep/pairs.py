"""Two planners trial by trial: which falls less often, and which deviates less."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, wilcoxon

from saltus.common.console import print_table
from saltus.configuration.planners import PLANNERS
from saltus.sweep.conditions import Conditions
from saltus.sweep.summary import succeeded
from saltus.sweep.trials import Row

OURS = next(iter(PLANNERS))  # the planner that the others are compared with, where it ran
ALL_TRIALS = "all trials"


class Pairing(NamedTuple):
    """A planner beside a rival in the trials that both have finished.

    Attributes:
        condition: in words.
        planner, rival: by name.
        trials: number of pairs.
        only_planner, only_rival: trials passed by one of the two.
        p_success: p value of the difference in successes: McNemar's exact test.
        upright: pairs without a fall of either, with a measure.
        difference: median of the planner's measure less the rival's over these: deviation to the
            side [m], or error of the velocity of a driven robot [m/s]; None without any.
        p_difference: its p value: Wilcoxon's signed-rank test; None without any.
        p_success_holm, p_difference_holm: corrected by Holm's method for the number of conditions
            and rivals.
    """

    condition: str
    planner: str
    rival: str
    trials: int
    only_planner: int
    only_rival: int
    p_success: float
    upright: int
    difference: float | None
    p_difference: float | None
    p_success_holm: float | None = None
    p_difference_holm: float | None = None


def pair_up(rows: Iterable[Row]) -> list[Pairing]:
    """Our planner, or else the first, beside each other one, by condition and in all trials.

    Trials under different budgets are never added up.
    """
    rows = list(rows)
    conditions = Conditions(rows)
    runs = {(row["planner"], row["trial"]): row for row in rows}
    planners = list(dict.fromkeys(row["planner"] for row in rows))
    planner = OURS if OURS in planners else next(iter(planners), "")
    single, total = [], []
    for rival in (name for name in planners if name != planner):
        pairs = [(row, runs[rival, row["trial"]]) for row in rows
                 if row["planner"] == planner and (rival, row["trial"]) in runs]  # fmt: skip
        cells: dict[str, list[tuple[Row, Row]]] = {}
        sums: dict[str, list[tuple[Row, Row]]] = {}
        for pair in pairs:
            condition = conditions.of(pair[0])
            cells.setdefault(condition.words, []).append(pair)
            words = ", ".join(filter(None, (ALL_TRIALS, condition.budget_words)))
            sums.setdefault(words, []).append(pair)
        single += [_pairing(words, planner, rival, each) for words, each in cells.items()]
        if len(cells) > len(sums):
            total += [_pairing(words, planner, rival, each) for words, each in sums.items()]
    order = [condition.words for condition in conditions]
    single.sort(key=lambda pairing: order.index(pairing.condition))
    return [*_corrected(single), *_corrected(total)]


def holm(values: Sequence[float]) -> list[float]:
    """P values corrected for their number: S. Holm, Scandinavian Journal of Statistics 6 (1979)."""
    found, least = [0.0] * len(values), 0.0
    for rank, index in enumerate(np.argsort(values)):
        least = max(least, min(1.0, (len(values) - rank) * values[index]))
        found[index] = least
    return found


def _pairing(words: str, planner: str, rival: str, pairs: Sequence[tuple[Row, Row]]) -> Pairing:
    passed = np.array([[succeeded(row) for row in pair] for pair in pairs])
    only_planner = int(np.sum(passed[:, 0] & ~passed[:, 1]))
    only_rival = int(np.sum(~passed[:, 0] & passed[:, 1]))
    differing = only_planner + only_rival
    upright = [[row.get("velocity_rmse_m_s", row.get("max_lateral_deviation_m")) for row in pair]
               for pair in pairs
               if not any(row["fell"] for row in pair)]  # fmt: skip
    both = np.array([each for each in upright if None not in each], dtype=float).reshape(-1, 2)
    change = both[:, 0] - both[:, 1]
    return Pairing(
        words, planner, rival, len(pairs), only_planner, only_rival,
        float(binomtest(only_planner, differing).pvalue) if differing else 1.0,
        len(change),
        float(np.median(change)) if len(change) else None,
        float(wilcoxon(change).pvalue) if np.any(change) else 1.0 if len(change) else None,
    )  # fmt: skip


def _corrected(pairings: list[Pairing]) -> list[Pairing]:
    success = holm([each.p_success for each in pairings])
    known = [index for index, each in enumerate(pairings) if each.p_difference is not None]
    corrected = holm([pairings[index].p_difference or 0.0 for index in known])
    difference = dict(zip(known, corrected, strict=True))
    return [
        each._replace(p_success_holm=success[index], p_difference_holm=difference.get(index))
        for index, each in enumerate(pairings)
    ]  # fmt: skip


def print_pairs(rows: Iterable[Row]) -> None:
    """Print a line for each condition and rival on standard output; none without a rival.

    Trials that only one of the two passed, and the median difference of the deviations to the side
    (of a driven robot, of the velocity errors), ours less the rival's, each with its p value.
    """
    pairings = pair_up(rows)
    if pairings:
        print_table(f"{pairings[0].planner} beside each rival, trial by trial; p values by Holm", [
            {
                "condition": each.condition, "rival": each.rival, "trials": each.trials,
                "alone": f"{each.only_planner} : {each.only_rival}",
                "p": p_words(each.p_success_holm),
                "difference": "-" if each.difference is None else f"{each.difference:+.3f}",
                "p of difference": p_words(each.p_difference_holm),
            }
            for each in pairings
        ])  # fmt: skip


def p_words(p: float | None) -> str:
    """A p value as people write it."""
    if p is None:
        return "-"
    return "< 0.001" if p < 1e-3 else f"{p:.3f}"
