"""Unpredictability of the A1's touchdowns in walk, trot and bound.

Each gait is walked in lock step, undisturbed. At every touchdown the velocity before it, the feet
that land within a knot and those that stand go to Halm and Posa's set-valued impact; the distances
between its outcomes are the spread, and s is Seghete and Murphey's measure (22).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from robots.robot import load_robot
from studies.a1.a1_touchdown.figures import cloud_figure, spread_figure
from studies.a1.a1_touchdown.runs import MeasuredTouchdown, Walked, measure, walk
from studies.study import StudyOptions, StudyResult, study

GROWTH = 1e-9  # of kinetic energy that is rounding
NOTES = (
    "jump_m_s: change of the base velocity to the mean of the outcomes. spread_m_s: largest "
    "distance of the base velocity between two outcomes, median over the touchdowns "
    "(spread_max_m_s: the largest). rms_m_s: RMS distance from the mean. spread_kinetic: spread of "
    "all velocities in the kinetic metric, over the length of the velocity before the impact.",
    "s: cosine of largest magnitude between the contact normals of a landing foot and any other "
    "foot on the ground; s_landing: among the landing feet. 0 means independent contacts.",
    "Feet that land within 10 ms land together, with the state before the first of them. If only "
    "one foot closes, and its impact closes no other, there is one outcome.",
    "The spread is that of random samples, a lower bound of the set's. orders_m_s: spread of "
    "impacts one foot after another, in every order.",
    "planner_m_s: distance of the base velocity after the planner's impact (every foot on the "
    "ground sticks) from the nearest outcome. The planner's contact point is the centre of a "
    "foot's sphere, that of the outcomes its lowest point.",
)
GAIT_NAMES = ("walk", "trot", "bound")
DURATION_S, FULL_DURATION_S = 4.0, 20.0  # of each run
SAMPLES, FULL_SAMPLES = 256, 2048  # of each touchdown
SHOWN = ("gait", "landing", "touchdowns", "jump_m_s", "spread_m_s", "spread_max_m_s",
         "spread_kinetic", "s")  # fmt: skip


def findings(walked: Sequence[Walked], impacts: Sequence[MeasuredTouchdown]) -> list[str]:
    """What the numbers say, one line each."""
    lines = [f"{each.gait}: the robot fell; touchdowns before the fall are used."
            for each in walked if each.fell]  # fmt: skip
    lines += [f"{each.gait}: no foot landed." for each in walked if not len(each.touchdowns.time)]
    if not impacts:
        return lines
    ended = min(each.outcomes.ended for each in impacts)
    growth = max(each.outcomes.energy_growth for each in impacts)
    lines.append(
        f"{len(impacts)} touchdowns: {'every' if ended == 1.0 else 'NOT every'} sampled impact "
        f"terminated, and the kinetic energy {'never grew' if growth < GROWTH else 'GREW'} in a"
        " step."
    )
    return [*lines, _widest(impacts), _correlations(impacts)]


def _widest(impacts: Sequence[MeasuredTouchdown]) -> str:
    """The widest spread of each gait, and the largest s."""
    gaits = dict.fromkeys(each.gait for each in impacts)
    spreads = {gait: max(e.spread.base for e in impacts if e.gait == gait) for gait in gaits}
    by_gait = ", ".join(f"{gait} {1e3 * spread:.2g} mm/s" for gait, spread in spreads.items())
    widest = max(impacts, key=lambda each: each.spread.base).spread
    share = widest.base / max(widest.jump, 1e-12)
    largest = max((abs(s) for e in impacts for s in e.spread.pairs.values()), default=0.0)
    return (f"Largest spread: {by_gait}; the largest of all is {share:.0%} of the jump of its "
            f"touchdown. Largest |s|: {largest:.2g}.")  # fmt: skip


def _correlations(impacts: Sequence[MeasuredTouchdown]) -> str:
    spread, speed = ([getattr(e.spread, name) for e in impacts] for name in ("base", "approach"))
    cosine = [abs(each.spread.cosine) for each in impacts]
    return (f"Rank correlation of the spread (Spearman): {_ranks(speed, spread)} with the largest "
            f"landing speed of a foot, {_ranks(cosine, spread)} with |s|.")  # fmt: skip


def _ranks(one: Sequence[float], other: Sequence[float]) -> str:
    """Spearman's rank correlation, where both vary."""
    finite = np.isfinite(one)
    a, b = np.array(one)[finite], np.array(other)[finite]
    if len(a) < 3 or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return "unknown"
    return f"{spearmanr(a, b)[0]:.2f}"


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
    rows = rows_of(impacts)
    draw = {"spread": spread_figure, "outcomes": cloud_figure} if impacts else {}
    figures = {name: function(impacts) for name, function in draw.items()}
    return StudyResult(rows, figures, (*findings(walked, impacts), *NOTES), SHOWN)


def _tick_progress(options: StudyOptions, gait: str, duration: float) -> Any:
    """Progress of a run, reported every 50 ms of its time."""
    total = round(duration * 1e3)

    def report(tick: int) -> None:
        if tick % 50 == 0:
            options.progress(tick, total, f"{gait}: run")

    return report


def rows_of(impacts: Sequence[MeasuredTouchdown]) -> list[TouchdownRow]:
    """One row for each gait and kind of touchdown."""
    rows = []
    for _, gait in groupby(impacts, key=lambda each: each.gait):
        of_gait = list(gait)
        for kind in sorted({each.kind for each in of_gait}):
            rows.append(_row([each for each in of_gait if each.kind == kind]))
    return rows


@dataclass(frozen=True)
class TouchdownRow:
    """Medians over the touchdowns of one gait and kind."""

    gait: str
    landing: str
    touchdowns: int
    standing: float
    approach_m_s: float
    jump_m_s: float
    spread_m_s: float
    spread_max_m_s: float
    rms_m_s: float
    spread_kinetic: float
    s: float | None
    s_landing: float | None
    orders_m_s: float
    planner_m_s: float
    ended: float
    energy_growth: float


def _row(impacts: Sequence[MeasuredTouchdown]) -> TouchdownRow:
    spreads = [each.spread for each in impacts]
    together = [spread.pairs[each.landing] for each, spread in zip(impacts, spreads, strict=True)
                if len(each.landing) == 2]  # fmt: skip
    return TouchdownRow(
        gait=impacts[0].gait,
        landing=impacts[0].kind,
        touchdowns=len(impacts),
        standing=float(np.mean([len(each.standing) for each in impacts])),
        approach_m_s=_median([spread.approach for spread in spreads]),
        jump_m_s=_median([spread.jump for spread in spreads]),
        spread_m_s=_median([spread.base for spread in spreads]),
        spread_max_m_s=max(spread.base for spread in spreads),
        rms_m_s=_median([spread.rms for spread in spreads]),
        spread_kinetic=_median([spread.kinetic for spread in spreads]),
        s=max((spread.cosine for spread in spreads if spread.pairs), key=abs, default=None),
        s_landing=max(together, key=abs, default=None),
        orders_m_s=_median([each.orders for each in impacts]),
        planner_m_s=_median([each.planner for each in impacts]),
        ended=min(each.outcomes.ended for each in impacts),
        energy_growth=max(each.outcomes.energy_growth for each in impacts),
    )


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))
