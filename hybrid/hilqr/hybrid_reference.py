"""A hybrid reference to track: its states and inputs as a candidate in a given mode sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid.hilqr.extension import ReferenceExtension, segments
from hybrid.hilqr.modes import Modes
from hybrid.hilqr.types import Array, Trajectory
from hybrid.options import SimulationOptions
from hybrid.systems import System

Knots = NDArray[np.int64]


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
        parts = segments(self.modes.knots[0], self.modes.events, self.steps)
        self._extension = ReferenceExtension(
            system, timestep, self.states, self.inputs, parts, options or SimulationOptions()
        )
        self._visited = {part.mode for part in parts}
        self._tables: dict[tuple[int, int], _Table] = {}

    @property
    def steps(self) -> int:
        """Number of timesteps N."""
        return len(self.inputs)

    def at(self, knots: Knots) -> tuple[Array, Array]:
        """The trajectory itself: states (K, n) and inputs (K, m) at knots (K,)."""
        inputs = self.inputs[np.minimum(knots, self.steps - 1)]
        return self.states[np.minimum(knots, self.steps)], inputs

    def matching(self, ordinal: int, mode: int, knots: Knots) -> tuple[Array, Array]:
        """States (K, n) and inputs (K, m) at knots (K,) for a candidate after some events.

        They are those of the segment with as many events (``ordinal``) before it, or of the
        nearest one in the candidate's mode, extended where the knot lies outside. A candidate
        with more events than the reference, or in a mode that it never visits, gets ``at``.
        """
        if ordinal > len(self.modes.events) or mode not in self._visited:
            return self.at(knots)
        table = self._tables.get((ordinal, mode))
        if table is None:
            table = self._tables[ordinal, mode] = _Table(self.states, self.inputs)
        knots = np.minimum(knots, self.steps)
        for knot in knots[~table.known[knots]]:
            state, held = self._extension.at(ordinal, mode, int(knot))
            table.put(int(knot), state, self.inputs[held])
        return table.states[knots], table.inputs[knots]


class _Table:
    """Reference as seen by candidates of one mode after one number of events, filled on demand."""

    def __init__(self, states: Array, inputs: Array) -> None:
        self.states = np.empty_like(states)
        self.inputs = np.empty((len(states), inputs.shape[1]))
        self.known = np.zeros(len(states), dtype=np.bool_)

    def put(self, knot: int, state: Array, input_held: Array) -> None:
        self.states[knot], self.inputs[knot], self.known[knot] = state, input_held, True
