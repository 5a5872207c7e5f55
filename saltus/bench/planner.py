"""``saltus bench planner``: one HiLQR iteration beside one of Crocoddyl's FDDP, on the A1.

Both plan 50 knots of 10 ms of a walk at 0.2 m/s from the same pushed states. Ours linearises,
expands the cost, makes the backward pass and rolls 8 candidates out through the contact physics,
2 substeps a knot, on 2 threads; a second solver does the same with rigid derivatives. A third is
the one that the robot runs: one thread, one substep, up to 4 candidates one after the other. The
peer is given its contact sequence; see `crocoddyl_peer`. Measurements take turns, case by case, so
that whatever else the machine does hits all of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from time import sleep
from typing import Any

from saltus.bench.peer_environment import peer_folder, peer_python
from saltus.bench.peer_process import PeerProcess
from saltus.bench.planner_stages import StageTimer, Times
from saltus.bench.result import BenchResult
from saltus.common.console import say
from saltus.studies.a1.planner_cases import THREADS, Case, make_cases, make_workbench, save_cases

CASES, ROUNDS, REPEAT = 12, 4, 2  # 96 samples of everything
SETTLE_S = 0.005  # the peer's threads spin for a while after an answer [s]
REFERENCE_MS = 0.3  # that making a driven robot's reference may take in a solve [ms]
PEER_SCRIPT = Path(__file__).with_name("crocoddyl_peer.py")


def run(
    cases: int = CASES, rounds: int = ROUNDS, peer_command: list[str] | None = None
) -> BenchResult:
    """Measure; `peer_command` starts another peer than Crocoddyl's (it gets the cases' file).

    Raises:
        BadRequest: the peer's environment is missing and cannot be made, or the peer fails.
    """
    command = peer_command or [str(peer_python(peer_folder())), str(PEER_SCRIPT)]
    say("preparing (compiles on the first run)")
    bench = make_workbench()
    problems = make_cases(bench, cases)
    stages, times = StageTimer(bench), Times()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.npz"
        save_cases(path, bench, problems)
        with PeerProcess([*command, str(path)]) as peer:
            for turn in range(-1, rounds):  # the first one warms up
                say(f"round {turn + 1} of {rounds}" if turn >= 0 else "warming up")
                _measure(stages, peer, problems, times if turn >= 0 else Times())
            versions = peer.ready
    return _result(times, versions)


def _measure(stages: StageTimer, peer: PeerProcess, problems: list[Case], times: Times) -> None:
    """One round: every case, ours and the peer's in turns."""
    for i, case in enumerate(problems):
        for _ in range(REPEAT):
            stages.measure(case, times)
        for cones in (True, False):
            for threads in (1, THREADS):
                answer = peer.ask(case=i, cones=cones, threads=threads, repeat=REPEAT)
                times.add(peer_row(cones, threads), answer["ms"])
        sleep(SETTLE_S)


def peer_row(cones: bool, threads: int) -> str:
    """Name of a row of the peer."""
    return f"crocoddyl_{'' if cones else 'no_cones_'}{threads}_thread{'s' if threads > 1 else ''}"


def _result(times: Times, versions: dict[str, Any]) -> BenchResult:
    """Rows and ratios of medians; of the peer's thread counts the faster one counts."""
    ours = times.median("iteration")
    best = min(times.median(peer_row(True, threads)) for threads in (1, THREADS))
    plain = min(times.median(peer_row(False, threads)) for threads in (1, THREADS))
    ratio = ours / best
    line_search = times.median("line_search") / times.median("bare_stepping")
    as_run = times.median("iteration_as_run") / times.median(peer_row(True, 1))
    rows = times.rows() + [
        _ratio_row("iteration_over_crocoddyl", ratio, 1.0),
        _ratio_row("iteration_over_crocoddyl_no_cones", ours / plain, None),
        _ratio_row("line_search_over_bare", line_search, 1.3),
        _ratio_row("iteration_over_rigid", ours / times.median("iteration_rigid"), 1.1),
        _ratio_row("ratio_as_run", as_run, 0.7),
        _ratio_row(
            "driven_reference_over_bound", times.median("driven_reference") / REFERENCE_MS, 1.0
        ),
    ]
    low, high = times.spread("iteration")
    note = (
        f"one HiLQR iteration against solve(maxiter=1) of FDDP (Crocoddyl {versions['crocoddyl']}, "
        f"Pinocchio {versions['pinocchio']}), the faster of 1 and {THREADS} threads, with friction "
        f"cones; as run, both on one; {os.cpu_count()} cores, "
        f"Python {sys.version_info[0]}.{sys.version_info[1]}; noise of this machine: "
        f"10th to 90th percentile of ours {low:.1f} to {high:.1f} ms"
    )
    return BenchResult(rows, ratio, note, extra={"ratio_as_run": as_run})


def _ratio_row(name: str, ratio: float, target: float | None) -> dict[str, Any]:
    empty = dict.fromkeys(("median_ms", "p10_ms", "p90_ms", "n"))
    return {"name": name, **empty, "ratio": ratio, "at_most": target}
