"""``saltus bench hybrid``: microseconds per trajectory, ours beside others.

A bouncing ball: all ways but hybrid-tools work to the same tolerances and must agree on where the
balls end before they are timed. The flow is a parabola, on which every integrator takes long steps:
what is measured is the handling of events. Then one simulation of a Python system, for the same
error (`van_der_pol_ways`), and the first one of a new system (`first_simulation`).
"""

from __future__ import annotations

import os
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from hybrid.systems import Array
from saltus.bench.bouncing_ball_ways import (
    ABSOLUTE,
    DURATION,
    PEER_STEP,
    RELATIVE,
    Way,
    callbacks,
    compiled_batch,
    falling_balls,
    hybrid_tools,
    scipy_restarted,
)
from saltus.bench.first_simulation import MOST_S, PROGRAMS, first_times
from saltus.bench.result import BenchResult
from saltus.bench.van_der_pol_ways import IMPACTS, Timed, best_ratio, same_error
from saltus.common.console import say
from saltus.common.errors import BadRequest

AGREE = 1e-8  # largest difference of ends [m, m/s] from the compiled ones
ROUNDS, SEED = 7, 0


class Contestant(NamedTuple):
    """A way to simulate, and how many balls it is given in a round."""

    name: str
    way: Way
    count: int
    must_agree: bool = True


def run(rounds: int = ROUNDS, balls: int = 2000) -> BenchResult:
    """Measure in turns, ``balls`` by the fastest way and fewer by others; the medians count.

    Raises:
        BadRequest: the ball does not compile, or ends differ by more than AGREE.
    """
    say("preparing (compiles on the first run)")
    contestants = _contestants(balls)
    states = falling_balls(balls, SEED)
    ends = contestants[0].way(states)
    differences = [difference(each, states, ends) for each in contestants]
    times = np.empty((rounds, len(contestants)))
    for turn in range(rounds):
        say(f"round {turn + 1} of {rounds}")
        times[turn] = [_seconds(each, states) / each.count for each in contestants]
    rows = [
        _row(each.name, 1e6 * times[:, i], each.count, differences[i])
        for i, each in enumerate(contestants)
    ]
    medians = {row["name"]: row["median_us"] for row in rows}
    ratio = medians["scipy"] / medians["compiled_batch"]
    note, (further, one) = _note(rows), _single(rounds)
    extra = {"ratio_one_python_simulation": one}
    return BenchResult([*rows, *further], ratio, f"{note}; {_single_note(one)}", extra=extra)


def _single(rounds: int) -> tuple[list[dict[str, Any]], float]:
    """Rows of one simulation at a time and of first simulations; SciPy's time over ours."""
    say("one simulation of a Python system")
    timed: list[Timed] = same_error(rounds)
    rows = [_row(each.name, 1e6 * each.times, 1, each.error) for each in timed]
    for name in PROGRAMS:
        say(name.replace("_", " "))
        rows.append(_row(name, 1e6 * first_times(name, min(rounds, 3)), 1, None))
    return rows, best_ratio(timed)


def _single_note(ratio: float) -> str:
    return (
        f"one_python_simulation is of Van der Pol's oscillator with {IMPACTS} impacts, and SciPy's"
        " methods have tolerances at which their error is no larger than ours (max_difference is"
        f" from the truth): SciPy's better time is {ratio:.3g} of ours; first simulations, imports"
        f" included, in fresh processes with warm caches, should take at most {1e6 * MOST_S:g} us"
    )


def _contestants(balls: int) -> list[Contestant]:
    peer = hybrid_tools()
    found = [
        Contestant("compiled_batch", compiled_batch(), balls),
        Contestant("callbacks", callbacks(), max(1, balls // 100)),
        Contestant("scipy", scipy_restarted(), max(1, balls // 100)),
    ]
    if peer is not None:
        found.append(Contestant("hybrid_tools", peer, 1, must_agree=False))
    return found


def difference(contestant: Contestant, states: Array, ends: Array) -> float:
    """Largest difference of a contestant's ends from those given (B, 2).

    Raises:
        BadRequest: it is larger than AGREE, or not a number, and the contestant must agree.
    """
    some = slice(contestant.count)
    found = float(np.max(np.abs(contestant.way(states[some]) - ends[some])))
    if contestant.must_agree and not found <= AGREE:
        raise BadRequest(
            f"{contestant.name} ends {found:.2g} away from the compiled batch, at most {AGREE:g}"
            " is accepted: the times of different trajectories are not compared"
        )
    return found


def _seconds(contestant: Contestant, states: Array) -> float:
    begin = perf_counter()
    contestant.way(states[: contestant.count])
    return perf_counter() - begin


def _row(name: str, times: Array, count: int, apart: float | None) -> dict[str, Any]:
    low, middle, high = np.percentile(times, [10.0, 50.0, 90.0])
    return {
        "name": name,
        "median_us": float(middle),
        "p10_us": float(low),
        "p90_us": float(high),
        "trajectories": count * len(times),
        "max_difference": apart,
    }


def _note(rows: list[dict[str, Any]]) -> str:
    apart = ", ".join(f"{row['name']} {row['max_difference']:.1g}" for row in rows[1:])
    note = (
        f"a ball bounces 3 to 5 times in {DURATION:g} s; scipy (solve_ivp) is stopped at bounces"
        f" alone, the others at apexes too; tolerances {RELATIVE:g} relative and"
        f" {ABSOLUTE:g} absolute; one thread of {os.cpu_count()}; the ratio is scipy's time over"
        f" the compiled batch's; ends differ from the compiled ones by: {apart}"
    )
    if any(row["name"] == "hybrid_tools" for row in rows):
        return (
            f"{note}; hybrid_tools steps by {PEER_STEP:g} s with fixed tolerances"
            " (1e-3 relative, 1e-6 absolute)"
        )
    return f"{note}; hybrid-tools is not installed: pip install hybrid-tools==0.1.0 adds its row"
