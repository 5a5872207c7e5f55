"""``saltus bench rollouts``: how long a line search takes on each rollout backend of this machine.

Batches of 8 to 4096 candidates over the planner's horizon. The backends take turns; the remote one
is a server of MuJoCo on loopback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import msgspec
import numpy as np

from controller.robot_model import RolloutBackend
from controller.rollout_planner import reference_policy
from robots.rotations import Array
from saltation.hilqr import Policies
from saltus.bench.catalogue import BenchResult
from saltus.common.console import say
from saltus.common.processes import cores, processor_name
from saltus.common.timing import MS, take_turns_for
from saltus.configuration.launch import LaunchConfig
from saltus.launch.planners import availability, make_rollout
from saltus.serve import server_child
from studies.a1.systems.planner_cases import make_cases, make_workbench

SIZES = (8, 16, 64, 256, 1024, 4096)  # candidates; the first is the planner's
BUDGET_S = 3.0  # of one batch size of one backend [s]
FEWEST, MOST = 3, 200  # samples
MOST_ON_WARP_CPU = 64  # which is for tests: a kernel there is a loop on one core
PATIENCE_S = 60.0  # with the answer of a server [s]
TORQUE = 1.0  # standard deviation of the step of the torques [N m]


class Problem(NamedTuple):
    """A start and the policy from there on, which any number of candidates may take up."""

    x0: Array  # (37,)
    policy: Policies

    def policies(self, candidates: int) -> Policies:
        """Policies of the planner's line search, with steps from 0 to 1."""
        return Policies.of(
            self.policy.states[0], self.policy.inputs[0], self.policy.gains[0],
            self.policy.feedforward[0], np.linspace(0.0, 1.0, candidates).tolist(),
        )  # fmt: skip


class Engine(NamedTuple):
    """A backend to measure.

    Attributes:
        backend: as in a launch file; device: its name in full; rollout: the backend itself.
        most: candidates.
    """

    backend: str
    device: str
    rollout: RolloutBackend
    most: int = SIZES[-1]

    def fallbacks(self) -> int:
        """Rollouts that were another backend's."""
        return self.rollout.statistics().get("fallbacks", 0)


Found = tuple[list[Engine], list[str]]  # backends, and what is missing of others


def walking_problem() -> Problem:
    """The default planner's horizon from a walking state, a little pushed.

    The policy is the reference's with its gains. The step is drawn at random: how long a rollout
    takes does not depend on how good it is.
    """
    bench = make_workbench()
    (case,) = make_cases(bench, 1, 0)
    followed = reference_policy(case.window)
    step = TORQUE * np.random.default_rng(0).normal(size=case.window.inputs.shape)
    policy = Policies.of(followed.states[0], followed.inputs[0], followed.gains[0], step)
    return Problem(case.x0, policy)


def cpu_name() -> str:
    """The processor's model, and how many of its cores this process may use."""
    return f"{processor_name()}, {cores()} core{'s' if cores() > 1 else ''}"


@contextmanager
def backends() -> Iterator[Found]:
    """Backends of this computer, and why it lacks others; on the CPU they use all cores."""
    with server_child(threads=cores()) as address:
        plain = msgspec.to_builtins(LaunchConfig())
        plain["hilqr"]["paused"]["threads"] = cores()
        plain["remote"] |= {"address": address, "patience": PATIENCE_S}
        plain["isaacgym"]["patience"] = PATIENCE_S
        config = msgspec.convert(plain, LaunchConfig)
        engines, missing = [], []
        for name, here, found in availability(config):
            if not here:
                missing.append(f"{name}: {found}")
                continue
            most = MOST_ON_WARP_CPU if (name, found) == ("warp", "cpu") else SIZES[-1]
            device = cpu_name() if found == "cpu" else found
            rollout = make_rollout(msgspec.structs.replace(config, rollout=name))
            engines.append(Engine(name, device, rollout, most))
        yield engines, missing


def run(
    sizes: Sequence[int] = SIZES, budget_s: float = BUDGET_S,
    found: Callable[[], AbstractContextManager[Found]] = backends,
) -> BenchResult:  # fmt: skip
    """Measure batches of `sizes` candidates, for about `budget_s` [s] on each backend.

    The ratio is the remote backend's median over the local one's, for the smallest batch.
    """
    say("preparing (compiles on the first run)")
    problem = walking_problem()
    with found() as (engines, missing):
        rows = [row for size in sizes for row in measure(engines, problem, size, budget_s)]
    medians = {row["backend"]: row["ms_p50"] for row in rows if row["candidates"] == sizes[0]}
    both = {"mujoco", "remote"} <= medians.keys()
    note = "; ".join([
        *(f"not measured: {each}" for each in missing),
        "the 99th percentile of few samples, as of large batches, is their longest",
    ])  # fmt: skip
    return BenchResult(rows, medians["remote"] / medians["mujoco"] if both else None, note)


def measure(
    engines: Sequence[Engine], problem: Problem, size: int, budget_s: float
) -> list[dict[str, Any]]:
    """Rows of the engines that take `size` candidates; none of one that fell back."""
    able = {f"{each.backend} ({each.device})": each for each in engines if size <= each.most}
    if not able:
        return []
    say(f"{size} candidates: {', '.join(able)}")
    policies, before = problem.policies(size), [each.fallbacks() for each in able.values()]
    calls = {
        name: lambda k, each=each: each.rollout.roll_out(problem.x0, policies)
        for name, each in able.items()
    }
    times = take_turns_for(budget_s * len(able), calls, FEWEST, MOST)
    rows = []
    for (name, engine), fallbacks in zip(able.items(), before, strict=True):
        if engine.fallbacks() == fallbacks:
            rows.append({
                "backend": engine.backend, "device": engine.device, "candidates": size,
                "knots": problem.policy.inputs.shape[1],
                **times.quantiles(name, MS, ms_p50=50.0, ms_p99=99.0),
            })  # fmt: skip
        else:
            say(f"{engine.backend} did not answer in time: no row of {size} candidates")
    return rows
