"""Costs of hybrid transitions: J_Nj of (5.23), and its terms in (5.27)-(5.31)."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from saltation.arrays import Pair
from saltation.chains import chains
from saltation.hilqr.event_linearisation import TimestepLinearisation
from saltation.hilqr.extension import Modes
from saltation.hilqr.types import Array, CostExpansion, Jump
from saltation.path_derivatives import event_time_derivatives
from saltation.simulation import EventRecord
from saltation.systems import System, Transition


class TransitionCost(Protocol):
    """Cost J_Nj(x) of the state x (n_source,) just before a transition, (5.23)."""

    def applies_to(self, transition: Transition) -> bool:
        """Whether this transition costs anything; the rest is not asked where it does not."""

    def value(self, x: Array) -> float:
        """J_Nj."""

    def gradient(self, x: Array) -> Array:
        """J_x,Nj (n_source,)."""

    def hessian(self, x: Array) -> Array:
        """J_xx,Nj (n_source, n_source)."""


@dataclass(frozen=True)
class QuadraticTransitionCost:
    """constant + e' W e, with e = x - target just before the transition; no factor one half.

    The constant penalises that it happens at all. It has no gradient: only the line search, which
    compares whole trajectories, sees it.
    """

    target: Array  # (n_source,)
    weight: Array  # W (n_source, n_source) symmetric
    constant: float = 0.0
    edges: tuple[tuple[int, int], ...] | None = None  # (source, target) modes; None: every one

    def applies_to(self, transition: Transition) -> bool:
        """Whether the transition is one of the chosen edges."""
        return self.edges is None or (transition.source, transition.target) in self.edges

    def value(self, x: Array) -> float:
        """constant + e' W e."""
        e = x - self.target
        return float(self.constant + e @ self.weight @ e)

    def gradient(self, x: Array) -> Array:
        """2 W e (n_source,)."""
        return 2.0 * self.weight @ (x - self.target)

    def hessian(self, x: Array) -> Array:
        """2 W (n_source, n_source)."""
        return 2.0 * self.weight


def transition_value(cost: TransitionCost, modes: Modes) -> float:
    """Last sum of (5.23) over a trajectory's events."""
    events = [knot_event.event for knot_event in modes.events]
    return float(sum(cost.value(e.state_before) for e in events if cost.applies_to(e.transition)))


def add_transition_terms(
    expansion: CostExpansion,
    cost: TransitionCost,
    system: System,
    timestep: TimestepLinearisation,
    events: Sequence[EventRecord],
) -> None:
    """Add the terms of one timestep's transitions to its knot of an expansion, (5.27)-(5.31).

    J_N is evaluated where the perturbed trajectory itself meets the guard, D_x x^- of (3.105): f_x
    is the sensitivity of the state at the nominal event time (5.25) plus F D_x tau. Second
    derivatives of the event's time are left out, as iLQR leaves out those of the dynamics. The
    print of (5.27) has an error: docs/errata.md.

    Args:
        expansion: of the cost without transitions; changed in place.
        cost: J_N.
        system: the hybrid system.
        timestep: sensitivities of the timestep, (5.25) and (5.26).
        events: what happened in it.
    """
    for jump, chain, A, B in along_events(system, timestep, events):
        for event, f_x, f_u in _own_sensitivities(system, chain, A, B):
            if cost.applies_to(event.transition):
                J_x, J_xx = cost.gradient(event.state_before), cost.hessian(event.state_before)
                expansion.l_x[jump.knot] += f_x.T @ J_x
                expansion.l_u[jump.knot] += f_u.T @ J_x
                expansion.l_xx[jump.knot] += f_x.T @ J_xx @ f_x
                expansion.l_ux[jump.knot] += f_u.T @ J_xx @ f_x
                expansion.l_uu[jump.knot] += f_u.T @ J_xx @ f_u


def along_events(
    system: System, timestep: TimestepLinearisation, events: Sequence[EventRecord]
) -> Iterator[tuple[Jump, Sequence[EventRecord], Array, Array]]:
    """Each transition of a timestep, its chain of events, and the sensitivities A, B up to it."""
    A, B = timestep.A, timestep.B
    for jump, chain in zip(timestep.transitions, chains(system, events), strict=True):
        yield jump, chain, A, B
        A, B = jump.saltation @ A, jump.saltation @ B
        if jump.saltation_input is not None:
            B = B + jump.saltation_input
        if jump.flow_state is not None and jump.flow_input is not None:
            A, B = jump.flow_state @ A, jump.flow_state @ B + jump.flow_input


def time_sensitivities(system: System, event: EventRecord, A: Array, B: Array) -> Pair:
    """Derivatives (n,), (m,) of an event's time by state and input of its timestep."""
    n = len(event.state_before)
    by_state, by_input = event_time_derivatives(system, event)
    return by_state @ A[:n], by_state @ B[:n] + by_input


def _own_sensitivities(
    system: System, chain: Sequence[EventRecord], A: Array, B: Array
) -> Iterator[tuple[EventRecord, Array, Array]]:
    """Each event of a chain, and the sensitivities f_x, f_u of its state at its own time."""
    first, n = chain[0], len(chain[0].state_before)
    later_x, later_u = time_sensitivities(system, first, A, B)
    F = system.modes[first.transition.source].flow(*first.at)
    f_x, f_u = A[:n] + np.outer(F, later_x), B[:n] + np.outer(F, later_u)
    for event in chain:
        yield event, f_x, f_u
        edge, at = event.transition, event.at
        D_xR = edge.reset_state(*at)
        D_tR = np.broadcast_to(edge.reset_time(*at), len(event.state_after))
        f_x = D_xR @ f_x + np.outer(D_tR, later_x)
        f_u = D_xR @ f_u + np.outer(D_tR, later_u) + edge.reset_input(*at)
