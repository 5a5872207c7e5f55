"""Rollouts on a CUDA device, tested and timed: ``python -m tests.gpu``; docs/rollouts.md has more.

Where there is no such device, less of the same runs on Warp's CPU device.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import sys
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pytest

from saltus.bench.rollouts import BUDGET_S, Engine, cpu_name, measure, walking_problem
from saltus.common.console import Fact, print_facts, print_json, print_table, say
from saltus.common.processes import cores
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from saltus.launch.planners import make_rollout
from sim_bridge.rollouts.unavailable import Unavailable
from sim_bridge.rollouts.warp_device import open_device

ROOT = Path(__file__).parents[1]
STRAY_M = 1e-3  # of the base from MuJoCo's, in the median candidate


class Extent(NamedTuple):
    """How much runs.

    Attributes:
        tests: pytest's `-k`; sizes: candidates of the batches; budget_s: for each of them [s].
        launch: keys of the pushed walk; duration: of that walk [s], None for the launch file's.
    """

    tests: str
    sizes: tuple[int, ...]
    budget_s: float
    launch: tuple[str, ...]
    duration: float | None


CUDA = Extent("warp-cuda or test_rollout_warp", (16, 64, 256, 1024, 4096), BUDGET_S, (), None)
EARLY = "perturbations=[{kind: base_velocity, at: 0.1, value: [0, 0.4, 0]}]"
CPU = Extent("warp-cpu and test_conformance_motions", (2, 4), 0.1, (EARLY, "hilqr.knots=10"), 0.2)


class Row(NamedTuple):
    """A result.

    Attributes:
        ms, mujoco_ms: median time of Warp, and of MuJoCo on all cores [ms].
    """

    what: str
    passed: bool
    result: str
    ms: float | None = None
    mujoco_ms: float | None = None

    @property
    def ratio(self):
        """Of Warp's time to MuJoCo's."""
        return self.ms / self.mujoco_ms if self.ms and self.mujoco_ms else None


class Outcomes(Counter[str]):
    """A plugin of pytest that counts the outcomes of tests."""

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            self[report.outcome] += 1


def conformance(extent):
    """The conformance tests; one that is skipped has not passed."""
    counts, begin = Outcomes(), perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        arguments = ["-q", "-k", extent.tests, str(ROOT / "tests/sim_bridge/rollouts")]
        status = pytest.main(arguments, plugins=[counts])
    result = f"{_counted(counts)} in {perf_counter() - begin:.0f} s"
    return [Row("conformance tests", status == 0 and set(counts) == {"passed"}, result)]


def keys_of(rollout):
    """Of a launch that plans on this backend, MuJoCo on all cores."""
    return f"rollout={rollout}", f"hilqr.paused.threads={cores()}"


def rollouts(extent):
    """The batches of `saltus bench rollouts`; all candidates stay finite, most near MuJoCo's."""
    problem, rows = walking_problem(), []
    mujoco, warp = (
        Engine(name, name, make_rollout(load_launch("sim", keys_of(name))))
        for name in ("mujoco", "warp")
    )
    for size in extent.sizes:
        expected, found = (
            each.rollout.roll_out(problem.x0, problem.policies(size)) for each in (mujoco, warp)
        )
        strayed = np.linalg.norm((found.states - expected.states)[..., :3], axis=2).max(axis=1)
        times = measure([mujoco, warp], problem, size, extent.budget_s)
        stray, finite = float(np.median(strayed)), int(found.finite.sum())
        rows.append(Row(
            f"{size} candidates", finite == size and stray < STRAY_M,
            f"{finite} finite, base within {1e3 * stray:.2g} mm of MuJoCo's in the median",
            times[1]["ms_p50"], times[0]["ms_p50"],
        ))  # fmt: skip
    return rows


def walk(extent):
    """A pushed walk that is planned with either physics."""
    medians, plans = [], Counter[str]()
    for rollout in ("mujoco", "warp"):
        say(f"pushed walk, rollout: {rollout}")
        keys = (*keys_of(rollout), *extent.launch)
        run = LockStep(load_launch("push", keys, duration=extent.duration))
        plans.clear()
        metrics = run.run(lambda tick: plans.update([tick.plan.status] if tick.plan else []))
        medians.append(float(np.median(run.solve_ms)))
    end = f"fell after {metrics.fell_at_s} s" if metrics.fell else "survived"
    return [
        Row("solve", not plans["failed"], _counted(plans), medians[1], medians[0]),
        Row(f"push in a walk of {run.config.duration:g} s", not metrics.fell, end),
    ]


def _counted(counts):
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def rows_of(part, extent):
    """A part in a process of its own: an error on a CUDA device may spoil the rest of a process."""
    try:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            return pool.submit(part, extent).result()
    except Exception as error:
        traceback.print_exc()
        return [Row(part.__name__, False, f"{type(error).__name__}: {error}")]


def _dotted(number):
    return ".".join(map(str, number or ["none"]))


def main(arguments, parts=(conformance, rollouts, walk)):
    """Run the parts and print their table; 1 where anything failed."""
    parser = argparse.ArgumentParser("python -m tests.gpu", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    json = parser.parse_args(arguments).json
    os.environ["XDG_CACHE_HOME"] = str(ROOT / ".kernels" / "cache")  # the tests' kernels serve all
    try:
        warp, _, device, name = open_device("auto")
    except Unavailable as error:
        say(str(error))
        return 1
    if not device.is_cuda:
        say("no CUDA device here: less of the same runs on Warp's CPU device")
    rows = [row for part in parts for row in rows_of(part, CUDA if device.is_cuda else CPU)]
    facts = {
        "device": name, "cuda_driver": _dotted(warp.get_cuda_driver_version()),
        "cuda_toolkit": _dotted(warp.get_cuda_toolkit_version()), "warp": version("warp-lang"),
        "mujoco_warp": version("mujoco-warp"), "cpu": cpu_name(),
    }  # fmt: skip
    records = [row._asdict() | {"ratio": row.ratio} for row in rows]
    print_facts([Fact(key.replace("_", " "), str(value)) for key, value in facts.items()])
    print_table("", records)
    passed = all(row.passed for row in rows)
    if json:
        print_json({**facts, "passed": passed, "rows": records})
    return 0 if passed else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
