"""Success of three planners after pushes against the duration of a solve.

The pushes are those of table 6.1, in lock step with the latency model (`timing` of a launch file).
Every solve takes the same time. A plan from an estimate arrives when the solve has ended, and the
next solve begins then, at most one per knot. There are no other delays, late ticks or lost
messages. HiLQR uses the search of lock step (hilqr.paused), which is larger than that of real time.

low, high: 95 % interval of the success rate (Wilson); rates with overlapping intervals may differ
by chance. lateral: mean peak lateral deviation of the successful trials. measured: median time of a
solve on this computer, beside other processes. The sweep of each duration stays in `runs/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure

from saltus.common.errors import BadRequest
from saltus.configuration.planners import entry_of, in_order
from saltus.sweep.running import Finished, run_paused
from saltus.sweep.summary import wilson_interval
from saltus.sweep.sweep import SweepRequest, run_sweep
from saltus.sweep.trials import Trial
from studies.figures import Band, Panel, Styled, draw, over
from studies.study import Row, StudyOptions, StudyResult, study

SUITE = "table-6.1"
# Numbers of its pushes, of both groups in turn: four have every foot and both strides of the walk.
PUSHES = [5 * k % 8 + group for k in range(8) for group in (0, 8)]
STUDIED = ("hilqr", "convex_mpc", "instant_qp")
MARKS = {"hilqr": ("o", 4.0), "convex_mpc": ("s", 7.0), "instant_qp": ("^", 10.0)}
# The first lies on top: where points fall together all are to be seen.
SOLVES_MS = (0, 10, 25, 50, 75, 100)


@study("the A1 in simulation", "trials", "seed")
def run(
    options: StudyOptions, run_trial: Callable[[Trial], Finished] = run_paused
) -> StudyResult:
    """Rows: success of each planner at each duration of a solve.

    Args:
        options: ``trials`` is the number of pushes at each point, at most those of the suite.
        run_trial: runs one push.

    Raises:
        BadRequest: more pushes are asked for than there are.
        KeyboardInterrupt: the user stopped a sweep.
    """
    rows, count = list[Row](), options.count(len(PUSHES))
    if count > len(PUSHES):
        raise BadRequest(f"--trials {count}: the suite has {len(PUSHES)} pushes; give no more")
    for ms in options.track(SOLVES_MS, "sweeps"):
        settings = f"timing.solve={ms / 1e3:g}", f"simulation.seed={options.seed}"
        request = SweepRequest(SUITE, STUDIED, trials=(*PUSHES[:count],), settings=settings)
        found = run_sweep(request, run_trial)
        if found.interrupted:
            raise KeyboardInterrupt
        for planner in STUDIED:
            own = [row for row in found.rows if row["planner"] == planner]
            rows.append(row_of(planner, ms, own) | {"broken": count - len(own)})
    rows.sort(key=lambda row: STUDIED.index(row["planner"]))
    columns = (
        "planner, solve_ms=solve [ms], success, trials=of, success_low=low,"
        " success_high=high, mean_max_lateral_deviation_m=lateral [m],"
        " solve_ms_wall_p50=measured [ms]"
    )
    return StudyResult(rows, {"latency": latency_figure(rows)}, columns)


def row_of(planner: str, solve_ms: int, rows: Sequence[Row]) -> Row:
    """Rates and means over the pushes that came to their end."""
    aside = [row["max_lateral_deviation_m"] for row in rows if not row["fell"]]
    low, high = wilson_interval(len(aside), len(rows)) if rows else (0.0, 1.0)
    return {
        "planner": planner,
        "solve_ms": solve_ms,
        "trials": len(rows),
        "success": len(aside),
        "success_low": low,
        "success_high": high,
        "mean_max_lateral_deviation_m": np.mean(aside) if aside else None,
        "solve_ms_wall_p50": np.median([r["solve_ms_p50"] for r in rows]) if rows else None,
    }


def latency_figure(rows: Sequence[Row]) -> Figure:
    """Success and deviation against the duration of a solve."""
    rates, deviations = {}, {}
    for planner in reversed(in_order({row["planner"] for row in rows})):
        own = [row for row in rows if row["planner"] == planner]
        entry, (marker, size) = entry_of(planner), MARKS[planner]
        look = {"color": entry.colour, "marker": marker, "markersize": size}
        times = [row["solve_ms"] for row in own]
        rate = [row["success"] / (row["trials"] or np.nan) for row in own]
        low, high = ([row[f"success_{end}"] for row in own] for end in ("low", "high"))
        # Of these five the quartiles are the interval.
        interval = Band(times, 100.0 * np.array([low, low, rate, high, high]))
        rates[entry.label] = Styled(interval, look)
        aside = np.array([row["mean_max_lateral_deviation_m"] for row in own], np.float64)
        deviations[entry.label] = over(times, aside, **look)
    return draw(
        Panel(rates, "duration of a solve [ms]", "success rate [%]",
              settings={"ylim": (-4.0, 104.0), "title": "no other delays"}),
        Panel(deviations, "duration of a solve [ms]", "mean peak lateral\ndeviation [m]",
              settings={"ylim": (0.0, None)}),
        width=4.5,
    )  # fmt: skip
