"""``saltus bench rollouts``: how long a line search takes on each rollout backend of this machine.

Batches of 8 to 4096 candidates over the planner's horizon. The backends of a group take turns;
MuJoCo here and MuJoCo in a server are one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from hybrid.hilqr import Policies
from saltus.bench.contest import Contest, Contestant
from saltus.bench.result import BenchResult
from saltus.bench.rollouts.engines import SIZES, Engine, isaac_gym, local_and_remote, warp_engines
from saltus.bench.rollouts.problem import Horizon, Problem, walking_problem
from saltus.bench.rollouts.verdicts import Measured, criteria, note
from saltus.common.console import say
from sim_bridge.rollouts.unavailable import Unavailable

BUDGET_S = 3.0  # of one batch size of one group [s]
FEWEST, MOST = 3, 200  # samples

Group = Callable[[Horizon], AbstractContextManager[list[Engine]]]

GROUPS: tuple[tuple[str, Group], ...] = (
    ("mujoco", local_and_remote),
    ("warp", lambda horizon: nullcontext(warp_engines(horizon))),
    ("isaacgym", isaac_gym),
)


def run(
    sizes: Sequence[int] = SIZES, budget_s: float = BUDGET_S,
    groups: Iterable[tuple[str, Group]] = GROUPS,
) -> BenchResult:  # fmt: skip
    """Measure batches of `sizes` candidates, for about `budget_s` [s] each.

    The ratio is the remote backend's median over the local one's, for the smallest batch.
    """
    say("preparing (compiles on the first run)")
    problem = walking_problem()
    measured: list[Measured] = []
    absent: list[str] = []
    for name, group in groups:
        try:
            with group(problem.horizon) as engines:
                for size in sizes:
                    measured += measure(engines, problem, size, budget_s)
        except Unavailable as error:
            absent.append(f"{name}: {error}")
    from saltus.bench.rollouts.figure import draw  # loads matplotlib

    knots = problem.horizon.knots
    times = {(one.backend, one.candidates): one for one in measured}
    local, remote = (times.get((name, sizes[0])) for name in ("mujoco", "remote"))
    ratio = remote.quantile(50.0) / local.quantile(50.0) if local and remote else None
    rows = [_row(one, knots) for one in measured]
    figures = {"rollouts": draw(measured)}
    return BenchResult(
        rows, ratio, note(measured, absent), figures, criteria=criteria(measured)
    )


def measure(
    engines: Sequence[Engine], problem: Problem, size: int, budget_s: float
) -> list[Measured]:
    """Times of the engines that take `size` candidates; none of one that fell back."""
    able = [engine for engine in engines if size <= engine.most]
    if not able:
        return []
    say(f"{size} candidates: {', '.join(engine.name for engine in able)}")
    policies, before = problem.policies(size), [engine.fallbacks() for engine in able]
    contest = Contest(
        [Contestant(each.name, partial(_roll_out, each, problem, policies)) for each in able]
    )
    times = contest.measure_within(budget_s, FEWEST, MOST)
    measured = []
    for engine, fallbacks in zip(able, before, strict=True):
        if engine.fallbacks() == fallbacks:
            seconds = np.array(times.seconds[engine.name])
            measured.append(Measured(engine.backend, engine.device, size, seconds))
        else:
            say(f"{engine.backend} did not answer in time: no row of {size} candidates")
    return measured


def _roll_out(engine: Engine, problem: Problem, policies: Policies, k: int) -> None:
    engine.rollout.roll_out(problem.x0, policies)


def _row(one: Measured, knots: int) -> dict[str, Any]:
    return {
        "backend": one.backend, "device": one.device, "candidates": one.candidates,
        "knots": knots, "ms_p50": one.quantile(50.0), "ms_p99": one.quantile(99.0),
    }  # fmt: skip
