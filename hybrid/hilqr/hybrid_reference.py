"""A hybrid reference to track: its states and inputs as a candidate in a given mode sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid.hilqr.extension import Modes, ReferenceExtension, segments
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
        self._known: dict[tuple[int, int, int], tuple[Array, Array]] = {}

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
        rows = [self._row(ordinal, mode, knot) for knot in np.minimum(knots, self.steps).tolist()]
        states, inputs = zip(*rows, strict=True) if rows else ((), ())
        n, m = self.states.shape[1], self.inputs.shape[1]
        return np.reshape(states, (len(rows), n)), np.reshape(inputs, (len(rows), m))

    def _row(self, ordinal: int, mode: int, knot: int) -> tuple[Array, Array]:
        """State (n,) and input (m,) of one knot, computed once."""
        key = ordinal, mode, knot
        if key not in self._known:
            state, held = self._extension.at(*key)
            self._known[key] = state.copy(), self.inputs[held]
        return self._known[key]
