"""Crocoddyl as the peer of `saltus bench planner`: its environment, and its process.

The process answers one line of JSON for each line of JSON.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from time import sleep
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
TIMEOUT_S = 120.0  # longest wait for one answer [s]


def peer_python() -> Path:
    """The interpreter of the peer's environment.

    Raises:
        BadRequest: it is missing.
    """
    python = ROOT / ".venv-peers" / "bin" / "python"
    if not python.exists():
        raise BadRequest(f"bench planner needs Crocoddyl in {python.parents[1]}: run `make peers`")
    return python


class PeerProcess:
    """Starts the peer, waits until it is ready and asks it; a context manager.

    Attributes:
        ready: the peer's first line, such as its versions.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Start `command`.

        Raises:
            BadRequest: it does not start, or not in time.
        """
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        with refusing("the peer does not start", remedy="run `make peers`"):
            self._process = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, env=environment,
            )  # fmt: skip
        self.ready = self._answer()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send one request and return the answer.

        Raises:
            BadRequest: the peer ended or did not answer in time.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer says why
        return self._answer()

    def __enter__(self) -> PeerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """End the peer, which ends by itself with its standard input."""
        try:
            self._process.communicate(timeout=5.0)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.communicate()

    def _answer(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        readable, _, _ = select.select([stdout], [], [], TIMEOUT_S)
        line = stdout.readline() if readable else ""
        try:
            return json.loads(line)
        except ValueError:
            self._process.kill()
            _, errors = self._process.communicate()
            said = (errors.strip() or line.strip() or "nothing").splitlines()[-1]
            raise BadRequest(
                f"the peer gave no answer but: {said}; remake its environment with `make peers`"
            ) from None


CASES, ROUNDS, REPEAT = 12, 4, 2  # 96 samples of everything
SETTLE_S = 0.005  # the peer's threads spin for a while after an answer [s]


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
        with PeerProcess([*command, str(path)]) as peer:

            def ours(k: int) -> None:
                for _ in range(REPEAT):
                    stages.measure(k % cases)

            def ask(name: str, k: int) -> None:
                """The peer measures by itself."""
                answer = peer.ask(case=k % cases, threads=PEERS[name], repeat=REPEAT)
                times.add(name, [ms / MS for ms in answer["ms"]])
                sleep(SETTLE_S)

            calls = {"ours": ours} | {name: partial(ask, name) for name in PEERS}
            take_turns(calls, cases)
            times.seconds.clear()
            take_turns(calls, rounds * cases)
            return _result(times, peer.ready)


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
