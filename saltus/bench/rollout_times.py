"""Timing rollout backends side by side."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from robots.state import Array
from saltus.bench.rollout_engines import Engine
from saltus.bench.rollout_problem import Problem
from saltus.common.console import say

FEWEST, MOST = 3, 200  # samples


class Measured(NamedTuple):
    """Times of one backend and one batch size.

    Attributes:
        samples: (n,) [ms]; those of the same index in a group were taken one after the other.
    """

    backend: str
    device: str
    candidates: int
    samples: Array

    def quantile(self, percent: float) -> float:
        """A percentile of the samples [ms]."""
        return float(np.percentile(self.samples, percent))


def measure(
    engines: Sequence[Engine], problem: Problem, size: int, budget_s: float
) -> list[Measured]:
    """Samples of the engines that take `size` candidates, in turns; none of one that fell back."""
    able = [engine for engine in engines if size <= engine.most]
    if not able:
        return []
    say(f"{size} candidates: {', '.join(f'{one.backend} ({one.device})' for one in able)}")
    policies = problem.policies(size)

    def sample(engine: Engine) -> float:
        begin = perf_counter()
        engine.rollout.roll_out(problem.x0, policies)
        return 1e3 * (perf_counter() - begin)

    before = [engine.fallbacks() for engine in able]
    round_ms = sum(map(sample, able))  # makes the batches, and so takes longer
    if round_ms < 1e3 * budget_s:
        round_ms = sum(map(sample, able))
    count = int(np.clip(1e3 * budget_s / round_ms, FEWEST, MOST))
    samples = np.empty((len(able), count))
    for k in range(count):
        order = range(len(able)) if k % 2 else reversed(range(len(able)))
        for i in order:
            samples[i, k] = sample(able[i])
    sound = [engine.fallbacks() == was for engine, was in zip(able, before, strict=True)]
    for engine in (one for one, own in zip(able, sound, strict=True) if not own):
        say(f"{engine.backend} did not answer in time: no row of {size} candidates")
    return [
        Measured(engine.backend, engine.device, size, times)
        for engine, times, own in zip(able, samples, sound, strict=True)
        if own
    ]
