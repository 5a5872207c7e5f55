"""``saltus bench skf``: microseconds per step of the salted Kalman filter, ours beside another.

The same trials of the constant flow go through all filters, and all must estimate the same before
they are timed. How consistent the filters are is in the key ``consistency``.
"""

from __future__ import annotations

from typing import Any

from hybrid.systems import Array
from saltus.bench.contest import US, Contest, Contestant, Times, largest_differences
from saltus.bench.result import BenchResult
from saltus.bench.skf import consistency, filters
from saltus.common.console import say

AGREE = 1e-8  # largest difference of estimates from the compiled ones
ROUNDS, SEED = 7, 0


def run(rounds: int = ROUNDS, trials: int = 500) -> BenchResult:
    """Measure in turns, ``trials`` by the batch and fewer by others; the medians count.

    The ratio is hybrid-tools' median time over the batch's.

    Raises:
        BadRequest: estimates differ by more than AGREE.
    """
    say("preparing (compiles on the first run)")
    contest = Contest(_contestants(filters.measurements(trials, SEED)))
    differences = largest_differences(contest.warm_up(), "compiled_batch", AGREE)
    times = contest.measure(rounds)
    rows = [
        _row(each.name, times, rounds * each.work, differences[each.name])
        for each in contest.contestants
    ]
    peer = "hybrid_tools" in differences
    ratio = times.ratio("hybrid_tools", "compiled_batch") if peer else None
    say("consistency")
    shares = consistency.rows(min(trials, consistency.TRIALS))
    text = f"{_note(times, peer)}. {consistency.note(shares)}"
    return BenchResult(rows, ratio, text, extra={"consistency": shares})


def _contestants(ys: Array) -> list[Contestant]:
    """Ours, and hybrid-tools where it is installed; the slow ones filter fewer trials."""

    def contestant(name: str, estimate: Any, count: int) -> Contestant:
        return Contestant(name, lambda k: estimate(ys[:count]), count * filters.STEPS)

    few = max(1, len(ys) // 100)
    contestants = [
        contestant("compiled_batch", filters.compiled_batch, len(ys)),
        contestant("interpreted", filters.interpreted, few),
    ]
    try:
        return [*contestants, contestant("hybrid_tools", filters.HybridTools(), few)]
    except ImportError:
        return contestants


def _row(name: str, times: Times, steps: int, difference: float) -> dict[str, Any]:
    return {
        "name": name,
        **times.quantiles(name, US, median_us=50.0, p10_us=10.0, p90_us=90.0),
        "steps": steps,
        "max_difference": difference,
    }


def _note(times: Times, peer: bool) -> str:
    note = (
        f"constant flow in {filters.STEPS} steps of {filters.TIMESTEP:g} s, without process noise;"
        " one thread; max_difference is of estimates from the compiled batch's"
    )
    if not peer:
        return (
            f"{note}; hybrid-tools is not installed: pip install hybrid-tools==0.1.0 adds its row"
        )
    return (
        f"{note}; the ratio is hybrid-tools' time over the batch's (over our interpreted filter's:"
        f" {times.ratio('hybrid_tools', 'interpreted'):.3g}); hybrid-tools' mode is set for it"
        " after a measurement that crosses the guard"
    )
