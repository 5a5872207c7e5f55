"""How unpredictable the A1's touchdowns are: walk, trot and bound, each foot or pair that lands.

Each gait is walked in lock step, undisturbed. At every touchdown the velocity before it, the feet
that land within a knot and those that stand go to Halm and Posa's set-valued impact; the distances
between its outcomes are the spread, and s is Seghete and Murphey's measure (22).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from robots.a1.pinocchio_model import load_pinocchio
from saltus.studies.a1.touchdown.figures import cloud_figure, spread_figure
from saltus.studies.a1.touchdown.notes import NOTES, verdicts
from saltus.studies.a1.touchdown.runs import Measured, measure, walk
from saltus.studies.engine import StudyOptions, StudyResult

GAIT_NAMES = ("walk", "trot", "bound")
DURATION_S, FULL_DURATION_S = 4.0, 20.0  # of each run
SAMPLES, FULL_SAMPLES = 256, 2048  # of each touchdown
SHOWN = ("gait", "landing", "touchdowns", "jump_m_s", "spread_m_s", "spread_max_m_s",
         "spread_kinetic", "s")  # fmt: skip


def run(options: StudyOptions) -> StudyResult:
    """Rows: gait, feet that land, and medians over the touchdowns of that kind.

    ``options.trials`` is the number of samples of each touchdown.
    """
    samples = options.trials or (FULL_SAMPLES if options.full else SAMPLES)
    duration = FULL_DURATION_S if options.full else DURATION_S
    model, walked, found = load_pinocchio(), [], []
    for gait in GAIT_NAMES:
        walked.append(walk(gait, duration, options.seed, _ticks(options, gait, duration)))
        found += measure(model, walked[-1], samples, options)
    rows = rows_of(found)
    figures = {"spread": spread_figure(found), "outcomes": cloud_figure(found)} if found else {}
    return StudyResult(rows, figures, (*verdicts(walked, found), *NOTES), SHOWN)


def _ticks(options: StudyOptions, gait: str, duration: float) -> Any:
    """Progress of a run, told every 50 ms of its time."""
    total = round(duration * 1e3)

    def tell(tick: int) -> None:
        if tick % 50 == 0:
            options.progress(tick, total, f"{gait}: run")

    return tell


def rows_of(found: Sequence[Measured]) -> list[dict[str, Any]]:
    """One row for each gait and kind of touchdown."""
    rows = []
    for _, gait in groupby(found, key=lambda each: each.gait):
        of_gait = list(gait)
        for kind in sorted({each.kind for each in of_gait}):
            rows.append(_row([each for each in of_gait if each.kind == kind]))
    return rows


def _row(found: Sequence[Measured]) -> dict[str, Any]:
    spreads = [each.spread for each in found]
    together = [spread.pairs[each.landing] for each, spread in zip(found, spreads, strict=True)
                if len(each.landing) == 2]  # fmt: skip
    return {
        "gait": found[0].gait,
        "landing": found[0].kind,
        "touchdowns": len(found),
        "standing": float(np.mean([len(each.standing) for each in found])),
        "approach_m_s": _median([spread.approach for spread in spreads]),
        "jump_m_s": _median([spread.jump for spread in spreads]),
        "spread_m_s": _median([spread.base for spread in spreads]),
        "spread_max_m_s": max(spread.base for spread in spreads),
        "rms_m_s": _median([spread.rms for spread in spreads]),
        "spread_kinetic": _median([spread.kinetic for spread in spreads]),
        "s": max((spread.cosine for spread in spreads if spread.pairs), key=abs, default=None),
        "s_landing": max(together, key=abs, default=None),
        "orders_m_s": _median([each.orders for each in found]),
        "planner_m_s": _median([each.planner for each in found]),
        "ended": min(each.outcomes.ended for each in found),
        "energy_growth": max(each.outcomes.energy_growth for each in found),
    }


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))
