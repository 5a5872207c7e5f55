"""Rollouts and first-order maps of an event-driven system by its kernels."""

# ruff: noqa: N806 (A and B are the thesis's)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from saltation.arrays import Flags, Integers, Pair, Shape, contiguous
from saltation.compiled.limits import FULL, Limits
from saltation.compiled.piece import jacobians_all
from saltation.compiled.policies import Candidates, Policy, roll_out
from saltation.compiled.step import Log
from saltation.compiled.system import native_tables
from saltation.hilqr.extension import KnotEvent, Modes, reference_of
from saltation.hilqr.types import Array, Policies, Trajectory
from saltation.options import SimulationOptions
from saltation.run import event_of
from saltation.systems import System

ROOM = 256  # events of a rollout that a log has room for at first


class RolloutArrays(NamedTuple):
    """C rollouts without their costs."""

    states: Array  # (C, N+1, n), NaN after a rollout broke off
    inputs: Array  # (C, N, m)
    modes: Sequence[Modes]  # (C,)
    ok: Flags  # (C,) reached the end


class EventRollout:
    """Rolls policies out on one system."""

    def __init__(self, system: System, timestep: float, options: SimulationOptions) -> None:
        """Bind a system; ``timestep`` in [s]."""
        self._system, self._timestep = system, float(timestep)
        self._tables, self._limits = native_tables(system), Limits.of(options)
        self._numbers = np.array(list(system.modes), np.int64)
        self._index = {number: i for i, number in enumerate(system.modes)}
        self._n, self._room = system.state_dim, ROOM

    def roll_out(self, x0: Array, initial_mode: int, policies: Policies) -> RolloutArrays:
        """Simulate every candidate from x0 (n,), with references extended over mismatches."""
        C, (N, m) = policies.count, policies.inputs.shape[1:]
        states, inputs = np.full((C, N + 1, self._n), np.nan), np.full((C, N, m), np.nan)
        modes: list[Modes] = [Modes((), ())] * C
        for p in range(len(policies.inputs)):
            own = np.flatnonzero(policies.policy_index == p)
            if not len(own):
                continue
            part = self._one_policy(x0, initial_mode, policies, p, own)
            states[own], inputs[own] = part.states, part.inputs
            for j, c in enumerate(own):
                knots = self._numbers[part.modes[j][part.modes[j] >= 0]]
                modes[c] = Modes(tuple(knots.tolist()), self._events(part, j))
        ok = np.array([len(record.knots) == N + 1 for record in modes], bool)
        return RolloutArrays(states, inputs, modes, ok)

    def jacobians(self, trajectory: Trajectory) -> Pair:
        """A (N, n, n) and B (N, n, m) of whole timesteps, each in the mode that it began in."""
        N, m = trajectory.inputs.shape
        A, B = np.zeros((N, self._n, self._n)), np.zeros((N, self._n, m))
        modes = np.array([self._index[mode] for mode in trajectory.aux.knots[:N]], np.int64)
        times, durations = self._timestep * np.arange(N), np.full(N, self._timestep)
        states, inputs = contiguous(trajectory.states), contiguous(trajectory.inputs)
        arrays = (modes, times, states, inputs, durations)
        jacobians_all(self._tables.references[1], *arrays, self._limits, A, B)
        self._tables.callbacks.raise_errors()
        return A, B

    def _one_policy(
        self, x0: Array, initial_mode: int, policies: Policies, p: int, own: Integers
    ) -> Candidates:
        m, bounds = policies.inputs.shape[2], policies.bounds
        low, high = (-np.inf, np.inf) if bounds is None else (bounds.low, bounds.high)
        policy = Policy(
            contiguous(policies.feedforward[p]),
            contiguous(policies.gains[p]),
            contiguous(policies.step_size[own]),
            np.full(m, low, float),
            np.full(m, high, float),
        )
        record: Any = policies.aux[p] if policies.aux and policies.extend_reference else None
        reference = reference_of(self._system, policies.states[p], policies.inputs[p], record)
        start = self._index[initial_mode]
        while True:
            out = self._empty(x0, len(own), policies.inputs.shape[1:])
            roll_out(
                self._tables.tables, reference, policy, start, self._timestep, self._limits, out
            )
            self._tables.callbacks.raise_errors()
            if not np.any(out.codes == FULL):
                return out
            self._room *= 8

    def _empty(self, x0: Array, C: int, shape: Shape) -> Candidates:
        """Room for C candidates with N inputs (m,) each, ``shape`` (N, m), from x0."""
        n = self._n
        states = np.full((C, shape[0] + 1, n), np.nan)
        states[:, 0] = 0.0
        states[:, 0, : len(x0)] = x0
        logs = Log._make(np.repeat(column[None], C, 0) for column in Log.empty(self._room, n))
        modes = np.empty((C, shape[0] + 1), np.int64)
        return Candidates(states, np.full((C, *shape), np.nan), modes, np.zeros(C, np.int64), logs)

    def _events(self, part: Candidates, c: int) -> tuple[KnotEvent, ...]:
        """Events of candidate c."""
        log = Log._make(column[c] for column in part.logs)
        knots = log.knot[: log.count[0]].tolist()
        rows = (event_of(self._system, log, i, part.inputs[c, k]) for i, k in enumerate(knots))
        return tuple(map(KnotEvent, knots, rows))
