"""How particles are moved and weighed: by compiled kernels, or in Python with the same draws."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from hybrid.compiled.limits import OK, STATUSES, Limits
from hybrid.compiled.system import CompiledSystem, compiled, quiet
from hybrid.filters.disturbance import disturbed
from hybrid.filters.draws import key_under
from hybrid.filters.guard_sets import being_left, follow
from hybrid.filters.model import FilterModel
from hybrid.filters.noises import likelihoods_of, measurement_table, noises_of
from hybrid.filters.particle_kernels import (
    Cloud,
    disturb,
    log_likelihood,
    move_all,
    reweigh,
    scattered,
    weigh,
)
from hybrid.systems import Array

# ruff: noqa: N803 (the letters are the thesis's)


class Engine(Protocol):
    """Moves and weighs a cloud in place."""

    def move(self, cloud: Cloud, t: float, u: Array, duration: float, key: np.uint64) -> None:
        """Take every particle through a duration [s] with noise."""
        ...

    def weigh(self, cloud: Cloud, t: float, u: Array, y: Array) -> bool:
        """Multiply the weights by the likelihoods of y; False where all vanish."""
        ...


def engine(model: FilterModel, threads: int, wanted: bool) -> Engine:
    """The compiled one where the model compiles and it is wanted, else the interpreted one."""
    if wanted:
        table, h = compiled(model.system).system, measurement_table(model)
        if table is not None and h is not None:
            return _Compiled(model, table, h, threads)
    return _Interpreted(model)


class _Compiled:
    def __init__(self, model: FilterModel, table: CompiledSystem, h: tuple, threads: int) -> None:
        self._table, self._h = table, h
        self._noises, self._like = noises_of(model), likelihoods_of(model)
        self._limits = Limits.of(model.options)
        self._threads = threads

    def move(self, cloud: Cloud, t: float, u: Array, duration: float, key: np.uint64) -> None:
        """Each thread moves every ``threads``-th particle."""

        def part(first: int) -> None:
            own = self._table._replace(disturbance=np.zeros(cloud.states.shape[1]))
            told = (own, self._noises, t, u, duration, self._limits, key)
            move_all(*told, first, self._threads, cloud)

        with quiet():
            if self._threads == 1:
                return part(0)
            part(len(cloud.modes))  # compiles once, before the threads start
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(part, range(self._threads)))

    def weigh(self, cloud: Cloud, t: float, u: Array, y: Array) -> bool:
        """Likelihoods by the compiled measurements."""
        with quiet():
            return bool(weigh(self._table, self._h, self._like, t, u, y, cloud))


class _Interpreted:
    def __init__(self, model: FilterModel) -> None:
        self._model, self._system = model, disturbed(model.system)
        self._noises, self._like = noises_of(model), likelihoods_of(model)
        self._numbers = list(model.system.modes)
        self._z = np.empty(model.system.state_dim)

    def move(self, cloud: Cloud, t: float, u: Array, duration: float, key: np.uint64) -> None:
        """One particle after the other."""
        for b in range(len(cloud.modes)):
            n = self._dim(cloud.modes[b])
            mode, x, events, status = self._one(
                int(cloud.modes[b]), t, cloud.states[b, :n], u, duration, key_under(key, b)
            )
            cloud.modes[b], cloud.events[b], cloud.codes[b] = mode, events, STATUSES.index(status)
            cloud.states[b] = 0.0
            if status == STATUSES[OK]:
                cloud.states[b, : len(x)] = x

    def weigh(self, cloud: Cloud, t: float, u: Array, y: Array) -> bool:
        """Likelihoods by the measurements' own functions."""
        found = []
        for mode, state in zip(cloud.modes, cloud.states, strict=True):
            h = self._model.measurements[self._numbers[mode]].function
            expected = np.asarray(h(t, state[: self._dim(mode)], u), dtype=np.float64)
            found.append(log_likelihood(self._like, mode, expected, y))
        exponents, peaks = np.array(found).T
        return bool(reweigh(cloud, exponents, peaks))

    def _dim(self, mode: int) -> int:
        return self._model.system.modes[self._numbers[mode]].state_dim

    def _one(
        self, mode: int, t: float, x: Array, u: Array, duration: float, key: np.uint64
    ) -> tuple[int, Array, int, str]:
        """``particle_kernels.move`` in Python."""
        system, end, events, options = self._system, t + duration, 0, self._model.options
        n, number = len(self._z), self._numbers[mode]
        w = np.concatenate((u, np.zeros(n)))
        disturb(self._noises, mode, duration, key_under(key, 0), w[-n:], self._z)
        leaving = being_left(system, number, t, x, w, options)
        while True:
            path = follow(system, number, t, x, w, end, options, leaving)
            if not path.events:
                status = "ok" if path.ok else "not_finite"  # or some other failure
                return self._numbers.index(path.mode), path.state, events, status
            event, events = path.events[0], events + 1
            if events > options.max_events:
                return self._numbers.index(number), x, events, "zeno"
            edge = system.transitions.index(event.transition)
            number, t, x = event.transition.target, event.time, event.state_after.copy()
            jump = scattered(key_under(key, 2 * events), self._noises.reset[edge], self._z)
            x += jump[: len(x)]
            anew = (end - t, key_under(key, 2 * events + 1), w[-n:], self._z)
            disturb(self._noises, self._numbers.index(number), *anew)
            leaving = tuple(
                back
                for back in being_left(system, number, t, x, w, options)
                if back.target == event.transition.source != number
            )
