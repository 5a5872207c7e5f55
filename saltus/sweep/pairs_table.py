"""Pairs of planners as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from saltus.common.console import print_table
from saltus.sweep.pairs import Pairing, pair_up
from saltus.sweep.trials import Row


def print_pairs(rows: Iterable[Row]) -> None:
    """Print a line for each condition and rival on standard output; none without a rival.

    Trials that only one of the two passed, and the median difference of the deviations to the side
    (of a driven robot, of the velocity errors), ours less the rival's, each with its p value.
    """
    pairings = pair_up(rows)
    if pairings:
        print_table(f"{pairings[0].planner} beside each rival, trial by trial; p values by Holm",
                    [_line(pairing) for pairing in pairings])  # fmt: skip


def _line(pairing: Pairing) -> dict[str, str]:
    difference = pairing.difference
    return {
        "condition": pairing.condition,
        "rival": pairing.rival,
        "trials": str(pairing.trials),
        "alone": f"{pairing.only_planner} : {pairing.only_rival}",
        "p": chance_words(pairing.p_success_holm),
        "difference": "-" if difference is None else f"{difference:+.3f}",
        "p of difference": chance_words(pairing.p_difference_holm),
    }


def chance_words(chance: float | None) -> str:
    """A p value as people write it."""
    if chance is None:
        return "-"
    return "< 0.001" if chance < 1e-3 else f"{chance:.3f}"
