"""Tracking of a hybrid reference, (6.1), with the hybrid cost update of 6.4.1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from saltation.arrays import Integers, Pair
from saltation.compiled.limits import Limits
from saltation.compiled.policies import reference_at
from saltation.compiled.system import native_tables
from saltation.hilqr.cost import QuadraticErrors
from saltation.hilqr.extension import Modes, reference_of
from saltation.hilqr.types import Array, Trajectory
from saltation.options import SimulationOptions
from saltation.systems import System


class HybridReference:
    """A trajectory, and its extensions over mode mismatches (5.3.4, 6.4.1).

    ``trajectory`` comes from an ``EventDrivenModel`` of the same system and timestep [s], and
    starts at time zero. Past its end its last state and input hold.

    Raises:
        ValueError: the trajectory does not say which modes it went through.
    """

    def __init__(
        self,
        system: System,
        timestep: float,
        trajectory: Trajectory,
        options: SimulationOptions | None = None,
    ) -> None:
        """Keep a trajectory; nothing is extended until it is asked for."""
        if not isinstance(trajectory.aux, Modes):
            raise ValueError(
                "the reference has no modes in its aux: take it from a rollout of an"
                " EventDrivenModel"
            )
        self.states, self.inputs, self.modes = trajectory.states, trajectory.inputs, trajectory.aux
        self._reference = reference_of(system, self.states, self.inputs, self.modes)
        self._tables, self._timestep = native_tables(system), float(timestep)
        self._limits = Limits.of(options or SimulationOptions())
        self._numbers = list(system.modes)
        self._rows: dict[tuple[int, int, int], Pair] = {}

    @property
    def steps(self) -> int:
        """Number of timesteps N."""
        return len(self.inputs)

    def at(self, knots: Integers) -> Pair:
        """The trajectory itself: states (K, n) and inputs (K, m) at knots (K,)."""
        inputs = self.inputs[np.minimum(knots, self.steps - 1)]
        return self.states[np.minimum(knots, self.steps)], inputs

    def matching(self, ordinal: int, mode: int, knots: Integers) -> Pair:
        """States (K, n) and inputs (K, m) at knots (K,) for a candidate after some events.

        They are those of the segment with as many events (``ordinal``) before it, or of the
        nearest one in the candidate's mode, extended where the knot lies outside. A candidate
        with more events than the reference, or in a mode that it never visits, gets ``at``.
        """
        index = self._numbers.index(mode)
        if ordinal > len(self.modes.events) or index not in self._reference.mode:
            return self.at(knots)
        rows = [self._row(ordinal, index, knot) for knot in np.minimum(knots, self.steps).tolist()]
        states, inputs = zip(*rows, strict=True) if rows else ((), ())
        n, m = self.states.shape[1], self.inputs.shape[1]
        return np.reshape(states, (len(rows), n)), np.reshape(inputs, (len(rows), m))

    def _row(self, ordinal: int, mode: int, knot: int) -> Pair:
        """State (n,) and input (m,) of one knot, computed once."""
        key = ordinal, mode, knot
        if key not in self._rows:
            state, source = reference_at(
                self._tables.tables, self._reference, *key, self._timestep, self._limits
            )
            self._rows[key] = state.copy(), self.inputs[source]
        return self._rows[key]


class _Run(NamedTuple):
    """Knots of a candidate between two of its events."""

    ordinal: int  # events before it
    mode: int
    first: int
    after: int  # first knot that is no longer in it


@dataclass(frozen=True)
class HybridTrackingCost(QuadraticErrors):
    """sum_k e_k' Q e_k + d_k' R d_k + e_N' Q_N e_N of errors in state and input, (6.1).

    With ``hybrid_update`` a knot is compared with the reference's segment that has as many
    events before it as the candidate, extended over the mismatch (6.4.1): a candidate whose
    impact is late with a reference that falls on. Without, with the reference at that time.

    A window of a model predictive controller starts at knot ``start`` of the reference, when the
    controlled system has had ``events_before`` events, whatever the reference has had by then.
    """

    reference: HybridReference
    state_weight: Array  # Q (n, n) symmetric
    input_weight: Array  # R (m, m) symmetric
    terminal_weight: Array  # Q_N (n, n) symmetric
    hybrid_update: bool = True
    start: int = 0
    events_before: int = 0

    def window(self, start: int, events_before: int) -> HybridTrackingCost:
        """The same cost for trajectories that start at a later knot of the reference."""
        return replace(self, start=start, events_before=events_before)

    def errors(self, states: Array, inputs: Array, modes: Modes) -> Pair:
        """Errors e (N+1, n) in state and d (N, m) in input."""
        if not self.hybrid_update:
            x_hat, u_hat = self.reference.at(np.arange(self.start, self.start + len(states)))
            return states - x_hat, inputs - u_hat[:-1]
        error, effort = np.empty_like(states), np.empty_like(inputs)
        for run in _runs(modes):
            knots = np.arange(self.start + run.first, self.start + run.after)
            ordinal = self.events_before + run.ordinal
            x_hat, u_hat = self.reference.matching(ordinal, run.mode, knots)
            error[run.first : run.after] = states[run.first : run.after] - x_hat
            part = inputs[run.first : run.after]  # one shorter at the end of the trajectory
            effort[run.first : run.after] = part - u_hat[: len(part)]
        return error, effort


def _runs(modes: Modes) -> Iterator[_Run]:
    """A trajectory's knots in groups of one mode and one number of events before them."""
    first = 0
    for ordinal, (knot, _) in enumerate(modes.events):
        if knot >= first:
            yield _Run(ordinal, modes.knots[first], first, knot + 1)
        first = knot + 1
    if first < len(modes.knots):
        yield _Run(len(modes.events), modes.knots[first], first, len(modes.knots))
