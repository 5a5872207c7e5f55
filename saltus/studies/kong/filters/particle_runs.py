"""Salted filter, JRKF, bank and particles on the same trials: errors, and what they cost."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hybrid.filters.particle import ParticleOptions
from hybrid.filters.salted import Sensitivity
from hybrid.options import SimulationOptions
from hybrid.systems import Array
from saltus.studies.kong.filters.coordinates import common
from saltus.studies.kong.filters.problems import Level, Problem
from saltus.studies.kong.filters.trials import bank_trials, estimate_trials, particle_trials
from saltus.studies.kong.filters.truths import Truths, simulate_truths

THREADS = min(8, os.cpu_count() or 1)  # results do not depend on it
TOLERANCE = SimulationOptions(rtol=1e-6, atol=1e-8)  # of truth and filters alike
TIMED = 4  # trials that particles are timed on

Filter = Callable[[Array, int], Array]  # (measurements (B, K, p), threads) -> means (B, K+1, d)


class Outcome(NamedTuple):
    """What one filter made of the trials."""

    system: str
    filter: str
    particles: int | None
    errors: Array  # (B,) MSE (4.24) of each trial
    seconds: float  # of processor time a trial takes on one core

    @property
    def mse(self) -> float:
        """Mean over the trials."""
        return float(np.mean(self.errors))

    def row(self) -> dict[str, Any]:
        """The row of the study."""
        return {
            "system": self.system,
            "filter": self.filter,
            "particles": self.particles,
            "mse": self.mse,
            "seconds_per_trial": self.seconds,
        }


class Case(NamedTuple):
    """A system's set of trials, and how many particles are tried on it."""

    name: str
    make: Callable[[Level, int, int], Problem]
    level: Level
    sizes: Sequence[int]


def outcomes(case: Case, trials: int, seed: int) -> Iterator[Outcome]:
    """Outcome of every filter, the salted one first. Trials that have no truth are left out."""
    starts, noise, draws = (int(s) for s in np.random.SeedSequence(seed).generate_state(3))
    problem = case.make(case.level, trials, starts)
    options = TOLERANCE
    problem = problem._replace(model=dataclasses.replace(problem.model, options=options))
    truths = simulate_truths(
        problem.model, problem.start.mode, problem.states, case.level.dt, problem.steps, noise,
        threads=THREADS,
    )  # fmt: skip
    ys, truth = truths.measurements[truths.ok], _truth(problem, truths)[truths.ok]
    kalman = {"skf": _kalman(problem, "saltation"), "jrkf": _kalman(problem, "reset"),
              "bank": _bank(problem)}  # fmt: skip
    for name, run in kalman.items():
        yield Outcome(case.name, name, None, _errors(run(ys, 1), truth), seconds(run, ys))
    _particles(problem, 2, draws)(ys[:1], 1)  # compiles
    for size in case.sizes:
        run = _particles(problem, size, draws)
        used = seconds(run, ys[: max(1, min(TIMED, 10_000 // size))])
        yield Outcome(case.name, "particles", size, _errors(run(ys, THREADS), truth), used)


def seconds(run: Filter, ys: Array) -> float:
    """Processor time [s] of a trial on one core: other programs do not count."""
    begun = time.thread_time()
    run(ys, 1)
    return (time.thread_time() - begun) / len(ys)


def _truth(problem: Problem, truths: Truths) -> Array:
    return common(problem.model.system, truths.modes, truths.states, problem.coordinates)


def _errors(means: Array, truth: Array) -> Array:
    return np.sum((means - truth)[:, 1:] ** 2, axis=-1).mean(axis=1)


def _kalman(problem: Problem, sensitivity: Sensitivity) -> Filter:
    def run(ys: Array, threads: int) -> Array:
        found = estimate_trials(
            problem.model, problem.start, ys, problem.level.dt, sensitivity, threads=threads
        )
        return common(problem.model.system, found.modes, found.means, problem.coordinates)

    return run


def _bank(problem: Problem) -> Filter:
    def run(ys: Array, threads: int) -> Array:
        dt, coordinates = problem.level.dt, problem.coordinates
        return bank_trials(problem.model, problem.start, ys, dt, coordinates, threads=threads).means

    return run


def _particles(problem: Problem, size: int, seed: int) -> Filter:
    def run(ys: Array, threads: int) -> Array:
        options = ParticleOptions(size, seed=seed, threads=threads)
        dt, coordinates = problem.level.dt, problem.coordinates
        return particle_trials(problem.model, problem.start, ys, dt, coordinates, options).means

    return run
