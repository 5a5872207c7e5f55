"""``saltus bench rollouts``: how long a line search takes on each rollout backend of this machine.

Batches of 8 to 4096 candidates over the planner's horizon. The backends of a group take turns;
MuJoCo here and MuJoCo in a server are one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from controller.robot_model import RolloutBackend
from controller.rollout_planner import reference_policy
from robots.robot import load_robot
from robots.rotations import Array
from saltation.hilqr import Policies
from saltus.bench.catalogue import BenchResult
from saltus.common.console import say
from saltus.common.processes import cores, processor_name
from saltus.common.timing import MS, take_turns_for
from saltus.launch.planners import PROBE_S
from saltus.serve import server_child
from sim_bridge.options import ISAAC_GYM_ADDRESS, RolloutServerOptions, WarpOptions
from sim_bridge.physics_client import PhysicsClient
from sim_bridge.rollouts.remote import RemoteRollout
from sim_bridge.rollouts.threaded import ThreadedRollout
from sim_bridge.rollouts.unavailable import Unavailable
from studies.a1.systems.planner_cases import make_cases, make_workbench

SIZES = (8, 16, 64, 256, 1024, 4096)  # candidates; the first is the planner's
BUDGET_S = 3.0  # of one batch size of one group [s]
FEWEST, MOST = 3, 200  # samples
MOST_ON_WARP_CPU = 64  # which is for tests: a kernel there is a loop on one core
MOST_REMOTE = 256
PATIENCE_S = 60.0  # with the answer of a server [s]
TORQUE = 1.0  # standard deviation of the step of the torques [N m]


class Horizon(NamedTuple):
    """Over what is rolled out."""

    knots: int
    period: float  # [s]
    substeps: int


class Problem(NamedTuple):
    """A start and the policy from there on, which any number of candidates may take up."""

    horizon: Horizon
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


Group = Callable[[Horizon], AbstractContextManager[list[Engine]]]


def walking_problem() -> Problem:
    """The default planner's horizon from a walking state, a little pushed.

    The policy is the reference's with its gains. The step is drawn at random: how long a rollout
    takes does not depend on how good it is.
    """
    bench = make_workbench()
    options = bench.paused.options
    (case,) = make_cases(bench, 1, 0)
    followed = reference_policy(case.window)
    step = TORQUE * np.random.default_rng(0).normal(size=case.window.inputs.shape)
    policy = Policies.of(followed.states[0], followed.inputs[0], followed.gains[0], step)
    return Problem(Horizon(options.knots, options.period, options.search.substeps), case.x0, policy)


def cpu_name() -> str:
    """The processor's model, and how many of its cores this process may use."""
    return f"{processor_name()}, {cores()} core{'s' if cores() > 1 else ''}"


@contextmanager
def local_and_remote(horizon: Horizon) -> Iterator[list[Engine]]:
    """MuJoCo on all cores, here and in a server on loopback: the same physics."""
    with ExitStack() as stack:
        server = RolloutServerOptions(stack.enter_context(server_child(threads=cores())))
        local, remote = _remote(server, horizon, "remote")
        stack.callback(remote.close)
        yield [
            Engine("mujoco", cpu_name(), local),
            Engine("remote", f"mujoco over loopback, {cpu_name()}", remote, MOST_REMOTE),
        ]


def warp_engines(horizon: Horizon) -> list[Engine]:
    """MuJoCo Warp on each of its devices.

    Raises:
        Unavailable: it is not installed.
    """
    from sim_bridge.rollouts.warp_device import open_device
    from sim_bridge.rollouts.warp_rollout import WarpRollout

    def engine(device: str) -> Engine:
        options = WarpOptions(device)
        rollout = WarpRollout(load_robot("a1"), horizon.period, horizon.substeps, options)
        alone = device == "cpu" or len(gpus) == 1  # several may be of one kind
        return Engine("warp", rollout.device + ("" if alone else f" ({device})"), rollout)

    gpus = [gpu.alias for gpu in open_device("auto").warp.get_cuda_devices()]
    cpu = engine("cpu")._replace(device=f"Warp's CPU device, {cpu_name()}", most=MOST_ON_WARP_CPU)
    return [*map(engine, gpus), cpu]


@contextmanager
def isaac_gym(horizon: Horizon) -> Iterator[list[Engine]]:
    """Isaac Gym, if its server answers where it does by default.

    Raises:
        Unavailable: it does not.
    """
    server = RolloutServerOptions(ISAAC_GYM_ADDRESS)
    client = PhysicsClient(server, "isaacgym", PROBE_S)
    client.close()
    _, remote = _remote(server, horizon, "isaacgym")
    try:
        yield [Engine("isaacgym", client.info.device, remote, client.info.most_candidates)]
    finally:
        remote.close()


def _remote(
    server: RolloutServerOptions, horizon: Horizon, kind: str
) -> tuple[ThreadedRollout, RemoteRollout]:
    """MuJoCo here, and a server's backend that falls back to it."""
    robot = load_robot("a1")
    local = ThreadedRollout(robot, *horizon, cores())
    return local, RemoteRollout(
        robot, server, local, horizon.period, horizon.substeps, PATIENCE_S, kind
    )


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
    rows: list[dict[str, Any]] = []
    absent: list[str] = []
    for name, group in groups:
        try:
            with group(problem.horizon) as engines:
                for size in sizes:
                    rows += measure(engines, problem, size, budget_s)
        except Unavailable as error:
            absent.append(f"{name}: {error}")
    medians = {row["backend"]: row["ms_p50"] for row in rows if row["candidates"] == sizes[0]}
    both = {"mujoco", "remote"} <= medians.keys()
    note = "; ".join([
        *(f"not measured: {each}" for each in absent),
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
    times = take_turns_for(budget_s, calls, FEWEST, MOST)
    rows = []
    for (name, engine), fallbacks in zip(able.items(), before, strict=True):
        if engine.fallbacks() == fallbacks:
            rows.append({
                "backend": engine.backend, "device": engine.device, "candidates": size,
                "knots": problem.horizon.knots,
                **times.quantiles(name, MS, ms_p50=50.0, ms_p99=99.0),
            })  # fmt: skip
        else:
            say(f"{engine.backend} did not answer in time: no row of {size} candidates")
    return rows
