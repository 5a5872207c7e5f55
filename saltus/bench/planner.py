"""``saltus bench planner``: one HiLQR iteration beside one of Crocoddyl's FDDP, on the A1.

Both plan 50 knots of 10 ms of a walk at 0.2 m/s from the same pushed states. Ours linearises,
expands the cost, makes the backward pass and rolls 8 candidates out through the contact physics,
2 substeps a knot, on 2 threads; a second solver does the same with rigid derivatives. A third is
the one that the robot runs: one thread, one substep, up to 4 candidates one after the other. The
peer is given its contact sequence; see `crocoddyl_peer`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

import numpy as np

from controller.driving.commands import Goal
from controller.driving.reference import DrivenReference
from controller.options import DriveOptions
from controller.rollout_planner import reference_policy
from hybrid.hilqr import Policies, Trajectory, backward_pass
from robots.robot import load_robot
from saltus.bench.catalogue import BenchResult
from saltus.bench.peer import SCRIPT, PeerProcess, peer_folder, peer_python
from saltus.bench.timing import MS, Times, take_turns
from saltus.common.console import say
from saltus.common.criterion import Criterion
from studies.a1.systems.planner_cases import (
    THREADS,
    Case,
    PlannerParts,
    Workbench,
    make_cases,
    make_workbench,
    save_cases,
)

CASES, ROUNDS, REPEAT = 12, 4, 2  # 96 samples of everything
SETTLE_S = 0.005  # the peer's threads spin for a while after an answer [s]
REFERENCE_MS = 0.3  # that making a driven robot's reference may take in a solve [ms]


class PeerSolver(NamedTuple):
    """What the peer is asked for: with friction cones or without, and its threads."""

    cones: bool
    threads: int

    @property
    def name(self) -> str:
        """Of its row."""
        cones, plural = "" if self.cones else "no_cones_", "s" if self.threads > 1 else ""
        return f"crocoddyl_{cones}{self.threads}_thread{plural}"


PEERS = tuple(PeerSolver(*each) for each in product((True, False), (1, THREADS)))


class StageTimer:
    """Measures cases: the iteration, its stages alone, and the physics alone."""

    def __init__(self, bench: Workbench, cases: Sequence[Case], times: Times) -> None:
        """Bind the planner's parts; the reference of a trot that is driven around a bend."""
        self._bench, self._cases, self._times = bench, cases, times
        self._driven = DrivenReference(
            DriveOptions(), load_robot("a1"), bench.paused.options.period
        )
        self._driven.course.goal = Goal(0.5, 0.1, 0.3, None, "trot")

    def measure(self, number: int) -> None:
        """Add a duration of each thing in one of the cases."""
        bench, case, call = self._bench, self._cases[number], self._times.call
        paused, driven = bench.paused, self._driven
        call("driven_reference", driven.window, driven.course.knot + 1, paused.options.knots,
             case.x0)  # fmt: skip
        trajectory = self._iterate("iteration", paused, case)
        self._iterate("iteration_rigid", bench.rigid, case)
        as_run = self._iterate("iteration_as_run", bench.as_run, case)
        call("linearise_rigid", bench.rigid.model.linearise, trajectory)
        call("linearise_as_run", bench.as_run.model.linearise, as_run)
        linear = call("linearise", paused.model.linearise, trajectory)
        cost = call("quadratise", paused.model.quadratise, trajectory)
        backward = call("backward", backward_pass, linear, cost, 0.0, paused.options.damping)
        policies = Policies.of(
            trajectory.states, trajectory.inputs, backward.gains, backward.feedforward,
            paused.options.search.step_sizes,
        )  # fmt: skip
        rollouts = call("line_search", paused.model.roll_out, case.x0, policies)
        torques = np.ascontiguousarray(rollouts.inputs.swapaxes(0, 1))
        bound = paused.backend.batch(len(rollouts.inputs))  # MuJoCo's own, of the same threads
        bound.reset(case.x0)

        def step() -> None:
            """Under the line search's torques (N, C, 12): no policy, no record."""
            for torque in torques:
                bound.ctrl[:] = torque
                bound.batch.step(nstep=paused.backend.substeps)

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
        BadRequest: the peer's environment is missing and cannot be made, or the peer fails.
    """
    command = peer_command or [str(peer_python(peer_folder())), str(SCRIPT)]
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

            def ask(solver: PeerSolver, k: int) -> None:
                """The peer measures by itself."""
                answer = peer.ask(case=k % cases, **solver._asdict(), repeat=REPEAT)
                times.add(solver.name, [ms / MS for ms in answer["ms"]])
                sleep(SETTLE_S)

            calls = {"ours": ours} | {
                each.name: lambda k, each=each: ask(each, k) for each in PEERS
            }
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
    criteria = [
        Criterion(name, row["ratio"], "<=", row["at_most"])
        for name, row in ratios.items() if row["at_most"] is not None
    ]  # fmt: skip
    return BenchResult(
        [*rows, *ratios.values()], ratios["iteration_over_crocoddyl"]["ratio"], note,
        extra={"ratio_as_run": ratios["ratio_as_run"]["ratio"]}, criteria=criteria,
    )  # fmt: skip


def _ratio_rows(times: Times) -> Iterator[dict[str, Any]]:
    """Rows of ratios of medians, with what they may be at most."""
    ours, reference = times.median("iteration"), times.median("driven_reference", MS)
    best, plain = (
        min(times.median(each.name) for each in PEERS if each.cones == cones)
        for cones in (True, False)
    )
    empty = dict.fromkeys(("median_ms", "p10_ms", "p90_ms", "n"))
    for name, ratio, at_most in (
        ("iteration_over_crocoddyl", ours / best, 1.0),
        ("iteration_over_crocoddyl_no_cones", ours / plain, None),
        ("line_search_over_bare", times.ratio("line_search", "bare_stepping"), 1.3),
        ("iteration_over_rigid", times.ratio("iteration", "iteration_rigid"), 1.1),
        ("ratio_as_run", times.ratio("iteration_as_run", PeerSolver(True, 1).name), 0.7),
        ("driven_reference_over_bound", reference / REFERENCE_MS, 1.0),
    ):
        yield {"name": name, **empty, "ratio": ratio, "at_most": at_most}
