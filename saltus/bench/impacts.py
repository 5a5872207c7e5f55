"""``saltus bench impacts``: how fast sets of outcomes are sampled, against bounds of our own.

Rows: every system of section 5.4 of Halm and Posa on one core, a round of samples at a time, in
turns; and the whole set of the compass gait on all cores. The time of a sample that the paper
prints (MATLAB and PATH, on a laptop of four cores) stands beside, measured elsewhere.
"""

from __future__ import annotations

import os
from time import perf_counter
from typing import Any

import numpy as np

from hybrid.impacts.sampling import SamplingOptions, sample_impacts
from saltus.bench.result import BenchResult
from saltus.common.console import say
from saltus.studies.halm_posa.systems.catalogue import CASES, ImpactCase

ROUNDS, SAMPLES = 5, 2**13
BLOCK, BLOCK_BOUND_US = "rocking block", 20.0  # a sample on one core [us]
GAIT, GAIT_BOUND_S = "compass gait", 60.0  # its whole set on all cores [s]


def run(rounds: int = ROUNDS, samples: int = SAMPLES, whole: int | None = None) -> BenchResult:
    """Time every system; the ratio is the larger one of both bounded times to its bound.

    Args:
        rounds: of each system on one core; the median counts.
        samples: of a round.
        whole: samples of the compass gait on all cores; None for the paper's 2^20.
    """
    say("preparing (compiles on the first run)")
    for case in CASES.values():
        _seconds(case, 8, 1)
    times = np.empty((rounds, len(CASES)))
    for turn in range(rounds):
        say(f"round {turn + 1} of {rounds}")
        times[turn] = [_seconds(case, samples, 1) / samples for case in CASES.values()]
    medians = dict(zip(CASES, 1e6 * np.median(times, axis=0), strict=True))
    rows = [_row(name, samples, 1, us, BLOCK_BOUND_US if name == BLOCK else None)
            for name, us in medians.items()]  # fmt: skip
    count, cores = whole or CASES[GAIT].samples, os.cpu_count() or 1
    say(f"{count} samples of the {GAIT} on {cores} cores")
    seconds = _seconds(CASES[GAIT], count, cores)
    rows.append(_row(GAIT, count, cores, 1e6 * seconds / count, 1e6 * GAIT_BOUND_S / 2**20))
    ratio = max(r["microseconds_per_sample"] / r["bound_us"] for r in rows if r["bound_us"])
    note = (
        f"{count} samples of the {GAIT}: {seconds:.2f} s on {cores} cores"
        f" ({GAIT_BOUND_S:g} s allowed for 2^20); ratio: the slower one to its bound"
    )
    return BenchResult(rows, ratio, note)


def _seconds(case: ImpactCase, samples: int, threads: int) -> float:
    options = SamplingOptions(samples, case.step, case.steps, threads=threads)
    begin = perf_counter()
    sample_impacts(case.problem(), case.velocity(), options)
    return perf_counter() - begin


def _row(name: str, samples: int, cores: int, us: float, bound: float | None) -> dict[str, Any]:
    return {
        "system": name, "samples": samples, "cores": cores, "microseconds_per_sample": float(us),
        "bound_us": bound, "printed_us": 1e6 * CASES[name].printed_seconds,
    }  # fmt: skip
