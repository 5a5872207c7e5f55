"""First-order maps along hybrid trajectories: between events the variational equations (3.1), at
events the saltation matrix (3.2), and what their product does to vectors (3.32), covariances
(3.37) and value functions (3.39).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybrid import failure
from hybrid.chains import chains, merged
from hybrid.held_inputs import held_input
from hybrid.integration import flow_jacobians
from hybrid.options import SimulationOptions
from hybrid.saltation import saltation
from hybrid.simulation import Event, simulate_step
from hybrid.systems import Array, System

# ruff: noqa: N803, N806 (the letters are the thesis's)


class Variation(NamedTuple):
    """Derivative of a hybrid flow over a duration, and where that flow went.

    Status is "ok", the simulation's where that failed (then Phi is NaN), or "not_transverse" where
    an event was grazed (then Phi has D_x R in place of Xi there, and is no derivative).
    """

    Phi: Array  # fundamental matrix (n_end, n_start), (3.34)
    mode: int  # at the end
    state: Array  # at the end (n_end,)
    events: tuple[Event, ...]
    status: str
    message: str = ""  # for a person: mode, time and state where the status is not "ok"

    @property
    def ok(self) -> bool:
        """Whether Phi is the derivative of the flow."""
        return self.status == "ok"


class Spread(NamedTuple):
    """Covariance at the end of a duration, and the map that brought it there."""

    Sigma: Array  # (n_end, n_end), symmetric
    variation: Variation


def fundamental_matrix(
    system: System,
    mode: int,
    x: Array,
    duration: float,
    u: Array | None = None,
    t: float = 0.0,
    options: SimulationOptions | None = None,
    *,
    with_reset_jacobian: bool = False,
) -> Variation:
    """Phi = A_n Xi ... A_2 Xi A_1 over a duration [s], the fundamental matrix of (3.32), (3.33).

    It is the derivative of the state at the end by the state at the start, at fixed times.

    Args:
        system: the hybrid system.
        mode: number of the mode at the start.
        x: state at the start (n_start,).
        duration: how far to go [s].
        u: input (m,), held; zero if left out.
        t: time at the start [s].
        options: accuracy of the simulation and of the variational equations.
        with_reset_jacobian: take D_x R in place of Xi, as a comparison: not the derivative.
    """
    u, x = held_input(system, u), np.asarray(x, dtype=np.float64)
    step = simulate_step(system, mode, x, duration, u, t, options)
    if step.status != "ok":
        n_end = system.modes[step.mode].state_dim
        nowhere = np.full((n_end, len(x)), np.nan)
        return Variation(nowhere, step.mode, step.state, step.events, step.status, step.message)
    Phi, status, message = product_along(
        system, mode, t, x, u, step.events, t + duration, options, with_reset_jacobian
    )
    return Variation(Phi, step.mode, step.state, step.events, status, message)


def product_along(
    system: System,
    mode: int,
    t: float,
    x: Array,
    u: Array,
    events: Sequence[Event],
    end: float,
    options: SimulationOptions | None = None,
    with_reset_jacobian: bool = False,
) -> tuple[Array, str, str]:
    """Phi of (3.33) from x (n,) at time t [s] through known events until ``end``; status, message.

    Where ``end`` is the time of the last event, that event's matrix is the last factor.
    """
    Phi, status, message = np.eye(len(x)), "ok", ""
    for event in (merged(chain) for chain in chains(system, events, u)):
        A, _ = flow_jacobians(system.modes[mode], t, x, u, event.time - t, options)
        jump = saltation(system, event.transition, event.time, event.state_before, u)
        if not jump.ok and status == "ok":
            status, message = (
                "not_transverse",
                not_transverse_message(system, event, jump.guard_rate),
            )
        Phi = (jump.reset_jacobian if with_reset_jacobian else jump.matrix) @ A @ Phi
        mode, t, x = event.transition.target, event.time, event.state_after
    A, _ = flow_jacobians(system.modes[mode], t, x, u, end - t, options)
    return A @ Phi, status, message


def not_transverse_message(system: System, event: Event, rate: float) -> str:
    """What to tell a person of an event that (3.11) does not hold at."""
    edge, t, x = event.transition, event.time, event.state_before
    where = failure.place(system, edge.source, t, x)
    return (
        f"{where}: {edge.label} is not transverse (3.11), its guard moves at {rate:.3g} per s;"
        " there is no first-order map through this event"
    )


def sandwich(A_before: Array, Xi: Array, A_after: Array) -> Array:
    """A_J,2 Xi A_I,1: one timestep with one event inside it, (3.32)."""
    return A_after @ Xi @ A_before


def propagate_covariance(Sigma: Array, Xi: Array) -> Array:
    """Sigma(t+) = Xi Sigma Xi' (3.36), or (3.37) where Xi is a whole Phi: exactly symmetric."""
    after = Xi @ Sigma @ Xi.T
    return 0.5 * (after + after.T)


def propagate_value(P: Array, Xi: Array, Q: Array | None = None) -> Array:
    """P(t-) = Q + Xi' P(t+) Xi, (3.39) and with the weight Q at the event (3.160)."""
    before = Xi.T @ P @ Xi
    before = 0.5 * (before + before.T)
    return before if Q is None else Q + before


def covariance_after(
    system: System,
    mode: int,
    x: Array,
    Sigma: Array,
    duration: float,
    u: Array | None = None,
    t: float = 0.0,
    options: SimulationOptions | None = None,
    *,
    with_reset_jacobian: bool = False,
) -> Spread:
    """Covariance Sigma (n, n) about x (n,) carried over a duration [s] through all events, (3.37).

    Arguments as for ``fundamental_matrix``.
    """
    found = fundamental_matrix(
        system, mode, x, duration, u, t, options, with_reset_jacobian=with_reset_jacobian
    )
    return Spread(propagate_covariance(Sigma, found.Phi), found)
