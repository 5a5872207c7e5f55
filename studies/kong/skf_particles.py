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
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from hybrid.filters.particle import ParticleOptions
from hybrid.filters.salted import Sensitivity
from hybrid.options import SimulationOptions
from hybrid.systems import Array
from studies.figures import figure, key
from studies.kong.filters.comparison import verdict
from studies.kong.filters.coordinates import common
from studies.kong.filters.problems import Level, Problem, aslip_problem, flow_problem
from studies.kong.filters.trials import bank_trials, estimate_trials, particle_trials
from studies.kong.filters.truths import simulate_truths
from studies.study import StudyOptions, StudyResult, study

THREADS = min(8, os.cpu_count() or 1)  # results do not depend on it
TOLERANCE = SimulationOptions(rtol=1e-6, atol=1e-8)  # of truth and filters alike
TIMED = 4  # trials that particles are timed on

Filter = Callable[[Array, int], Array]  # (measurements (B, K, p), threads) -> means (B, K+1, d)


class Outcome(NamedTuple):
    """What one filter made of the trials."""

    filter: str
    particles: int | None
    errors: Array  # (B,) MSE (4.24) of each trial
    seconds: float  # of processor time a trial takes on one core

    @property
    def mse(self) -> float:
        """Mean over the trials."""
        return float(np.mean(self.errors))


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
LONGER = tuple(
    Case(f"constant_flow, dt {dt:g} s", flow_problem, Level(dt, 0.01, 1.0), (2000,))
    for dt in (5.0, 1.0, 0.1)
)  # table 4.1


@study("Kong, figure 4.4", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """A row a filter, and figure 4.4."""
    found: dict[Case, list[Outcome]] = {}
    for case in options.track((FLOW, ASLIP, *LONGER), lambda case: case.name):
        trials = options.count(case.trials, case.full)
        found[case] = list(outcomes(case, trials, options.seed))
    rows = [row(case.name, one, every[0]) for case, every in found.items() for one in every]
    drawing = draw({case.name: found[case] for case in (FLOW, ASLIP)})
    return StudyResult(rows, {"figure_4_4": drawing})


def row(system: str, one: Outcome, skf: Outcome) -> dict[str, Any]:
    """A filter beside the salted one: ratios of error and time, and the sign test of errors."""
    p, better = verdict(one.errors, skf.errors)
    return {
        "system": system,
        "filter": one.filter,
        "particles": one.particles,
        "mse": one.mse,
        "seconds_per_trial": one.seconds,
        "mse_over_skf": one.mse / skf.mse,
        "seconds_over_skf": one.seconds / skf.seconds,
        "p_value": p,
        "better": {"first": one.filter, "second": "skf"}.get(better, better),
    }


def outcomes(case: Case, trials: int, seed: int) -> Iterator[Outcome]:
    """Outcome of every filter, the salted one first. Trials that have no truth are left out."""
    starts, noise, draws = (int(s) for s in np.random.SeedSequence(seed).generate_state(3))
    problem = case.make(case.level, trials, starts)
    model = dataclasses.replace(problem.model, options=TOLERANCE)
    system, start, dt, shared = model.system, problem.start, case.level.dt, problem.coordinates
    truths = simulate_truths(
        model, start.mode, problem.states, dt, problem.steps, noise, threads=THREADS
    )
    ys = truths.measurements[truths.ok]
    truth = common(system, truths.modes, truths.states, shared)[truths.ok]

    def kalman(sensitivity: Sensitivity) -> Filter:
        def run(ys: Array, threads: int) -> Array:
            found = estimate_trials(model, start, ys, dt, sensitivity, threads=threads)
            return common(system, found.modes, found.means, shared)

        return run

    def particles(size: int) -> Filter:
        return lambda ys, threads: particle_trials(
            model, start, ys, dt, shared, ParticleOptions(size, seed=draws, threads=threads)
        ).means

    def bank(ys: Array, threads: int) -> Array:
        return bank_trials(model, start, ys, dt, shared, threads=threads).means

    def errors(means: Array) -> Array:
        return np.sum((means - truth)[:, 1:] ** 2, axis=-1).mean(axis=1)

    for name, run in {"skf": kalman("saltation"), "jrkf": kalman("reset"), "bank": bank}.items():
        yield Outcome(name, None, errors(run(ys, 1)), seconds(run, ys))
    particles(2)(ys[:1], 1)  # compiles
    for size in case.sizes:
        run = particles(size)
        used = seconds(run, ys[: max(1, min(TIMED, 10_000 // size))])
        yield Outcome("particles", size, errors(run(ys, THREADS)), used)


def seconds(run: Filter, ys: Array) -> float:
    """Processor time [s] of a trial on one core: other programs do not count."""
    begun = time.thread_time()
    run(ys, 1)
    return (time.thread_time() - begun) / len(ys)


def draw(systems: dict[str, list[Outcome]]) -> Figure:
    """Figure 4.4: MSE over processor time a trial, a panel a system."""
    made, axes = figure(len(systems), width=4.2 * len(systems), height=3.4, squeeze=False)
    looks = {"skf": ("tab:blue", "SKF"), "jrkf": ("tab:red", "JRKF"),
             "bank": ("tab:green", "bank of SKFs")}  # fmt: skip
    for panel, (name, every) in zip(axes[0], systems.items(), strict=True):
        cloud = [one for one in every if one.filter == "particles"]
        panel.plot([one.seconds for one in cloud], [one.mse for one in cloud], "k+-", ms=8, lw=0.6,
                   label="particles")  # fmt: skip
        for one in cloud:
            panel.annotate(f"{one.particles}", (one.seconds, one.mse), xytext=(3, 4),
                           textcoords="offset points", fontsize=6)  # fmt: skip
        for one in every[: len(looks)]:
            colour, label = looks[one.filter]
            panel.plot(one.seconds, one.mse, "+", color=colour, ms=10, mew=2.0, label=label)
        panel.axhline(every[0].mse, color="tab:blue", lw=0.8)
        panel.set(xscale="log", yscale="log", xlabel="processor time of a trial [s]", ylabel="MSE")
        panel.set_title(f"{name.replace('_', ' ')}, {len(every[0].errors)} trials")
        key(panel, fontsize=7)
    return made
