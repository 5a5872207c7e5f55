"""Rollouts and first-order maps of an event-driven system, compiled: HiLQR's fast path."""

# ruff: noqa: N803, N806 (A and B are the thesis's)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid.compiled.limits import Limits
from hybrid.compiled.policies import Reference, roll_out
from hybrid.compiled.sensitivity import jacobians_all
from hybrid.compiled.step import Log
from hybrid.compiled.system import CompiledDerivatives, CompiledSystem, compiled, quiet
from hybrid.hilqr.extension import KnotEvent, segments
from hybrid.hilqr.modes import Modes
from hybrid.hilqr.types import Array, Policies, Trajectory
from hybrid.options import SimulationOptions
from hybrid.simulation import Event
from hybrid.systems import System

CAPACITY = 256  # events in one rollout; more are taken for Zeno behaviour


class Rolled(NamedTuple):
    """What C candidates did, before anything is said of their cost."""

    states: Array  # (C, N+1, n), NaN after a rollout broke off
    inputs: Array  # (C, N, m)
    modes: Sequence[Modes]  # (C,)
    ok: NDArray[np.bool_]  # (C,) reached the end


class CompiledRollout:
    """Rolls policies out on one system. ``CompiledRollout.of`` gives None where it cannot."""

    def __init__(
        self,
        system: System,
        tables: tuple[CompiledSystem, CompiledDerivatives],
        timestep: float,
        options: SimulationOptions,
    ) -> None:
        """Bind a system and its compiled tables; ``timestep`` in [s]."""
        self._system, self._timestep = system, float(timestep)
        self._tables, self._derivatives = tables
        self._limits = Limits.of(options)
        self._numbers = np.array(list(system.modes), dtype=np.int64)
        self._index = {number: i for i, number in enumerate(system.modes)}
        self._n = system.state_dim

    @staticmethod
    def of(
        system: System, timestep: float, options: SimulationOptions
    ) -> CompiledRollout | None:
        """The fast path, or None where a function does not compile or inputs differ in number."""
        known = compiled(system)
        inputs = {mode.input_dim for mode in system.modes.values()}
        if known.system is None or known.derivatives is None or len(inputs) > 1:
            return None
        return CompiledRollout(system, (known.system, known.derivatives), timestep, options)

    def roll_out(self, x0: Array, initial_mode: int, policies: Policies) -> Rolled:
        """Simulate every candidate from x0 (n,), with references extended over mismatches."""
        C, (N, m) = policies.count, policies.inputs.shape[1:]
        states, inputs = np.full((C, N + 1, self._n), np.nan), np.full((C, N, m), np.nan)
        modes: list[Modes] = [Modes((), ())] * C
        for p in range(len(policies.inputs)):
            own = np.flatnonzero(policies.policy_index == p)
            if not len(own):
                continue
            part = self._one_policy(x0, initial_mode, policies, p, own)
            states[own], inputs[own] = part[:2]
            for j, c in enumerate(own):
                knots = self._numbers[part[2][j][part[2][j] >= 0]]
                modes[c] = Modes(tuple(knots.tolist()), self._events(part[3], j))
        ok = np.array([len(record.knots) == N + 1 for record in modes], dtype=bool)
        return Rolled(states, inputs, modes, ok)

    def jacobians(self, trajectory: Trajectory) -> tuple[Array, Array]:
        """A (N, n, n) and B (N, n, m) of whole timesteps, each in the mode that it began in."""
        N, m = trajectory.inputs.shape
        A, B = np.zeros((N, self._n, self._n)), np.zeros((N, self._n, m))
        modes = np.array([self._index[mode] for mode in trajectory.aux.knots[:N]], dtype=np.int64)
        times, durations = self._timestep * np.arange(N), np.full(N, self._timestep)
        states, inputs = _whole(trajectory.states), _whole(trajectory.inputs)
        arrays = (modes, self._tables.dims, times, states, inputs, durations)
        with quiet():
            jacobians_all(self._derivatives, *arrays, self._limits, A, B)
        return A, B

    def _one_policy(
        self, x0: Array, initial_mode: int, policies: Policies, p: int, own: NDArray[np.int64]
    ) -> tuple[Array, Array, NDArray[np.int64], Log]:
        C, (N, m) = len(own), policies.inputs.shape[1:]
        states, inputs = np.full((C, N + 1, self._n), np.nan), np.full((C, N, m), np.nan)
        states[:, 0] = 0.0
        states[:, 0, : len(x0)] = x0
        modes, logs = np.empty((C, N + 1), dtype=np.int64), _logs(C, self._n)
        with quiet():
            roll_out(
                self._tables, self._reference(policies, p), _whole(policies.feedforward[p]),
                _whole(policies.gains[p]), _whole(policies.step_size[own]),
                self._index[initial_mode], self._timestep, self._limits, states, inputs, modes,
                logs,
            )  # fmt: skip
        return states, inputs, modes, logs

    def _reference(self, policies: Policies, p: int) -> Reference:
        """Policy p's reference, in no segments when it is not to be extended."""
        states, inputs = policies.states[p], policies.inputs[p]
        record: Any = policies.aux[p] if policies.aux else None
        parts = []
        if policies.extend_reference and record is not None:
            parts = segments(record.knots[0], record.events, len(inputs))
        S, N = len(parts), len(inputs)
        reference = Reference(
            _whole(states), _whole(inputs),
            np.array([self._index[part.mode] for part in parts], dtype=np.int64),
            np.array([part.first for part in parts], dtype=np.int64),
            np.array([part.last for part in parts], dtype=np.int64),
            np.full((S, 1 + self._n), np.nan), np.full((S, 1 + self._n), np.nan),
            np.zeros((S, N, self._n)), np.zeros((S, N, self._n)), np.zeros((S, 2), dtype=np.int64),
        )  # fmt: skip
        for i, part in enumerate(parts):
            if part.opening is not None:
                _put(reference.opening[i], part.opening.time, part.opening.state_after)
            if part.closing is not None:
                _put(reference.closing[i], part.closing.time, part.closing.state_before)
        return reference

    def _events(self, logs: Log, c: int) -> tuple[KnotEvent, ...]:
        found = []
        for i in range(int(logs.count[c, 0])):
            edge = self._system.transitions[int(logs.edge[c, i])]
            before = logs.before[c, i, : self._system.modes[edge.source].state_dim].copy()
            after = logs.after[c, i, : self._system.modes[edge.target].state_dim].copy()
            event = Event(edge, float(logs.time[c, i]), before, after)
            found.append(KnotEvent(int(logs.knot[c, i]), event))
        return tuple(found)


def _whole(array: Array) -> Array:
    return np.ascontiguousarray(array, dtype=np.float64)


def _put(row: Array, time: float, state: Array) -> None:
    row[0], row[1 : 1 + len(state)] = time, state


def _logs(count: int, n: int) -> Log:
    """Logs of ``count`` rollouts, stacked."""
    whole = np.zeros((2, count, CAPACITY), dtype=np.int64)
    states = np.zeros((2, count, CAPACITY, n))
    return Log(
        np.zeros((count, 1), dtype=np.int64), whole[0], whole[1], np.zeros((count, CAPACITY)),
        states[0], states[1],
    )  # fmt: skip
