"""Kalman filters on many trials: truths (4.6.1), estimates, and the sign test between two filters.

Initial means are not printed in chapter 4: those of 3.8.5 are taken. That of the constant flow is
confirmed by table 4.1: ||Sigma(t_i)|| = 0.16 at a timestep of 5 s is 0.1 + 0.01 * 2.5^2, so the
guard is 2.5 s away, the initial covariance 0.1 I (as 4.7.1 has it for the particles), and the
process noise 0.01 dt^2 (its caption's 0.1 dt^2 would make it 0.73).
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numba import njit
from numpy.typing import NDArray
from scipy.stats import binom

from saltation.compiled.calls import put
from saltation.compiled.functions import vector_table
from saltation.compiled.limits import OK
from saltation.derivatives import jacobian
from saltation.filters.bank import BankOptions
from saltation.filters.draws import subkey
from saltation.filters.interface import NOT_TRANSVERSE, Belief
from saltation.filters.kernels.cloud import (
    Cloud,
    draw_cloud,
    drop_failed,
    effective_size,
    move_all,
    resample,
    weigh,
)
from saltation.filters.kernels.functions import measurement as h
from saltation.filters.kernels.kalman import Gaussian, correct, force, gaussian_of, predict
from saltation.filters.kernels.mixture import Mixture, correct_mixture, make_one, predict_mixture
from saltation.filters.kernels.noisy_flow import PIECES, Draws, noisy_step, scatter
from saltation.filters.model import FilterModel, Measurement, ProcessNoise, covariance_root
from saltation.filters.particle import ParticleOptions
from saltation.filters.tables import KernelTables, ModelTables, model_tables
from saltation.systems import Array, VectorFunction
from studies.figures import Band, Panel, dots, draw, over
from studies.kong.systems import aslip, constant_flow
from studies.study import Criterion, Row, StudyOptions, StudyResult

FLOW_DURATION, FLOW_MEAN, FLOW_VARIANCE = 5.0, np.array([-2.5, 0.0]), 0.1  # 4.7.1, 3.8.5
ASLIP_DURATION, ASLIP_VARIANCE = 1.25, 1e-4  # 4.7.2
SIGNIFICANT = 0.05  # 4.7.1
PARTICLES, FOLLOWED = 1000, 20  # of the figure of a trial, and in how many trials
kernel = njit(cache=True, error_model="numpy", nogil=True)
THREADS = min(8, os.cpu_count() or 1)  # results do not depend on it


class Level(NamedTuple):
    """One set of a grid: the timestep, and how much noise."""

    dt: float  # [s]
    process: float  # ||W|| / dt^2
    measurement: float  # ||V||


class Problem(NamedTuple):
    """Data for the filters of one set, and B trials to start."""

    model: FilterModel
    start: Belief  # in the first mode
    states: Array  # (B, n) true initial states
    level: Level
    steps: int
    coordinates: Sequence[VectorFunction]  # (n,) of each mode's states, shared by all modes


def itself(t: float, x: Array, u: Array) -> Array:
    """The state."""
    return x.copy()


def flow_problem(level: Level, trials: int, seed: int) -> Problem:
    """Constant flow, both states measured: h_I(x) = x (4.6.2)."""
    system = constant_flow.constant_flow()
    process = dict.fromkeys(system.modes, ProcessNoise(level.process * np.eye(2)))
    seen = Measurement(itself, level.measurement * np.eye(2), lambda t, x, u: np.eye(2))
    model = FilterModel(system, process, dict.fromkeys(system.modes, seen))
    start = Belief(0.0, constant_flow.LEFT, FLOW_MEAN, FLOW_VARIANCE * np.eye(2), 0, "ok")
    drawn = np.random.default_rng(seed).standard_normal((trials, 2))
    states = FLOW_MEAN + np.sqrt(FLOW_VARIANCE) * drawn
    return Problem(model, start, states, level, round(FLOW_DURATION / level.dt), [itself, itself])


six = njit(lambda t, x, u: np.array([x[0], x[1], x[2], x[5], x[6], x[7]]))  # of the body
to_body = njit(aslip.to_body)


def aslip_problem(level: Level, trials: int, seed: int) -> Problem:
    """ASLIP, the body's configuration and velocity measured in both modes (4.6.2).

    In flight the leg is held to the body, so the process noise moves the toe along with it, as the
    initial covariance does ("set to match the constraint"): Q = w T T', with T the derivative of
    the eight states by the body's six. In stance the toe stands on the ground, and has none; the
    three leg coordinates and their rates have w each. Errors are of the eight states of flight,
    into which (4.28) takes those of stance; the source does not say in which its are. With noise
    on the toe of its own, or none, the SKF is better too, by less (tried on 8 sets each).
    """
    T = jacobian(aslip.at_rest, aslip.START)
    legs = np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    flight, stance = (ProcessNoise(level.process * Q) for Q in (T @ T.T, legs))
    V = level.measurement * np.eye(6)
    model = FilterModel(
        aslip.aslip(),
        {aslip.FLIGHT: flight, aslip.STANCE: stance},
        {
            aslip.FLIGHT: Measurement(six, V),
            aslip.STANCE: Measurement(lambda t, x, u: six(t, to_body(t, x, u), u), V),
        },
    )
    mean = aslip.at_rest(aslip.START)
    belief = Belief(0.0, aslip.FLIGHT, mean, ASLIP_VARIANCE * T @ T.T, 0, "ok")
    drawn = np.random.default_rng(seed).standard_normal((trials, 6))
    bodies = aslip.START + np.sqrt(ASLIP_VARIANCE) * drawn
    states = np.array([aslip.at_rest(body) for body in bodies])
    steps = int(ASLIP_DURATION / level.dt + 1e-9)  # 1.25 s is no multiple of 0.03 s
    return Problem(model, belief, states, level, steps, [itself, aslip.to_body])


class Truths(NamedTuple):
    """B trajectories over K timesteps, in shared coordinates; NaN after a failure."""

    states: Array  # (B, K+1, n)
    modes: NDArray[np.int64]  # (B, K+1) in the system's order
    measurements: Array  # (B, K, p) at the end of each timestep
    ok: NDArray[np.bool_]  # (B,) which of them reached the end


def simulate_truths(problem: Problem, seed: int, threads: int = THREADS) -> Truths:
    """Trajectories with process and measurement noise; see ``ProcessNoise``.

    A trial's noise depends on the seed and on its number alone.
    """
    (B, n), K = problem.states.shape, problem.steps
    p = max(len(one.V) for one in problem.model.measurements.values())
    draws = [
        np.random.default_rng(stream).standard_normal((B, K, *shape))
        for stream, shape in zip(
            np.random.SeedSequence(seed).spawn(3), ((PIECES, n), (PIECES, n), (p,)), strict=True
        )
    ]
    states, ys = np.full((B, K + 1, n), np.nan), np.full((B, K, p), np.nan)
    modes, codes = np.zeros((B, K + 1), dtype=np.int64), np.zeros(B, dtype=np.int64)
    arrays = (*draws, problem.states, states, modes, ys, codes)
    _share_out(_simulate, problem, arrays, threads, noisy=True)
    return Truths(states, modes, ys, codes == OK)


def kalman(
    problem: Problem, ys: Array, salted: bool, threads: int = THREADS
) -> tuple[Array, NDArray[np.bool_]]:
    """Means (B, K+1, n) of the SKF, or not ``salted`` of the JRKF, and where none failed (B,).

    Measurements are (B, K, p), each at the end of a timestep.
    """
    means, codes = _room(problem, ys), np.zeros(len(ys), dtype=np.int64)
    _share_out(_kalman, problem, (ys, means, codes), threads, salted=salted)
    return means, np.isin(codes, (OK, NOT_TRANSVERSE))


def bank(problem: Problem, ys: Array, threads: int = THREADS) -> Array:
    """Means (B, K+1, n) of a bank of salted filters."""
    means, split = _room(problem, ys), BankOptions().split()
    _share_out(
        _bank, problem, (ys, means), threads,
        lambda tables: (split, Mixture.empty(tables), Mixture.empty(tables))
    )  # fmt: skip
    return means


def particles(problem: Problem, ys: Array, options: ParticleOptions) -> Array:
    """Means (B, K+1, n) of particle filters; trial 0 is the ``ParticleFilter`` of the options."""
    means, size = _room(problem, ys), (options.particles, problem.states.shape[1])
    keys = np.array([subkey(np.uint64(options.seed), b) for b in range(len(ys))], dtype=np.uint64)
    S, least = covariance_root(problem.start.Sigma), options.resample_below * options.particles
    _share_out(
        _particles, problem, (ys, means, keys), options.threads,
        lambda tables: (S, least, Cloud.empty(*size)), noisy=True
    )  # fmt: skip
    return means


class Task(NamedTuple):
    """Common part of all trials, compiled."""

    start: Gaussian
    u: Array  # none
    timestep: float  # [s]
    coordinates: Any


def _room(problem: Problem, ys: Array) -> Array:
    return np.zeros((len(ys), ys.shape[1] + 1, problem.states.shape[1]))


def _share_out(
    kernel: Callable[..., None],
    problem: Problem,
    arrays: Sequence[NDArray[Any]],
    threads: int,
    room: Callable[[ModelTables], tuple[Any, ...]] = lambda tables: (),
    noisy: bool = False,
    salted: bool = True,
) -> None:
    """Call a kernel on slices of the trials' arrays, each with room of its own, side by side.

    With noise the flow is disturbed, so each slice has tables of its own.
    """
    model = model_tables(problem.model, native_code=True, salted=salted)
    start = gaussian_of(problem.start, list(problem.model.system.modes))
    task = Task(start, np.zeros(0), problem.level.dt, vector_table(problem.coordinates))

    def part(*slices: NDArray[Any]) -> None:
        kernel(model.with_disturbance() if noisy else model.tables, task, *slices, *room(model))

    if threads == 1 or not model.in_threads:
        part(*arrays)
    else:
        part(*(each[:0] for each in arrays))  # compiles once, before the threads start
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, *(np.array_split(each, threads) for each in arrays)))
    model.errors()


@kernel
def _enter(room, task: Task, mode, x):
    """Write a state in shared coordinates."""
    put(room, task.coordinates[mode](0.0, x.copy(), task.u))


@kernel
def _simulate(f: KernelTables, task: Task, process, reset, noise, starts, states, modes, ys, codes):
    """Fill states, modes, measurements and codes, by standard normal draws."""
    for b in range(len(process)):
        mode, t = task.start.mode, task.start.t
        x = starts[b, : f.system.dims[mode]].copy()
        modes[b, 0] = mode
        _enter(states[b, 0], task, mode, x)
        for k in range(process.shape[1]):
            end = task.start.t + (k + 1) * task.timestep
            draws = Draws(np.uint64(0), process[b, k], reset[b, k])
            mode, x, _, codes[b] = noisy_step(f, mode, t, x, task.u, end, draws)
            if codes[b] != OK:
                break
            t, modes[b, k + 1] = end, mode
            _enter(states[b, k + 1], task, mode, x)
            p = f.noise.size[mode]
            put(ys[b, k], h(f, mode, t, x, task.u))
            scatter(ys[b, k, :p], f.noise.V_root[mode], noise[b, k], 1.0)


@kernel
def _kalman(f: KernelTables, task: Task, ys, means, codes):
    for b in range(len(ys)):
        _enter(means[b, 0], task, task.start.mode, task.start.x)
        g = force(f, task.start, task.u, -1).g
        for k in range(ys.shape[1]):
            y, end = ys[b, k].copy(), task.start.t + (k + 1) * task.timestep
            predicted = predict(f, g, task.u, end, True)
            corrected, _ = correct(f, predicted.g, task.u, y, np.bool_(False))
            g = corrected.g
            for one in (predicted.code, corrected.code):
                if codes[b] in (OK, NOT_TRANSVERSE) and one != OK:
                    codes[b] = one
            _enter(means[b, k + 1], task, g.mode, g.x)


@kernel
def _bank(f: KernelTables, task: Task, ys, means, split, mixture, other):
    for b in range(len(ys)):
        make_one(f, mixture, task.start)
        _mixture_mean(f, task, task.start.t, mixture, means[b, 0])
        make_one(f, mixture, force(f, task.start, task.u, -1).g)
        for k in range(ys.shape[1]):
            t = task.start.t + k * task.timestep
            y, end = ys[b, k].copy(), task.start.t + (k + 1) * task.timestep
            predict_mixture(f, mixture, t, task.u, end, split, other)
            if correct_mixture(f, other, end, task.u, y, split, mixture)[0] != OK:
                mixture, other = other, mixture
            _mixture_mean(f, task, end, mixture, means[b, k + 1])


@kernel
def _mixture_mean(f: KernelTables, task: Task, t, mixture: Mixture, mean):
    mean[:] = 0.0
    for mode in range(len(mixture.weights)):
        if mixture.weights[mode] > 0.0:
            x = mixture.means[mode, : f.system.dims[mode]].copy()
            mean += mixture.weights[mode] * task.coordinates[mode](t, x, task.u)


@kernel
def _particles(f: KernelTables, task: Task, ys, means, keys, S, least, cloud):
    """``S`` is a root of Sigma, ``least`` the effective size below which particles are drawn."""
    count, start = len(cloud.modes), task.start
    for b in range(len(ys)):
        draw_cloud(cloud, start.mode, start.x, S, subkey(keys[b], -1))
        _cloud_mean(f, task, start.t, cloud, means[b, 0])
        for k in range(ys.shape[1]):
            key, t = subkey(keys[b], k), start.t + k * task.timestep
            if least >= count or effective_size(cloud.log_weights) < least:
                resample(cloud, subkey(key, 0))
            end = t + task.timestep
            move_all(f, t, task.u, end, subkey(key, 1), (0, 1), cloud)
            drop_failed(cloud)
            weigh(f, end, task.u, ys[b, k], cloud)
            _cloud_mean(f, task, end, cloud, means[b, k + 1])


@kernel
def _cloud_mean(f: KernelTables, task: Task, t, cloud: Cloud, mean):
    mean[:] = 0.0
    for b in range(len(cloud.modes)):
        weight, mode = np.exp(cloud.log_weights[b]), cloud.modes[b]
        if weight > 0.0:
            x = cloud.states[b, : f.system.dims[mode]].copy()
            mean += weight * task.coordinates[mode](t, x, task.u)


def mse(truth: Array, means: Array) -> Array:
    """MSE (4.24) of each trial (B,)."""
    return np.sum((truth - means)[:, 1:] ** 2, axis=-1).mean(axis=1)


def sign_test(a: Array, b: Array) -> Any:
    """Two-sided p-value of the hypothesis that a - b has the median zero; ties are dropped.

    Dixon and Mood (1946): under it the smaller count of signs is below what it is with that
    probability, as of a binomial distribution of one half.
    """
    fewer, more = sorted((int(np.sum(a < b)), int(np.sum(a > b))))
    return np.minimum(1.0, 2.0 * binom.cdf(fewer, fewer + more, 0.5))


def verdict(a: Array, b: Array, first: str, second: str) -> Row:
    """p-value of the sign test, and whose errors are smaller, or "tie"."""
    p = sign_test(a, b)
    won = first if np.sum(a < b) > np.sum(a > b) else second
    return {"p_value": p, "better": won if p < SIGNIFICANT else "tie"}


def compare_all(
    options: StudyOptions,
    make: Callable[[Level, int, int], Problem],
    grid: tuple[Sequence[float], ...],
    trials: int,
    shown: Level,
    labels: Sequence[str],
    coordinates: Sequence[int],
) -> StudyResult:
    """SKF against JRKF on every set: a row a set, with the ratio of errors, and one trial.

    Args:
        options: of the study.
        make: gives the problem of (level, trials, seed).
        grid: timesteps, process noises, measurement noises.
        trials: of each set, where the user gives no other number.
        shown: the set of the figure.
        labels: of the coordinates that it shows.
        coordinates: indices of those, in the order of the measurement.
    """
    rows, figures = [], {}
    for i, level in enumerate(options.track([Level(*each) for each in product(*grid)])):
        start, noise = np.random.SeedSequence([options.seed, i]).generate_state(2)
        problem = make(level, options.count(trials), start)
        truths = simulate_truths(problem, noise)
        found = [kalman(problem, truths.measurements, salted) for salted in (True, False)]
        done = truths.ok & found[0][1] & found[1][1]
        skf, jrkf = (mse(truths.states[done], means[done]) for means, _ in found)
        rows.append(level._asdict() | {
            "mse_skf": np.mean(skf),
            "mse_jrkf": np.mean(jrkf),
            **verdict(skf, jrkf, "skf", "jrkf"),
            "lost": np.sum(~done)
        })  # fmt: skip
        if level == shown:
            kept = Truths._make(each[done] for each in truths)
            few = ParticleOptions(PARTICLES, seed=noise, threads=THREADS)
            tracks = {"SKF": found[0][0][done], "JRKF": found[1][0][done]}
            tracks["particles"] = particles(problem, kept.measurements[:FOLLOWED], few)
            errors = {name: np.abs(x - kept.states[: len(x)]) for name, x in tracks.items()}
            figures["trial"] = _draw_trial(
                level, kept, errors, zip(labels, coordinates, strict=True)
            )
    worse = sum(row["better"] == "jrkf" for row in rows) / len(rows)
    criteria = [Criterion("share of sets in which the JRKF is better", worse, "<=", SIGNIFICANT)]
    return StudyResult(rows, figures, criteria=criteria)


def _draw_trial(
    level: Level, truths: Truths, errors: dict[str, Array], shown: Iterable[tuple[str, int]]
) -> Figure:
    """One trial above, and absolute errors of all below."""
    times = level.dt * np.arange(truths.states.shape[1])
    above, below = [], []
    for i, (label, at) in enumerate(shown):
        measured = np.stack((times[1:], truths.measurements[0, :, i]), axis=1)
        truth = over(times, truths.states[0, :, at])
        above.append(Panel({"measured": dots(measured), "truth": truth}, "$t$ [s]", label))
        bands = {name: Band(times, each[:, :, at]) for name, each in errors.items()}
        below.append(Panel(bands, "$t$ [s]", f"error of {label}"))
    return draw(*above, *below, columns=len(above), width=2.6, height=2.4)
