"""``saltus bench planner``: an iteration of HiLQR by stage, and Crocoddyl's FDDP as its peer."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mujoco.batch import Batch

from controller.rollout_planner import reference_policy
from robots.state import mujoco_from_pinocchio
from saltation.hilqr import Policies, Trajectory, backward_pass
from saltus.bench.catalogue import BenchResult
from saltus.common.compiled_code import ROOT
from saltus.common.console import say
from saltus.common.errors import BadRequest, refusing
from saltus.common.timing import MS, Times, take_turns
from studies.a1.systems.planner_cases import (
    THREADS,
    Case,
    PlannerParts,
    Workbench,
    make_cases,
    make_workbench,
    save_cases,
)

SCRIPT = Path(__file__).with_name("crocoddyl_peer.py")
TIMEOUT_S = 300.0  # longest time that the peer may take [s]


def peer_python() -> Path:
    """The interpreter of the peer's environment.

    Raises:
        BadRequest: it is missing.
    """
    python = ROOT / ".venv-peers" / "bin" / "python"
    if not python.exists():
        raise BadRequest(f"bench planner needs Crocoddyl in {python.parents[1]}: run `make peers`")
    return python


def ask_peer(command: Sequence[str], threads: int) -> dict[str, Any]:
    """Versions of the peer, and the times of its iterations on so many threads, `ms`.

    Raises:
        BadRequest: it fails, takes too long, or prints something else.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    with refusing(
        "the peer gives no times", OSError, subprocess.SubprocessError, remedy="run `make peers`"
    ):
        done = subprocess.run(
            [*command, str(threads), str(REPEAT)], capture_output=True, text=True, env=environment,
            timeout=TIMEOUT_S,
        )  # fmt: skip
    try:
        return json.loads(done.stdout)
    except ValueError:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise BadRequest(
            f"the peer gives no times but: {said}; remake its environment with `make peers`"
        ) from None


CASES, ROUNDS, REPEAT = 12, 4, 2  # 96 samples of everything

PEERS = {f"crocoddyl_{n}_thread{'s' if n > 1 else ''}": n for n in (1, THREADS)}  # threads


class StageTimer:
    """Measures cases: the iteration, its stages alone, and the physics alone."""

    def __init__(self, bench: Workbench, cases: Sequence[Case], times: Times) -> None:
        """Bind the planner's parts."""
        self._bench, self._cases, self._times = bench, cases, times

    def measure(self, number: int) -> None:
        """Add a duration of each thing in one of the cases."""
        bench, case, call = self._bench, self._cases[number], self._times.call
        paused = bench.paused
        trajectory = self._iterate("iteration", paused, case)
        self._iterate("iteration_rigid", bench.rigid, case)
        self._iterate("iteration_as_run", bench.as_run, case)
        linear = call("linearise", paused.model.linearise, trajectory)
        cost = call("quadratise", paused.model.quadratise, trajectory)
        backward = call("backward", backward_pass, linear, cost, 0.0, paused.options.damping)
        policies = Policies.of(
            trajectory.states, trajectory.inputs, backward.gains, backward.feedforward,
            paused.options.search.step_sizes,
        )  # fmt: skip
        rollouts = call("line_search", paused.model.roll_out, case.x0, policies)
        torques = np.ascontiguousarray(rollouts.inputs.swapaxes(0, 1))
        count, threads = len(rollouts.inputs), paused.options.search.threads
        batch = Batch(paused.backend.model, count, nthread=min(threads, count))  # MuJoCo's own
        start = mujoco_from_pinocchio(case.x0[:19], case.x0[19:])
        batch.bind("qpos")[:], batch.bind("qvel")[:] = start
        ctrl = batch.bind("ctrl")

        def step() -> None:
            """Under the line search's torques (N, C, 12): no policy, no record."""
            for torque in torques:
                ctrl[:] = torque
                batch.step(nstep=paused.backend.substeps)

        call("bare_stepping", step)

    def _iterate(self, name: str, parts: PlannerParts, case: Case) -> Trajectory:
        """One iteration from the rollout of the reference's policy, which is returned."""
        solver = parts.solver
        parts.model.track(case.window)
        solver.regularisation.reset()
        trajectory = solver.start(case.x0, reference_policy(case.window))
        assert trajectory is not None, "a benchmark's case diverged"
        step = self._times.call(name, solver.iterate, case.x0, trajectory)
        assert step.status in ("improved", "rejected"), step.status
        return trajectory


def run(
    cases: int = CASES, rounds: int = ROUNDS, peer_command: list[str] | None = None
) -> BenchResult:
    """Measure; `peer_command` starts another peer than Crocoddyl's (it gets the cases' file).

    The ratio is of medians; of the peer's thread counts the faster one counts.

    Raises:
        BadRequest: the peer's environment is missing, or the peer fails.
    """
    command = peer_command or [str(peer_python()), str(SCRIPT)]
    say("preparing (compiles on the first run)")
    bench, times = make_workbench(), Times()
    problems = make_cases(bench, cases)
    stages = StageTimer(bench, problems, times)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.npz"
        save_cases(path, bench, problems)
        command, versions = [*command, str(path)], {}

        def ours(_: int) -> None:
            for number in range(REPEAT * cases):
                stages.measure(number % cases)

        def ask(name: str, _: int) -> None:
            """The peer measures by itself."""
            answer = ask_peer(command, PEERS[name])
            times.add(name, [ms / MS for ms in answer.pop("ms")])
            versions.update(answer)

        for number in range(cases):  # what is slow at first
            stages.measure(number)
        times.seconds.clear()
        take_turns({"ours": ours} | {name: partial(ask, name) for name in PEERS}, rounds)
        return _result(times, versions)


def _result(times: Times, versions: dict[str, Any]) -> BenchResult:
    ratios = {row["name"]: row for row in _ratio_rows(times)}
    rows = [{"name": name, **times.quantiles(name, MS, median_ms=50.0, p10_ms=10.0, p90_ms=90.0),
             "n": len(seconds), "ratio": None, "at_most": None}
            for name, seconds in times.seconds.items()]  # fmt: skip
    note = (
        f"one HiLQR iteration against solve(maxiter=1) of FDDP (Crocoddyl {versions['crocoddyl']}, "
        f"Pinocchio {versions['pinocchio']}), the faster of 1 and {THREADS} threads, with friction "
        f"cones; as run, both on one; {os.cpu_count()} cores"
    )
    return BenchResult(
        [*rows, *ratios.values()], ratios["iteration_over_crocoddyl"]["ratio"], note,
        extra={"ratio_as_run": ratios["ratio_as_run"]["ratio"]},
    )  # fmt: skip


def _ratio_rows(times: Times) -> Iterator[dict[str, Any]]:
    """Rows of ratios of medians, with what they may be at most."""
    ours = times.median("iteration")
    alone, best = times.median(next(iter(PEERS))), min(map(times.median, PEERS))
    empty = dict.fromkeys(("median_ms", "p10_ms", "p90_ms", "n"))
    for name, ratio, at_most in (
        ("iteration_over_crocoddyl", ours / best, 1.0),
        ("line_search_over_bare", times.ratio("line_search", "bare_stepping"), 1.3),
        ("iteration_over_rigid", times.ratio("iteration", "iteration_rigid"), 1.1),
        ("ratio_as_run", times.median("iteration_as_run") / alone, 0.7),
    ):
        yield {"name": name, **empty, "ratio": ratio, "at_most": at_most}
