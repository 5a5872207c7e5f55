"""Salted Kalman filter and its bank beside particle filters: error and time."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from hybrid.filters.particle import ParticleOptions
from hybrid.filters.salted import Sensitivity
from hybrid.options import SimulationOptions
from hybrid.systems import Array
from studies.figures import figure
from studies.kong.filters.comparison import SIGNIFICANT, sign_test
from studies.kong.filters.coordinates import common
from studies.kong.filters.problems import Level, Problem, aslip_problem, flow_problem
from studies.kong.filters.trials import bank_trials, estimate_trials, particle_trials
from studies.kong.filters.truths import Truths, simulate_truths
from studies.study import StudyOptions, StudyResult, study

THREADS = min(8, os.cpu_count() or 1)  # results do not depend on it
TOLERANCE = SimulationOptions(rtol=1e-6, atol=1e-8)  # of truth and filters alike
TIMED = 4  # trials that particles are timed on

Filter = Callable[[Array, int], Array]  # (measurements (B, K, p), threads) -> means (B, K+1, d)


@dataclass(frozen=True)
class FilterRow:
    """Error and time of one filter."""

    system: str
    filter: str
    particles: int | None
    mse: float
    seconds_per_trial: float


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

    def row(self) -> FilterRow:
        """The row of the study."""
        return FilterRow(
            system=self.system,
            filter=self.filter,
            particles=self.particles,
            mse=self.mse,
            seconds_per_trial=self.seconds,
        )


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
        estimates = estimate_trials(
            problem.model, problem.start, ys, problem.level.dt, sensitivity, threads=threads
        )
        return common(problem.model.system, estimates.modes, estimates.means, problem.coordinates)

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


FLOW = Case(
    "constant_flow", flow_problem, Level(0.05, 0.01, 1.0), (50, 100, 200, 500, 1000, 2000, 3000)
)
ASLIP = Case("aslip", aslip_problem, Level(0.005, 0.01, 0.005), (3000, 30_000))
LONGER = tuple(
    Case(f"constant_flow, dt {dt:g} s", flow_problem, Level(dt, 0.01, 1.0), (2000,))
    for dt in (5.0, 1.0, 0.1)
)  # table 4.1
TRIALS = {"constant_flow": 20, "aslip": 2}  # about a minute on two cores
FULL = {"constant_flow": 1000, "aslip": 100}  # 4.7
THESIS = {
    "constant_flow": "2.7% less MSE than the SKF with 1000 particles in 941 times the time, 5.2%"
    " with 2000 in 1736 times",
    "aslip": "30 000 particles have a larger error than the SKF (p < 0.001), in 22 000 times"
    " its time",
}


@study("Kong, figure 4.4", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``system, filter, particles, mse, seconds_per_trial``, and figure 4.4."""
    outcomes_by_case: dict[str, list[Outcome]] = {}
    notes = [
        "Times are processor times on one core. All filters are compiled and integrate to the same"
        f" relative tolerance ({TOLERANCE.rtol:g}). The thesis's ratios of times are of MATLAB"
        " programs.",
        "The error of a particle filter is that of the exact filter plus that of its draws. Its"
        " gain while a guard splits the particles is a few per cent, and shows only in many"
        " trials.",
    ]
    cases = (FLOW, ASLIP, *LONGER)
    total = sum(3 + len(case.sizes) for case in cases)
    done = 0
    for case in cases:
        kind = "aslip" if case is ASLIP else "constant_flow"
        trials = options.trials or (FULL if options.full else TRIALS)[kind]
        every = outcomes_by_case[case.name] = []
        for one in outcomes(case, trials, options.seed):
            every.append(one)
            done += 1
            options.progress(done, total, f"{case.name} {one.filter} {one.particles or ''}")
    for case in (FLOW, ASLIP):
        notes += [*compared(outcomes_by_case[case.name]), f"Thesis: {THESIS[case.name]}."]
    notes += [line for case in LONGER for line in compared(outcomes_by_case[case.name])]
    rows = [one.row() for case in (FLOW, ASLIP) for one in outcomes_by_case[case.name]]
    drawing = draw([outcomes_by_case[case.name] for case in (FLOW, ASLIP)])
    return StudyResult(rows, {"figure_4_4": drawing}, notes)


def compared(every: Sequence[Outcome]) -> list[str]:
    """A line for each filter beside the salted one, and one for particles of equal error."""
    skf, *others = every
    lines = [_beside(one, skf) for one in others if one.filter != "jrkf"]
    lines[0] = f"{skf.system}, {len(skf.errors)} trials, compared with the SKF: {lines[0]}"
    enough = [one for one in others if one.filter == "particles" and one.mse <= skf.mse]
    if len(lines) > 2:
        lines.append(
            f"Number of particles with the error of the SKF: {enough[0].particles}, in"
            f" {enough[0].seconds / skf.seconds:.3g} times its processor time."
            if enough
            else "Number of particles with the error of the SKF: more than in this study."
        )
    return lines


def _beside(one: Outcome, skf: Outcome) -> str:
    """MSE, time and the sign test of a filter against the salted one."""
    p = sign_test(one.errors, skf.errors)
    fewer = np.sum(one.errors < skf.errors) > np.sum(one.errors > skf.errors)
    verdict = ("better" if fewer else "worse") if p < SIGNIFICANT else "no difference"
    change = 100.0 * (one.mse / skf.mse - 1.0)
    ratio = one.seconds / skf.seconds
    return f"{_name(one)}: MSE {change:+.2g}%, {ratio:.3g} times the time, {verdict} (p = {p:.2g})."


def _name(one: Outcome) -> str:
    return f"{one.particles} particles" if one.particles else one.filter


def draw(systems: Iterable[Sequence[Outcome]]) -> Figure:
    """Figure 4.4: MSE over processor time a trial, a panel a system."""
    systems = list(systems)
    made, axes = figure(len(systems), width=4.2 * len(systems), height=3.4, squeeze=False)
    for panel, every in zip(axes[0], systems, strict=True):
        cloud = [one for one in every if one.filter == "particles"]
        panel.plot([one.seconds for one in cloud], [one.mse for one in cloud], "k+-", ms=8, lw=0.6,
                   label="particles")  # fmt: skip
        for one in cloud:
            panel.annotate(f"{one.particles}", (one.seconds, one.mse), xytext=(3, 4),
                           textcoords="offset points", fontsize=6)  # fmt: skip
        for name, colour in (("skf", "tab:blue"), ("jrkf", "tab:red"), ("bank", "tab:green")):
            (one,) = (o for o in every if o.filter == name)
            panel.plot(one.seconds, one.mse, "+", color=colour, ms=10, mew=2.0,
                       label=name.upper() if name != "bank" else "bank of SKFs")  # fmt: skip
            if name == "skf":
                panel.axhline(one.mse, color=colour, lw=0.8)
        panel.set(xscale="log", yscale="log", xlabel="processor time of a trial [s]", ylabel="MSE")
        panel.set_title(f"{every[0].system.replace('_', ' ')}, {len(every[0].errors)} trials")
        panel.legend(frameon=False, fontsize=7)
    return made
