"""Salted Kalman filter and its bank beside particle filters: error and time.

Times are processor times on one core. All filters are compiled and integrate to the same relative
tolerance of 1e-6. The thesis's ratios of times are of MATLAB programs.

Thesis, constant flow: 2.7% less MSE than the SKF with 1000 particles in 941 times the time, 5.2%
with 2000 in 1736 times. ASLIP: 30 000 particles have a larger error than the SKF (p < 0.001), in
22 000 times its time.

The error of a particle filter is that of the exact filter plus that of its draws. Its gain while a
guard splits the particles is a few per cent, and shows only in many trials.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from saltation.filters.particle import ParticleOptions
from saltation.options import SimulationOptions
from saltation.systems import Array
from studies.figures import Panel, Styled, draw
from studies.kong import skf
from studies.kong.skf import THREADS, Level, Problem, aslip_problem, flow_problem
from studies.study import Row, StudyOptions, StudyResult, study

TOLERANCE = SimulationOptions(rtol=1e-6, atol=1e-8)  # of truth and filters alike
TIMED = 4  # trials that particles are timed on
Filter = Callable[[Array, int], Array]  # (measurements (B, K, p), threads) -> means (B, K+1, n)


class Case(NamedTuple):
    """A system's set of trials, and how many particles are tried on it."""

    name: str
    make: Callable[[Level, int, int], Problem]
    level: Level
    sizes: Sequence[int]
    trials: int = 20  # with those of ASLIP about a minute on two cores
    full: int = 1000  # 4.7


FLOW = Case(
    "constant_flow", flow_problem, Level(0.05, 0.01, 1.0), (50, 100, 200, 500, 1000, 2000, 3000)
)
ASLIP = Case("aslip", aslip_problem, Level(0.005, 0.01, 0.005), (3000, 30_000), 2, 100)
CASES = (FLOW, ASLIP, *(
    Case(f"constant_flow, dt {dt:g} s", flow_problem, Level(dt, 0.01, 1.0), (2000,))
    for dt in (5.0, 1.0, 0.1)
))  # the last three: table 4.1  # fmt: skip


@study("Kong, figure 4.4", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """A row a filter, and figure 4.4."""
    rows = [
        row
        for case in options.track(CASES)
        for row in rows_of(case, options.count(case.trials, case.full), options.seed)
    ]
    return StudyResult(rows, {"figure_4_4": figure_4_4(rows)})


def rows_of(case: Case, trials: int, seed: int) -> list[Row]:
    """A row for every filter, the salted one first. Trials that have no truth are left out."""
    starts, noise, draws = np.random.SeedSequence(seed).generate_state(3)
    problem = case.make(case.level, trials, starts)
    problem = problem._replace(model=dataclasses.replace(problem.model, options=TOLERANCE))
    truths = skf.simulate_truths(problem, noise)
    ys, truth = truths.measurements[truths.ok], truths.states[truths.ok]

    def particles(ys: Array, threads: int, size: int) -> Array:
        return skf.particles(problem, ys, ParticleOptions(size, seed=draws, threads=threads))

    filters: list[tuple[str, int | None, Filter]] = [
        ("skf", None, lambda ys, threads: skf.kalman(problem, ys, True, threads)[0]),
        ("jrkf", None, lambda ys, threads: skf.kalman(problem, ys, False, threads)[0]),
        ("bank", None, lambda ys, threads: skf.bank(problem, ys, threads)),
        *(("particles", size, partial(particles, size=size)) for size in case.sizes),
    ]
    rows, base = list[Row](), np.zeros(0)
    for name, size, run in filters:
        timed = ys if size is None else ys[: max(1, min(TIMED, 10_000 // size))]
        errors = skf.mse(truth, run(ys, 1 if size is None else THREADS))
        begun = time.thread_time()  # other programs do not count
        run(timed, 1)
        row: Row = {
            "system": case.name,
            "filter": name,
            "particles": size,
            "mse": np.mean(errors),
            "seconds_per_trial": (time.thread_time() - begun) / len(timed),
        }
        first, base = (rows[0], base) if rows else (row, errors)
        rows.append(row | {
            "mse_over_skf": row["mse"] / first["mse"],
            "seconds_over_skf": row["seconds_per_trial"] / first["seconds_per_trial"],
            **skf.verdict(errors, base, name, "skf")
        })  # fmt: skip
    return rows


def figure_4_4(rows: Sequence[Row]) -> Figure:
    """MSE over processor time a trial, a panel a system."""
    panels = []
    for case in (FLOW, ASLIP):
        own = [row for row in rows if row["system"] == case.name]
        curves = {
            name: Styled([(row["seconds_per_trial"], row["mse"]) for row in own
                          if row["filter"] == name], {"marker": "+", "markersize": 9})
            for name in dict.fromkeys(row["filter"] for row in own)
        }  # fmt: skip
        panels.append(Panel(
            curves, "processor time of a trial [s]", "MSE",
            settings={"xscale": "log", "yscale": "log", "title": case.name.replace("_", " ")}
        ))  # fmt: skip
    return draw(*panels)
