"""``saltus bench impacts``: how fast sets of outcomes are sampled, against bounds of our own.

Rows: every system of section 5.4 of Halm and Posa on one core; then the whole set of the compass
gait on all cores. The time of a sample that the paper prints (MATLAB and PATH, on a laptop of four
cores) is in `printed_us`.
"""

from __future__ import annotations

import os
from typing import Any

from hybrid.impacts.sampling import SamplingOptions, sample_impacts
from saltus.bench.contest import US, Contest, Contestant, Times
from saltus.bench.result import BenchResult
from saltus.common.console import say
from saltus.studies.engine import Criterion
from saltus.studies.halm_posa.systems.catalogue import CASES

ROUNDS, SAMPLES = 5, 2**13
BLOCK, BLOCK_BOUND_US = "rocking block", 20.0  # a sample on one core [us]
GAIT, GAIT_BOUND_S, GAIT_SAMPLES = "compass gait", 60.0, 2**20  # its whole set on all cores


def run(rounds: int = ROUNDS, samples: int = SAMPLES, whole: int = GAIT_SAMPLES) -> BenchResult:
    """Time every system; the ratio is the larger one of both bounded times to its bound.

    Args:
        rounds: of each system on one core; the median counts.
        samples: of a round.
        whole: samples of the compass gait on all cores.
    """
    say("preparing (compiles on the first run)")
    contest = Contest([_contestant(name, samples, 1) for name in CASES])
    contest.warm_up()
    times, cores = contest.measure(rounds), os.cpu_count() or 1
    rows = [_row(name, samples, 1, times, {BLOCK: BLOCK_BOUND_US}.get(name)) for name in CASES]
    say(f"{whole} samples of the {GAIT} on {cores} cores")
    times = Contest([_contestant(GAIT, whole, cores)]).measure(1)
    rows.append(_row(GAIT, whole, cores, times, 1e6 * GAIT_BOUND_S / GAIT_SAMPLES))
    bounded = [row for row in rows if row["bound_us"] is not None]
    criteria = [
        Criterion(f"time of a sample of the {row['system']}, {row['cores']} core(s) [us]",
                  row["microseconds_per_sample"], "<=", row["bound_us"])
        for row in bounded
    ]  # fmt: skip
    ratio = max(row["microseconds_per_sample"] / row["bound_us"] for row in bounded)
    note = "ratio: the slower one of both bounded times to its bound"
    return BenchResult(rows, ratio, note, criteria=criteria)


def _contestant(name: str, samples: int, threads: int) -> Contestant:
    case = CASES[name]
    options = SamplingOptions(samples, case.step, case.steps, threads=threads)
    return Contestant(
        name, lambda k: sample_impacts(case.problem(), case.velocity(), options), samples
    )


def _row(
    name: str, samples: int, cores: int, times: Times, bound_us: float | None
) -> dict[str, Any]:
    return {
        "system": name, "samples": samples, "cores": cores,
        "microseconds_per_sample": times.median(name, US), "bound_us": bound_us,
        "printed_us": 1e6 * CASES[name].printed_seconds,
    }  # fmt: skip
