"""The rocking block's infinitely many impacts: section 4.3 of Halm and Posa, figures 7 and 8.

The simulation goes through contact forces and sticking impacts; accumulation is compared with the
closed form, which knows the pendulum (56) and the ratio (68). In s, time and normal impulse add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saltus.studies.engine import Criterion, StudyOptions, StudyResult
from saltus.studies.halm_posa.systems.block_zeno import ZenoRun, rock
from saltus.studies.halm_posa.systems.block_zeno_closed_form import (
    Accumulation,
    accumulation,
    apex,
    half_cycle_s,
    half_cycle_time,
    rate_ratio,
    rates,
)
from saltus.studies.halm_posa.systems.rocking_block import RockingBlock
from saltus.studies.halm_posa.zeno_block_figures import draw_block, draw_trajectory

RATE = 1.0  # theta'_0 [rad/s], 4.3
IMPACTS = 40
REQUIRED = 1e-3  # of the accumulation, relative
SHOWN = ("half_cycle", "corner", "time", "s", "rate", "time_error", "s_error")


def run(options: StudyOptions) -> StudyResult:
    """Rows: one half cycle each, and ``accumulation``; ``trials`` is the number of impacts."""
    impacts = IMPACTS if options.trials is None else options.trials
    block = RockingBlock()
    options.progress(0, 1, f"{impacts} impacts")
    simulated = rock(block, RATE, impacts)
    limit = accumulation(block, RATE)
    options.progress(1, 1, "figures")
    table = [*rows(block, simulated), accumulated(simulated, limit)]
    figures = {
        "figure-7": draw_block(block, apex(block, RATE), RATE, rate_ratio(block)),
        "figure-8": draw_trajectory(block, simulated, limit),
    }
    criteria = [
        Criterion(f"{key} of the accumulation, relative", table[-1][key], "<=", REQUIRED)
        for key in ("time_error", "s_error")
    ]
    return StudyResult(
        table, figures, notes(block, simulated, table[-1]), SHOWN, criteria=criteria
    )


def rows(block: RockingBlock, simulated: ZenoRun) -> list[dict[str, Any]]:
    """Each impact: where it ends in t [s] and s, and its half cycle against the closed form."""
    found, t, s = [], 0.0, 0.0
    starts = rates(block, RATE, len(simulated.impacts))
    for number, (impact, rate) in enumerate(zip(simulated.impacts, starts, strict=True)):
        end = impact.s + impact.impulse
        lasted, expected = impact.time - t, half_cycle_time(block, rate)
        grown, expected_s = end - s, half_cycle_s(block, rate)
        found.append(
            {
                "half_cycle": number + 1,
                "corner": "AB"[impact.corner],
                "time": impact.time,
                "s": end,
                "rate": impact.rate,
                "impulse": impact.impulse,
                "time_error": abs(lasted / expected - 1.0),
                "s_error": abs(grown / expected_s - 1.0),
                "friction_used": impact.friction_used,
            }
        )
        t, s = impact.time, end
    return found


def accumulated(simulated: ZenoRun, limit: Accumulation) -> dict[str, Any]:
    """The row of the accumulation: the last impact's end, and its relative distance from the sum.

    What the impacts still to come would add is part of the distance.
    """
    last = simulated.impacts[-1]
    end = last.s + last.impulse
    return {
        "half_cycle": "accumulation",
        "corner": "",
        "time": last.time,
        "s": end,
        "rate": last.rate,
        "impulse": last.impulse,
        "time_error": abs(last.time / limit.time - 1.0),
        "s_error": abs(end / limit.s - 1.0),
        "friction_used": max(impact.friction_used for impact in simulated.impacts),
        "closed_form_time": limit.time,
        "closed_form_s": limit.s,
    }


def notes(block: RockingBlock, simulated: ZenoRun, total: Mapping[str, Any]) -> Sequence[str]:
    """What was reached, and where the source is misprinted."""
    worst = max(total["time_error"], total["s_error"])
    met = "within" if worst <= REQUIRED else "NOT within"
    stopped = (
        []
        if simulated.status == "stopped"
        else [f"Ended early: {' '.join(simulated.message.split())}"]
    )
    return (
        f"Accumulation after {len(simulated.impacts)} impacts: {worst:.1e} from the closed form"
        f" t = {total['closed_form_time']:.6g} s, s = {total['closed_form_s']:.6g}, {met} the"
        f" {REQUIRED:g} asked for (figure 8: about 2.67 and 28.4).",
        f"Each impact leaves {abs(simulated.impacts[0].rate) / RATE:.6g} of the angular rate; (68)"
        f" gives {rate_ratio(block):.6g}. The errors of a row are those of its half cycle.",
        f"The corners never slide: friction takes at most {total['friction_used']:.3g} of the"
        f" normal force or impulse, and could take mu = {block.friction:g}.",
        "(57) is printed with - sin(alpha); it is + sin(alpha), which gives the 0.22 rad beside"
        " it. Figure 7d's caption squares the 0.7, which comes once per impact.",
        *stopped,
    )
