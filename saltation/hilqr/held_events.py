"""Events that are held on knots, so that HiLQR descends along a kink of the cost.

Where an event lies on a knot, inputs before and after it may differ, and the cost rises on both
sides: it has a kink there, at which its one-sided derivatives promise a descent that no step size
brings. Along the kink the event's time t stays that of the knot. The multiplier f of this
constraint and a stiffness s add

    f (t - t_knot) + s / 2 (t - t_knot)^2

to the expansion of the cost, not to the cost itself, by which candidates are judged; f follows from
the changes of t that each backward pass plans (method of multipliers).
"""

# ruff: noqa: N806 (A and B are the thesis's)

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from saltation.hilqr.event_linearisation import EventLinearisation, events_by_knot
from saltation.hilqr.riccati import Backward, compose
from saltation.hilqr.transition_cost import along_events, time_sensitivities
from saltation.hilqr.types import Array, CostExpansion, Linearisation, Trajectory

ON_KNOT = 1e-3  # of a timestep: an event this close to a knot is on it
STIFFNESS = 1e4  # s, in costs of the trajectory over a squared timestep


class Row(NamedTuple):
    """A held event about a trajectory."""

    number: int  # of the event, in order of time
    knot: int  # of its timestep
    late: float  # how long after the knot that it is held on [s]
    by_state: Array  # derivatives of its time by the timestep's state (n,) and input (m,)
    by_input: Array


def knot_of(time: float, timestep: float) -> int | None:
    """The knot that an event is on; None if it is on none."""
    knot = round(time / timestep)
    return knot if abs(time / timestep - knot) < ON_KNOT else None


class HeldEvents:
    """Multipliers of the events of one model's trajectories."""

    def __init__(self, linearisation: EventLinearisation) -> None:
        """Hold none."""
        self._linearisation, self.active = linearisation, False
        self._knots: dict[int, int] = {}  # by the event's number
        self._forces: dict[int, float] = {}  # f [cost/s]
        self._stiffness = 0.0  # s [cost/s^2]

    def __call__(
        self,
        trajectory: Trajectory | None,
        linear: Linearisation | None = None,
        backward: Backward | None = None,
    ) -> bool:
        """Hold events that lie on knots; whether there are any. None: none.

        With a backward pass about the trajectory, update the multipliers of those held.
        """
        if trajectory is None or self._linearisation.event_at != "exact":
            self.active = False
        elif linear is None or backward is None:
            self._hold(trajectory)
        else:
            self._follow(trajectory, linear, backward)
        return self.active

    def _hold(self, trajectory: Trajectory) -> None:
        timestep, before = self._linearisation.timestep, self._knots
        found = [knot_of(event.time, timestep) for _, event in trajectory.aux.events]
        self._knots = {i: knot for i, knot in enumerate(found) if knot is not None}
        self._forces = {
            i: self._forces[i] if before.get(i) == knot else 0.0 for i, knot in self._knots.items()
        }
        self._stiffness = STIFFNESS * abs(trajectory.cost) / timestep**2
        self.active = bool(self._knots)

    def _follow(self, trajectory: Trajectory, linear: Linearisation, backward: Backward) -> None:
        """Update the multipliers by the changes that a backward pass plans."""
        (A, B), rows = compose(linear), list(self._rows(trajectory))
        dx = np.zeros(A.shape[1])
        for k in range(len(A)):
            du = backward.feedforward[k] + backward.gains[k] @ dx
            for row in rows:
                if row.knot == k:
                    late = row.late + row.by_state @ dx + row.by_input @ du
                    self._forces[row.number] += self._stiffness * late
            dx = A[k] @ dx + B[k] @ du

    def add_terms(self, trajectory: Trajectory, cost: CostExpansion) -> None:
        """Add the terms of held events to an expansion, in place."""
        s = self._stiffness
        for number, k, late, by_state, by_input in self._rows(trajectory):
            force = self._forces[number] + s * late
            cost.l_x[k] += force * by_state
            cost.l_u[k] += force * by_input
            cost.l_xx[k] += s * np.outer(by_state, by_state)
            cost.l_ux[k] += s * np.outer(by_input, by_state)
            cost.l_uu[k] += s * np.outer(by_input, by_input)

    def _rows(self, trajectory: Trajectory) -> Iterator[Row]:
        """Rows of the events that are held and still near their knots."""
        at, number = self._linearisation, 0
        for k, events in events_by_knot(trajectory).items():
            timestep = at.at(trajectory, k, events)
            for _, chain, A, B in along_events(at.system, timestep, events):
                late = chain[0].time - self._knots.get(number, np.nan) * at.timestep
                if abs(late) < at.timestep:
                    slopes = time_sensitivities(at.system, chain[0], A, B)
                    yield Row(number, k, late, *slopes)
                number += len(chain)
