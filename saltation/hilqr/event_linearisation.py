"""Sensitivities of event-driven timesteps, with their events at the end or in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from saltation.arrays import Pair, Shape
from saltation.chains import chains, merge_chain
from saltation.hilqr.types import Array, Jump, Trajectory
from saltation.integration import flow_jacobians
from saltation.options import SimulationOptions, check_choice
from saltation.saltations import input_saltation, saltation
from saltation.simulation import EventRecord
from saltation.systems import System

IDENTITY = 1e-6  # a saltation matrix this close to the identity is one

Placement = Literal["end", "end_held", "exact"]  # see ``EventDrivenModel``


class TimestepLinearisation(NamedTuple):
    """dx' = A dx + B du up to the first transition of a timestep, and the transitions in order.

    Events that set each other off at one instant are one transition.
    """

    A: Array  # (n, n)
    B: Array  # (n, m)
    transitions: list[Jump]


def events_by_knot(trajectory: Trajectory) -> dict[int, list[EventRecord]]:
    """Events of each timestep that has any, in order of time."""
    events: dict[int, list[EventRecord]] = {}
    for knot, event in trajectory.aux.events:
        events.setdefault(knot, []).append(event)
    return events


class EventLinearisation:
    """Linearises timesteps of one system; see ``EventDrivenModel`` for ``event_at``."""

    def __init__(
        self, system: System, timestep: float, event_at: Placement, options: SimulationOptions
    ) -> None:
        """Bind a system and its timestep [s].

        Raises:
            ValueError: there is no such placement.
        """
        check_choice("event_at", event_at, Placement)
        self.system, self.timestep, self.event_at = system, timestep, event_at
        self.n, self.m = system.state_dim, system.input_dim
        self._options = options

    def at(
        self, trajectory: Trajectory, k: int, events: Sequence[EventRecord]
    ) -> TimestepLinearisation:
        """Sensitivities of timestep k of a rollout, with the events that it had."""
        x, u, t = trajectory.states[k], trajectory.inputs[k], k * self.timestep
        cut = self.event_at == "exact" and len(events) > 0
        length = events[0].time - t if cut else self.timestep
        A, B = self._jacobians(trajectory.aux.knots[k], t, x, u, length)
        events = [merge_chain(chain) for chain in chains(self.system, events)]
        if cut:
            return TimestepLinearisation(A, B, self._in_place(k, events))
        same_input = self.event_at == "end_held"
        u_after = u if same_input else trajectory.inputs[min(k + 1, len(trajectory.inputs) - 1)]
        jumps = [self._jump(k, event) for event in events]
        if events and not _is_identity(jumps[-1].saltation, events[-1]):
            jumps[-1] = self._jump(k, events[-1], u_after=u_after)
        return TimestepLinearisation(A, B, jumps)

    def _in_place(self, knot: int, events: Sequence[EventRecord]) -> list[Jump]:
        """Saltation matrices of one timestep's events, each with the flow that follows it."""
        times = [event.time for event in events[1:]] + [(knot + 1) * self.timestep]
        jumps = []
        for event, end in zip(events, times, strict=True):
            start, x, u = event.time, event.state_after, event.input
            flow = self._jacobians(event.transition.target, start, x, u, end - start)
            jumps.append(self._jump(knot, event, flow))
        return jumps

    def _jump(
        self, knot: int, event: EventRecord, flow: tuple[Array | None, Array | None] = (None, None),
        u_after: Array | None = None,
    ) -> Jump:  # fmt: skip
        """Padded matrices of one event, and of the flow that follows it within its timestep."""
        jump = saltation(self.system, event.transition, *event.at, u_after)
        by_input = input_saltation(jump, event.transition, *event.at)
        xi, reset = (pad(M, (self.n, self.n)) for M in (jump.matrix, jump.reset_jacobian))
        return Jump(knot, xi, reset, *flow, pad(by_input, (self.n, self.m)))

    def _jacobians(self, mode: int, t: float, x: Array, u: Array, h: float) -> Pair:
        """Padded Jacobians (n, n), (n, m) of a mode's flow over a duration [s]."""
        own = self.system.modes[mode]
        x, u = x[: own.state_dim], u[: own.input_dim]
        A, B = flow_jacobians(own, t, x, u, h, self._options, resolved=True)
        return pad(A, (self.n, self.n)), pad(B, (self.n, self.m))


def pad(array: Array, shape: Shape) -> Array:
    """An array with zeros after it up to a shape of as many axes; itself if it has that shape."""
    if array.shape == shape:
        return array
    wide = np.zeros(shape)
    wide[tuple(slice(length) for length in array.shape)] = array
    return wide


def _is_identity(matrix: Array, event: EventRecord) -> bool:
    """Whether nothing switches at an event, (3.12): a padded matrix is the identity.

    The input has no reason to jump there: a descent that believes in such jumps makes them grow.
    """
    before, after = len(event.state_before), len(event.state_after)
    own = matrix[:after, :before]
    return before == after and bool(np.allclose(own, np.eye(after), rtol=0.0, atol=IDENTITY))
