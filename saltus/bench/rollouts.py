"""``saltus bench rollouts``: how long a line search takes on each rollout backend found here.

Batches of 8 to 4096 candidates over the planner's horizon. The backends of a group take turns, so
that whatever else the machine does hits all of them; MuJoCo here and MuJoCo in a server are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from saltus.bench.result import BenchResult
from saltus.bench.rollout_engines import (
    SIZES,
    Engine,
    isaac_gym,
    local_and_remote,
    warp_engines,
)
from saltus.bench.rollout_problem import Horizon, walking_problem
from saltus.bench.rollout_times import Measured, measure
from saltus.bench.rollout_verdicts import note
from saltus.common.console import say
from sim_bridge.rollouts.unavailable import Unavailable

BUDGET_S = 3.0  # of one batch size of one group [s]

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
    """Measure batches of `sizes` candidates, for about `budget_s` [s] each."""
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
    from saltus.bench.rollout_figure import draw  # loads matplotlib

    knots = problem.horizon.knots
    times = {(one.backend, one.candidates): one for one in measured}
    local, remote = (times.get((name, sizes[0])) for name in ("mujoco", "remote"))
    ratio = remote.quantile(50.0) / local.quantile(50.0) if local and remote else None
    rows = [_row(one, knots) for one in measured]
    return BenchResult(rows, ratio, note(measured, absent), {"rollouts": draw(measured)})


def _row(one: Measured, knots: int) -> dict[str, Any]:
    return {
        "backend": one.backend, "device": one.device, "candidates": one.candidates,
        "knots": knots, "ms_p50": one.quantile(50.0), "ms_p99": one.quantile(99.0),
    }  # fmt: skip
