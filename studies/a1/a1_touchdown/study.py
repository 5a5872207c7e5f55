"""Unpredictability of the A1's touchdowns in walk, trot and bound.

Each gait is walked in lock step, undisturbed. At every touchdown the velocity before it, the feet
that land within 10 ms, with the state before the first of them, and those that stand go to Halm and
Posa's set-valued impact. If only one foot closes, and its impact closes no other, there is one
outcome. ended is the share of sampled impacts that terminated.

jump_m_s: change of the base velocity to the mean of the outcomes. spread_m_s: largest distance of
the base velocity between two outcomes, median over the touchdowns (spread_max_m_s: the largest); of
random samples, a lower bound of the set's. rms_m_s: RMS distance from the mean. spread_kinetic:
spread of all velocities in the kinetic metric, over the length of the velocity before the impact.
orders_m_s: spread of impacts one foot after another, in every order. planner_m_s: distance of the
base velocity after the planner's impact (every foot on the ground sticks) from the nearest outcome.
The planner's contact point is the centre of a foot's sphere, that of the outcomes its lowest point.

s: cosine of largest magnitude between the contact normals of a landing foot and any other foot on
the ground, Seghete and Murphey's (22); s_landing: among the landing feet. 0 means independent
contacts. rank_approach, rank_s: Spearman's correlation of the spread of all touchdowns with the
largest landing speed of a foot, and with |s|.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from robots.robot import load_robot
from studies.a1.a1_touchdown.figures import cloud_figure, spread_figure
from studies.a1.a1_touchdown.runs import MeasuredTouchdown, measure, walk
from studies.study import StudyOptions, StudyResult, study

GAIT_NAMES = ("walk", "trot", "bound")
DURATION_S, FULL_DURATION_S = 4.0, 20.0  # of each run
SAMPLES, FULL_SAMPLES = 256, 2048  # of each touchdown
SHOWN = ("gait", "landing", "touchdowns", "jump_m_s", "spread_m_s", "spread_max_m_s",
         "spread_kinetic", "s", "ended", "energy_growth", "fell")  # fmt: skip


@study("the A1 in simulation", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: gait, feet that land, and medians over the touchdowns of that kind.

    ``options.trials`` is the number of samples of each touchdown.
    """
    samples = options.count(SAMPLES, FULL_SAMPLES)
    duration = FULL_DURATION_S if options.full else DURATION_S
    walked, impacts = [], []
    for gait in GAIT_NAMES:
        walked.append(walk(gait, duration, options.seed, _tick_progress(options, gait, duration)))
        impacts += measure(load_robot("a1"), walked[-1], samples, options)
    fell = {each.gait: each.fell for each in walked}
    rows = [row | {"fell": fell[row["gait"]]} | ranks(impacts) for row in rows_of(impacts)]
    draw = {"spread": spread_figure, "outcomes": cloud_figure} if impacts else {}
    figures = {name: function(impacts) for name, function in draw.items()}
    notes = [f"{each.gait}: no foot landed" for each in walked if not len(each.touchdowns.time)]
    return StudyResult(rows, figures, notes, SHOWN)


def ranks(impacts: Sequence[MeasuredTouchdown]) -> dict[str, float | None]:
    """Spearman's rank correlations of the spread; None where not both vary."""
    spread = np.array([each.spread.base for each in impacts])
    found: dict[str, float | None] = {}
    for key, name in (("rank_approach", "approach"), ("rank_s", "cosine")):
        other = np.abs([getattr(each.spread, name) for each in impacts])
        a, b = other[np.isfinite(other)], spread[np.isfinite(other)]
        varies = len(a) > 2 and np.ptp(a) > 0.0 and np.ptp(b) > 0.0
        found[key] = float(spearmanr(a, b)[0]) if varies else None
    return found


def _tick_progress(options: StudyOptions, gait: str, duration: float) -> Any:
    """Progress of a run, reported every 50 ms of its time."""
    total = round(duration * 1e3)

    def report(tick: int) -> None:
        if tick % 50 == 0:
            options.progress(tick, total, f"{gait}: run")

    return report


def rows_of(impacts: Sequence[MeasuredTouchdown]) -> list[dict[str, Any]]:
    """One row for each gait and kind of touchdown."""
    rows = []
    for _, gait in groupby(impacts, key=lambda each: each.gait):
        of_gait = list(gait)
        for kind in sorted({each.kind for each in of_gait}):
            rows.append(_row([each for each in of_gait if each.kind == kind]))
    return rows


def _row(impacts: Sequence[MeasuredTouchdown]) -> dict[str, Any]:
    spreads = [each.spread for each in impacts]
    together = [spread.pairs[each.landing] for each, spread in zip(impacts, spreads, strict=True)
                if len(each.landing) == 2]  # fmt: skip
    return {
        "gait": impacts[0].gait,
        "landing": impacts[0].kind,
        "touchdowns": len(impacts),
        "standing": float(np.mean([len(each.standing) for each in impacts])),
        "approach_m_s": _median([spread.approach for spread in spreads]),
        "jump_m_s": _median([spread.jump for spread in spreads]),
        "spread_m_s": _median([spread.base for spread in spreads]),
        "spread_max_m_s": max(spread.base for spread in spreads),
        "rms_m_s": _median([spread.rms for spread in spreads]),
        "spread_kinetic": _median([spread.kinetic for spread in spreads]),
        "s": max((spread.cosine for spread in spreads if spread.pairs), key=abs, default=None),
        "s_landing": max(together, key=abs, default=None),
        "orders_m_s": _median([each.orders for each in impacts]),
        "planner_m_s": _median([each.planner for each in impacts]),
        "ended": min(each.outcomes.ended for each in impacts),
        "energy_growth": max(each.outcomes.energy_growth for each in impacts),
    }


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))
