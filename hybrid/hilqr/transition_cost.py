"""Costs of hybrid transitions: J_Nj of (5.23), and its terms in (5.27)-(5.31)."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hybrid.hilqr.event_linearisation import TimestepLinearisation
from hybrid.hilqr.modes import Modes
from hybrid.hilqr.types import Array, CostExpansion
from hybrid.saltation import saltation
from hybrid.simulation import Event
from hybrid.systems import HybridSystem, Transition


class TransitionCost(Protocol):
    """Cost J_Nj(x) of the state x (n_source,) just before a transition, (5.23)."""

    def applies_to(self, transition: Transition) -> bool:
        """Whether this transition costs anything; the rest is not asked where it does not."""
        ...

    def value(self, x: Array) -> float:
        """J_Nj."""
        ...

    def gradient(self, x: Array) -> Array:
        """J_x,Nj (n_source,)."""
        ...

    def hessian(self, x: Array) -> Array:
        """J_xx,Nj (n_source, n_source)."""
        ...


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
    events = [happened.event for happened in modes.events]
    return float(sum(cost.value(e.state_before) for e in events if cost.applies_to(e.transition)))


def own_time_map(system: HybridSystem, event: Event, u: Array) -> tuple[Array, Array]:
    """Perturbations at a fixed time to those at the event's own, by state and by the input u (m,).

    I - F D_xg / (D_tg + D_xg F) (n_source, n_source) and -F D_ug / (D_tg + D_xg F) (n_source, m),
    at the state before the event. The first is D_x x^- of (3.105) at the nominal event time: a
    perturbed trajectory meets the guard D_x tau dx later and flows on until then. Its image is the
    guard's tangent space where the guard does not depend on time. An event that is not transverse
    has no D_x tau: its time is fixed, and so are the perturbations.
    """
    edge, t, x = event.transition, event.time, event.state_before
    jump = saltation(system, edge, t, x, u)
    by_state, by_input = np.eye(len(x)), np.zeros((len(x), len(u)))
    if jump.ok:
        delay = -system.modes[edge.source].flow(t, x, u) / jump.guard_rate
        by_state += np.outer(delay, edge.guard_state(t, x, u))
        by_input += np.outer(delay, edge.guard_input(t, x, u))
    return by_state, by_input


def add_transition_terms(
    expansion: CostExpansion,
    cost: TransitionCost,
    system: HybridSystem,
    timestep: TimestepLinearisation,
    events: Sequence[Event],
    u: Array,
) -> None:
    """Add the terms of one timestep's transitions to its knot of an expansion, (5.27)-(5.31).

    Printed, the terms are f_x' J_x and f_x' J_xx f_x with f_x the sensitivity of the state at the
    nominal event time (5.25). But J_N is evaluated where the perturbed trajectory itself meets
    the guard, so ``own_time_map`` must be applied to f_x and f_u first: printed, a cost on
    g(x), which is zero at every event, would have a gradient. Second derivatives of that map are
    left out, as iLQR leaves out those of the dynamics.

    Args:
        expansion: of the cost without transitions; changed in place.
        cost: J_N.
        system: the hybrid system.
        timestep: sensitivities of the timestep, (5.25) and (5.26).
        events: what happened in it.
        u: its input (m,).
    """
    A, B = timestep.A, timestep.B
    for jump, event in zip(timestep.transitions, events, strict=True):
        if cost.applies_to(event.transition):
            x, k = event.state_before, jump.knot
            P, P_u = own_time_map(system, event, u)
            f_x, f_u = P @ A[: len(x)], P @ B[: len(x)] + P_u
            J_x, J_xx = cost.gradient(x), cost.hessian(x)
            expansion.l_x[k] += f_x.T @ J_x
            expansion.l_u[k] += f_u.T @ J_x
            expansion.l_xx[k] += f_x.T @ J_xx @ f_x
            expansion.l_ux[k] += f_u.T @ J_xx @ f_x
            expansion.l_uu[k] += f_u.T @ J_xx @ f_u
        A, B = jump.saltation @ A, jump.saltation @ B
        if jump.saltation_input is not None:
            B = B + jump.saltation_input
        if jump.flow_state is not None and jump.flow_input is not None:
            A, B = jump.flow_state @ A, jump.flow_state @ B + jump.flow_input
