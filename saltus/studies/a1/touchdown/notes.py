"""What the study of touchdowns says beside its table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import spearmanr

from saltus.studies.a1.touchdown.runs import Measured, Walked

GROWTH = 1e-9  # of kinetic energy that is rounding
NOTES = (
    "jump_m_s: change of the base's velocity, to the mean of the outcomes. spread_m_s: largest "
    "distance between two outcomes of it, the median over the touchdowns (spread_max_m_s: the "
    "largest); rms_m_s: about their mean; spread_kinetic: of all velocities, in the metric of the "
    "kinetic energy, over the length of the velocity before.",
    "s: cosine of largest magnitude between the normals of a foot that lands and any other on the "
    "ground; s_landing: of the feet that land together, among themselves. 0 is independent.",
    "Feet that land within 10 ms land together, with the state before the first of them. Where one "
    "foot alone closes, and its impact closes no other, there is one outcome.",
    "The spread is that of random samples: the set's own is as large or larger. orders_m_s is that "
    "of impacts foot after foot, in every order.",
    "planner_m_s: how far the base's velocity after the planner's impact, in which every foot on "
    "the ground sticks, lies from the nearest outcome. The planner holds a foot's centre, and the "
    "outcomes the lowest point of its sphere.",
)


def verdicts(walked: Sequence[Walked], found: Sequence[Measured]) -> list[str]:
    """What the numbers say, one line each."""
    told = [f"{each.gait}: the robot fell; its touchdowns are those up to then."
            for each in walked if each.fell]  # fmt: skip
    told += [f"{each.gait}: no foot landed." for each in walked if not len(each.touchdowns.time)]
    if not found:
        return told
    ended = min(each.outcomes.ended for each in found)
    growth = max(each.outcomes.energy_growth for each in found)
    told.append(
        f"{len(found)} touchdowns measured: {'every' if ended == 1.0 else 'NOT every'} sampled "
        f"impact ended, and kinetic energy {'never grew' if growth < GROWTH else 'GREW'} in a step."
    )
    return [*told, _widest(found), _correlations(found)]


def _widest(found: Sequence[Measured]) -> str:
    """The widest spread of each gait, and the largest s."""
    gaits = dict.fromkeys(each.gait for each in found)
    spreads = {gait: max(e.spread.base for e in found if e.gait == gait) for gait in gaits}
    told = ", ".join(f"{gait} {1e3 * spread:.2g} mm/s" for gait, spread in spreads.items())
    widest = max(found, key=lambda each: each.spread.base).spread
    share = widest.base / max(widest.jump, 1e-12)
    largest = max((abs(s) for e in found for s in e.spread.pairs.values()), default=0.0)
    return (f"Widest spread: {told}; the widest of all is {share:.0%} of its touchdown's jump. "
            f"Largest |s|: {largest:.2g}.")  # fmt: skip


def _correlations(found: Sequence[Measured]) -> str:
    spread, speed = ([getattr(e.spread, name) for e in found] for name in ("base", "approach"))
    cosine = [abs(each.spread.cosine) for each in found]
    return (f"Rank correlation of the spread: {_ranks(speed, spread)} with the speed of the foot "
            f"that lands hardest, {_ranks(cosine, spread)} with |s|.")  # fmt: skip


def _ranks(one: Sequence[float], other: Sequence[float]) -> str:
    """Spearman's rank correlation, where both vary."""
    known = np.isfinite(one)
    a, b = np.array(one)[known], np.array(other)[known]
    if len(a) < 3 or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return "unknown"
    return f"{spearmanr(a, b)[0]:.2f}"
