"""``saltus bench skf``: microseconds per step of the salted Kalman filter, ours beside another.

The same trials of the constant flow go through all ways, and all must estimate the same before
their times are reported. How consistent the filters are stands in ``consistency``.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from hybrid.systems import Array
from saltus.bench import filter_consistency
from saltus.bench.hybrid_simulation import Contestant, difference
from saltus.bench.result import BenchResult
from saltus.bench.salted_filter_ways import (
    STEPS,
    TIMESTEP,
    compiled_batch,
    hybrid_tools,
    interpreted,
    measurements,
)
from saltus.common.console import say

ROUNDS, SEED = 7, 0


def run(rounds: int = ROUNDS, trials: int = 500) -> BenchResult:
    """Measure in turns, ``trials`` by the batch and fewer by others; the medians count.

    Raises:
        BadRequest: estimates differ by more than rounding.
    """
    say("preparing (compiles on the first run)")
    contestants = _contestants(trials)
    ys = measurements(trials, SEED)
    estimates = contestants[0].way(ys)
    apart = [difference(each, ys, estimates) for each in contestants]
    times = np.empty((rounds, len(contestants)))
    for turn in range(rounds):
        say(f"round {turn + 1} of {rounds}")
        times[turn] = [_seconds(each, ys) / (each.count * STEPS) for each in contestants]
    rows = [_row(each, 1e6 * times[:, i], apart[i]) for i, each in enumerate(contestants)]
    ratio = rows[2]["median_us"] / rows[0]["median_us"] if len(rows) > 2 else None
    say("consistency")
    consistency = filter_consistency.rows(min(trials, filter_consistency.TRIALS))
    text = f"{_note(rows)}. {filter_consistency.note(consistency)}"
    return BenchResult(rows, ratio, text, extra={"consistency": consistency})


def _contestants(trials: int) -> list[Contestant]:
    few, peer = max(1, trials // 100), hybrid_tools()
    found = [
        Contestant("compiled_batch", compiled_batch(), trials),
        Contestant("interpreted", interpreted(), few),
    ]
    return found if peer is None else [*found, Contestant("hybrid_tools", peer, few)]


def _seconds(contestant: Contestant, ys: Array) -> float:
    begin = perf_counter()
    contestant.way(ys[: contestant.count])
    return perf_counter() - begin


def _row(contestant: Contestant, times: Array, apart: float) -> dict[str, Any]:
    low, middle, high = np.percentile(times, [10.0, 50.0, 90.0])
    return {
        "name": contestant.name,
        "median_us": float(middle),
        "p10_us": float(low),
        "p90_us": float(high),
        "steps": contestant.count * STEPS * len(times),
        "max_difference": apart,
    }


def _note(rows: list[dict[str, Any]]) -> str:
    note = (
        f"constant flow in {STEPS} steps of {TIMESTEP:g} s, without process noise; one thread; the"
        " largest difference is of estimates from the compiled batch's"
    )
    if len(rows) > 2:
        ours = rows[2]["median_us"] / rows[1]["median_us"]
        return (
            f"{note}; the ratio is hybrid-tools' time over the batch's, and over our interpreted"
            f" filter's {ours:.3g}; hybrid-tools is told the mode after a measurement that crosses"
            " the guard, which it does not set"
        )
    return f"{note}; hybrid-tools is not installed: pip install hybrid-tools==0.1.0 adds its row"
