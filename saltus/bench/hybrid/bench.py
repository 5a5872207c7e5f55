"""``saltus bench hybrid``: microseconds per trajectory, ours beside others.

A bouncing ball: all simulators but hybrid-tools work to the same tolerances and must agree on where
the balls end before they are timed. The flow is a parabola, on which every integrator takes long
steps: what is measured is the handling of events. Then one simulation of a Python system, for the
same error (`van_der_pol`), and the first one of a new system (`first_simulation`).
"""

from __future__ import annotations

import os
from time import process_time
from typing import Any

from hybrid.systems import Array
from saltus.bench.contest import US, Contest, Contestant, Times, largest_differences
from saltus.bench.hybrid import bouncing_ball as ball
from saltus.bench.hybrid.first_simulation import MOST_S, PROGRAMS, first_times
from saltus.bench.hybrid.van_der_pol import IMPACTS, METHODS, OURS, equally_accurate
from saltus.bench.result import BenchResult
from saltus.common.console import say
from saltus.studies.engine import Criterion

AGREE = 1e-8  # largest difference of ends [m, m/s] from the compiled ones
ROUNDS, SEED = 7, 0


def run(rounds: int = ROUNDS, balls: int = 2000) -> BenchResult:
    """Measure in turns, ``balls`` by the fastest simulator and fewer by others.

    The ratio is SciPy's median time over the compiled batch's.

    Raises:
        BadRequest: the ball does not compile, or ends differ by more than AGREE.
    """
    say("preparing (compiles on the first run)")
    ball.require_compiled_ball()
    contest = Contest(_contestants(ball.falling_balls(balls, SEED)))
    ends = contest.warm_up()
    differences = largest_differences(ends, "compiled_batch", AGREE, exempt=["hybrid_tools"])
    times = contest.measure(rounds)
    rows = [
        _row(each.name, times, rounds * each.work, differences[each.name])
        for each in contest.contestants
    ]
    ratio = times.ratio("scipy", "compiled_batch")
    single_rows, single_ratio = _single_simulations(rounds)
    first = _first_simulations(min(rounds, 3))
    rows += [*single_rows, *(_row(name, first, len(first.seconds[name])) for name in PROGRAMS)]
    criteria = [
        Criterion(f"{name} [s]", first.median(name), "<=", MOST_S) for name in PROGRAMS
    ]  # fmt: skip
    extra = {"ratio_one_python_simulation": single_ratio}
    return BenchResult(rows, ratio, _note("hybrid_tools" in ends), extra=extra, criteria=criteria)


def _contestants(states: Array) -> list[Contestant]:
    """Ours and SciPy; hybrid-tools, for one ball, where it is installed."""

    def contestant(name: str, simulate: Any, count: int) -> Contestant:
        return Contestant(name, lambda k: simulate(states[:count]), count)

    few = max(1, len(states) // 100)
    contestants = [
        contestant("compiled_batch", ball.compiled_batch, len(states)),
        contestant("callbacks", ball.callbacks, few),
        contestant("scipy", ball.scipy, few),
    ]
    try:
        return [*contestants, contestant("hybrid_tools", ball.HybridTools(), 1)]
    except ImportError:
        return contestants


def _single_simulations(rounds: int) -> tuple[list[dict[str, Any]], float]:
    """Rows of one simulation at a time; SciPy's faster method over ours."""
    say("one simulation of a Python system")
    simulators = equally_accurate()
    contest = Contest(
        [Contestant(each.name, lambda k, each=each: each.solve(each.rtol)) for each in simulators],
        process_time,
    )
    times = contest.measure(rounds)
    rows = [_row(each.name, times, rounds, each.error) for each in simulators]
    return rows, min(times.ratio(f"scipy_{method}", OURS) for method in METHODS)


def _first_simulations(rounds: int) -> Times:
    """Durations of first simulations, in processes of their own."""
    times = Times()
    for name in PROGRAMS:
        say(name.replace("_", " "))
        times.add(name, first_times(name, rounds))
    return times


def _row(
    name: str, times: Times, trajectories: int, difference: float | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        **times.quantiles(name, US, median_us=50.0, p10_us=10.0, p90_us=90.0),
        "trajectories": trajectories,
        "max_difference": difference,
    }


def _note(peer: bool) -> str:
    return (
        f"a ball bounces 3 to 5 times in {ball.DURATION:g} s; scipy (solve_ivp) is stopped at"
        f" bounces alone, the others at apexes too; tolerances {ball.RELATIVE:g} relative and"
        f" {ball.ABSOLUTE:g} absolute; one thread of {os.cpu_count()}; the ratio is scipy's time"
        " over the compiled batch's; max_difference is from the compiled batch; "
        + (f"hybrid_tools steps by {ball.PEER_STEP:g} s with fixed tolerances (1e-3 relative, 1e-6"
           " absolute)" if peer else
           "hybrid-tools is not installed: pip install hybrid-tools==0.1.0 adds its row")
        + f"\n{OURS}: Van der Pol's oscillator with {IMPACTS} impacts, beside SciPy's methods at"
        " tolerances at which their error is no larger than ours (max_difference is from the"
        " truth); first simulations: imports included, in fresh processes with warm caches"
    )  # fmt: skip
