"""The set of outcomes of a simultaneous impact: Algorithms 1 and 2, on all cores.

Contacts resolve at any relative rate (37)-(39). A sample repeatedly draws a bound of each contact's
normal impulse, and steps by (75) until no contact closes.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from saltation.arrays import Flags, Integers
from saltation.impacts.contact_problem import COLLIDING, ContactProblem
from saltation.impacts.lemke_kernel import SOLVED, STATUSES
from saltation.impacts.pointedness import pointed_direction
from saltation.impacts.step_kernel import StepTables, step_all
from saltation.options import check
from saltation.systems import Array

CHUNK = 8192  # samples that one thread takes at a time; the draws do not depend on the threads


@dataclass(frozen=True)
class SamplingOptions:
    """Options of sampling a set of outcomes.

    Attributes:
        samples: M of Algorithm 2.
        step: h, largest growth of a contact's normal impulse in a step [N s].
        max_steps: N; a sample that still collides after N steps takes one more, of
            epsilon / (3 psi) at every contact (Algorithm 2); if it then still collides, it is not
            terminated.
        epsilon: of the net, for that step [units of v].
        seed: of the draws.
        random_covering: draw Lemke's covering vector too. If a step has several solutions
            (Assumption 6 fails: compass gait, RAMone), a fixed one always selects the same.
        threads: None for one per core.

    Raises:
        ValueError: a number is not positive, or a count or the seed is not whole.
    """

    samples: int
    step: float
    max_steps: int = 1000
    epsilon: float = 1e-3
    seed: int = 0
    random_covering: bool = True
    threads: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        check(self, "step epsilon", "samples max_steps" + " threads" * (self.threads is not None))
        if not (isinstance(self.seed, int | np.integer) and self.seed >= 0):
            raise ValueError(f"seed is {self.seed}; give a whole number from 0 on")


class ImpactSet(NamedTuple):
    """Sampled outcomes of one impact."""

    v_plus: Array  # (S, n) velocities after it
    terminated: Flags  # (S,) no contact closes any more
    lcps: Integers  # (S,) steps that each took
    energy_growth: float  # largest growth of K in any step, over K before; 0 where none grew
    failures: dict[str, int]  # LCPs that were not solved, by status; such a step is drawn anew
    degenerate: int = 0  # LCPs with ties, which the lexicographic rule broke
    message: str = ""  # samples that did not end, LCPs that were not solved, and remedies; or empty

    @property
    def outcomes(self) -> Array:
        """Velocities of the samples whose impact ended (., n)."""
        return self.v_plus[self.terminated]


def sample_impacts(problem: ContactProblem, v: Array, options: SamplingOptions) -> ImpactSet:
    """Sample outcomes of the impact with velocity v (n,): Algorithm 2.

    The same options give the same samples, on any number of threads.

    Raises:
        ValueError: v has another dimension or is not finite.
    """
    tables, run = StepTables.of(problem), _Run.of(problem, v, options.samples)
    begins = range(0, options.samples, CHUNK)
    seeds = np.random.SeedSequence(options.seed).spawn(len(begins))

    def work(part: int) -> None:
        rows = np.arange(begins[part], min(begins[part] + CHUNK, options.samples))
        for _ in _rounds(problem, tables, run, rows, options, np.random.default_rng(seeds[part])):
            pass

    threads = min(options.threads or os.cpu_count() or 1, len(begins))
    if threads > 1:
        _step(tables, run, np.arange(0), np.zeros((0, problem.count)), np.zeros((0, tables.size)))
        with ThreadPoolExecutor(threads) as pool:  # the line above compiles the kernel
            list(pool.map(work, range(len(begins))))
    else:
        for part in range(len(begins)):
            work(part)
    return run.result(problem, v, options)


def sample_paths(problem: ContactProblem, v: Array, options: SamplingOptions) -> list[Array]:
    """Velocities (p, n) through each sample's impact, the first one v: for figures.

    Raises:
        ValueError: as ``sample_impacts``.
    """
    tables, run = StepTables.of(problem), _Run.of(problem, v, options.samples)
    rows, rng = np.arange(options.samples), np.random.default_rng(options.seed)
    paths = [[np.array(v, float)] for _ in rows]
    for stepped_rows in _rounds(problem, tables, run, rows, options, rng):
        for row in stepped_rows:
            paths[row].append(run.velocities[row].copy())
    return [np.array(path) for path in paths]


class _Run(NamedTuple):
    """Velocities and counts of all samples."""

    velocities: Array
    lcps: Integers
    growth: Array
    endings: Integers  # (chunks, statuses and ties)

    @staticmethod
    def of(problem: ContactProblem, v: Array, samples: int) -> _Run:
        v = problem.velocity(v)
        endings = np.zeros((samples // CHUNK + 1, len(STATUSES) + 1), np.int64)
        return _Run(np.tile(v, (samples, 1)), np.zeros(samples, np.int64),
                    np.zeros(samples), endings)  # fmt: skip

    def result(self, problem: ContactProblem, v: Array, options: SamplingOptions) -> ImpactSet:
        before, total = problem.kinetic_energy(np.asarray(v, float)), self.endings.sum(0)
        done = ~_collide(problem, self.velocities)
        growth = float(self.growth.max()) / before if before > 0.0 else 0.0
        failures = {s: int(total[i]) for i, s in enumerate(STATUSES) if i != SOLVED and total[i]}
        parts = [f"{count} LCPs were not solved ({status}) and their steps drawn anew"
                 for status, count in failures.items()]  # fmt: skip
        if not done.all():
            remedy = "its friction cone is pointed, so it ends: raise max_steps or the step"
            if pointed_direction(problem) is None:
                remedy = (
                    "its friction cone is not pointed (24), so it may never end: lower the"
                    " friction, leave a contact out, or use the samples that ended"
                )
            parts.insert(
                0,
                f"{np.sum(~done)} of {len(done)} samples still collide after {options.max_steps}"
                f" steps of up to {options.step:g} N s; {remedy}",
            )
        message = f"{problem.at(v)}: {'; '.join(parts)}" if parts else ""
        ties = int(total[-1])
        return ImpactSet(self.velocities, done, self.lcps, growth, failures, ties, message)


def _collide(problem: ContactProblem, velocities: Array) -> Flags:
    closes: Flags = velocities @ problem.J_n.T < -COLLIDING
    return np.any(closes, 1)


def _rounds(
    problem: ContactProblem, tables: StepTables, run: _Run, rows: Integers,
    options: SamplingOptions, rng: np.random.Generator,
) -> Iterator[Integers]:  # fmt: skip
    """Step all samples of ``rows`` that collide, round by round; yield the rows of each round."""
    rows = rows[_collide(problem, run.velocities[rows])]
    for _ in range(options.max_steps):
        if not len(rows):
            return
        limits = options.step * rng.random((len(rows), problem.count))
        alive = _step(tables, run, rows, limits, _cover(tables, len(rows), options, rng))
        yield rows
        rows = rows[alive]
    last = np.full((len(rows), problem.count), options.epsilon / (3.0 * net_scale(problem)))
    _step(tables, run, rows, last, _cover(tables, len(rows), options, rng))
    yield rows


def _cover(
    tables: StepTables, count: int, options: SamplingOptions, rng: np.random.Generator
) -> Array:
    cover = np.tile(tables.floor, (count, 1))
    return cover * np.exp(rng.normal(size=cover.shape)) if options.random_covering else cover


def _step(tables: StepTables, run: _Run, rows: Integers, limits: Array, cover: Array) -> Flags:
    alive = np.zeros(len(rows), bool)
    endings = run.endings[rows[0] // CHUNK if len(rows) else 0]
    arrays = (run.velocities, run.lcps, run.growth, endings, alive)
    step_all(tables, rows, limits, cover, *arrays)
    return alive


def net_scale(problem: ContactProblem) -> float:
    """psi of Algorithm 2: how far a step of unit impulses may carry v, and one more."""
    largest = np.linalg.norm(problem.velocity_by_impulse, ord=2)
    return float(largest * problem.count * (1.0 + problem.mu.max()) + 1.0)
