"""``saltus bench planner``: one HiLQR iteration beside one of Crocoddyl's FDDP, on the A1.

Both plan 50 knots of 10 ms of a walk at 0.2 m/s from the same pushed states. Ours linearises,
expands the cost, makes the backward pass and rolls 8 candidates out through the contact physics,
2 substeps a knot, on 2 threads; a second solver does the same with rigid derivatives. A third is
the one that the robot runs: one thread, one substep, up to 4 candidates one after the other. The
peer is given its contact sequence; see `crocoddyl_peer`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

from saltus.bench.contest import MS, Contest, Contestant, Times
from saltus.bench.planner.peer_environment import peer_folder, peer_python
from saltus.bench.planner.peer_process import PeerProcess
from saltus.bench.planner.stages import StageTimer
from saltus.bench.result import BenchResult
from saltus.common.console import say
from saltus.common.criterion import Criterion
from studies.a1.systems.planner_cases import THREADS, make_cases, make_workbench, save_cases

CASES, ROUNDS, REPEAT = 12, 4, 2  # 96 samples of everything
SETTLE_S = 0.005  # the peer's threads spin for a while after an answer [s]
REFERENCE_MS = 0.3  # that making a driven robot's reference may take in a solve [ms]
PEER_SCRIPT = Path(__file__).with_name("crocoddyl_peer.py")


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


def run(
    cases: int = CASES, rounds: int = ROUNDS, peer_command: list[str] | None = None
) -> BenchResult:
    """Measure; `peer_command` starts another peer than Crocoddyl's (it gets the cases' file).

    The ratio is of medians; of the peer's thread counts the faster one counts.

    Raises:
        BadRequest: the peer's environment is missing and cannot be made, or the peer fails.
    """
    command = peer_command or [str(peer_python(peer_folder())), str(PEER_SCRIPT)]
    say("preparing (compiles on the first run)")
    bench, times = make_workbench(), Times()
    problems = make_cases(bench, cases)
    stages = StageTimer(bench, problems, times)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.npz"
        save_cases(path, bench, problems)
        with PeerProcess([*command, str(path)]) as peer:
            contestants = [Contestant("ours", partial(_repeat, stages, cases))]
            contestants += [
                Contestant(each.name, partial(_ask, peer, each, cases, times)) for each in PEERS
            ]
            contest = Contest(contestants)
            contest.warm_up(cases)
            times.seconds.clear()
            contest.measure(rounds * cases)
            versions = peer.ready
    return _result(times, versions)


def _repeat(stages: StageTimer, cases: int, k: int) -> None:
    """Our stages of a case."""
    for _ in range(REPEAT):
        stages.measure(k % cases)


def _ask(peer: PeerProcess, solver: PeerSolver, cases: int, times: Times, k: int) -> None:
    """Let the peer solve a case; it measures by itself."""
    answer = peer.ask(case=k % cases, **solver._asdict(), repeat=REPEAT)
    times.add(solver.name, [ms / MS for ms in answer["ms"]])
    sleep(SETTLE_S)


def _result(times: Times, versions: dict[str, Any]) -> BenchResult:
    ratios = {row["name"]: row for row in _ratio_rows(times)}
    rows = [*(_row(name, times) for name in times.seconds), *ratios.values()]
    spread = _row("iteration", times)
    note = (
        f"one HiLQR iteration against solve(maxiter=1) of FDDP (Crocoddyl {versions['crocoddyl']}, "
        f"Pinocchio {versions['pinocchio']}), the faster of 1 and {THREADS} threads, with friction "
        f"cones; as run, both on one; {os.cpu_count()} cores, "
        f"Python {sys.version_info[0]}.{sys.version_info[1]}; noise of this machine: 10th to 90th "
        f"percentile of ours {spread['p10_ms']:.1f} to {spread['p90_ms']:.1f} ms"
    )
    criteria = [
        Criterion(name, row["ratio"], "<=", row["at_most"])
        for name, row in ratios.items() if row["at_most"] is not None
    ]  # fmt: skip
    extra = {"ratio_as_run": ratios["ratio_as_run"]["ratio"]}
    ratio = ratios["iteration_over_crocoddyl"]["ratio"]
    return BenchResult(rows, ratio, note, extra=extra, criteria=criteria)


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


def _row(name: str, times: Times) -> dict[str, Any]:
    return {
        "name": name,
        **times.quantiles(name, MS, median_ms=50.0, p10_ms=10.0, p90_ms=90.0),
        "n": len(times.seconds[name]), "ratio": None, "at_most": None,
    }  # fmt: skip
