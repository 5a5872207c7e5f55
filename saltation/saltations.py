"""The saltation matrix: how perturbations pass a hybrid transition, to first order (3.2)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from saltation.systems import Array, System, Transition

# ruff: noqa: N803, N806 (the letters are the thesis's)

JUMPED = 1e-6  # deeper inside a guard than this, and than it falls in as many seconds: jumped over


class Saltation(NamedTuple):
    """Saltation matrix of one event.

    With status "not_transverse" the guard is grazed, left, or jumped over, (3.11) does not hold,
    and ``matrix`` is D_x R: the sensitivity of an event whose time does not depend on the state.
    """

    matrix: Array  # Xi (n_target, n_source)
    reset_jacobian: Array  # D_x R (n_target, n_source)
    guard_rate: float  # d/dt g along the flow before the event, (3.11)
    status: Literal["ok", "not_transverse"]
    change: Array  # F+ - D_x R F- - D_t R (n_target,)

    @property
    def ok(self) -> bool:
        """Whether the trajectory crossed the guard transversally."""
        return self.status == "ok"


def saltation_matrix(
    reset_state: Array,
    flow_before: Array,
    flow_after: Array,
    guard_state: Array,
    guard_time: float = 0.0,
    reset_time: Array | float = 0.0,
    minimum_rate: float = 1e-9,
) -> Saltation:
    """Xi = D_x R + (F+ - D_x R F- - D_t R) D_x g / (D_t g + D_x g F-), equation (3.2).

    Args:
        reset_state: D_x R (n_target, n_source).
        flow_before: F- (n_source,) at the end of the first mode.
        flow_after: F+ (n_target,) at the start of the second.
        guard_state: D_x g (n_source,).
        guard_time: D_t g.
        reset_time: D_t R (n_target,), or zero.
        minimum_rate: slowest fall of the guard that counts as transverse [units of g per s].
    """
    D_xR = np.asarray(reset_state, float)
    rate = float(guard_time + guard_state @ flow_before)
    change = flow_after - D_xR @ flow_before - reset_time
    if not rate < -minimum_rate:
        return Saltation(D_xR, D_xR, rate, "not_transverse", change)
    return Saltation(D_xR + np.outer(change / rate, guard_state), D_xR, rate, "ok", change)


def saltation(
    system: System, transition: Transition, t: float, x: Array, u: Array,
    u_after: Array | None = None,
) -> Saltation:  # fmt: skip
    """Saltation matrix of a transition taken at time t [s] from the state x (n_source,), (3.2).

    The input is u (m,) before the event, and ``u_after`` after it where it jumps with the event.
    A guard that a jump of the input or of the time has carried below zero fires at that instant,
    whatever the state: the event's time does not depend on x, and D_x R maps the perturbations.
    Events that a reset sets off at once are first to be taken together, by ``saltation.chains``.
    """
    at = t, x, u
    reset = transition.reset(t, np.array(x), u)  # a copy, should it write on it
    after = system.modes[transition.target].flow(t, reset, u if u_after is None else u_after)
    jump = saltation_matrix(
        transition.reset_state(*at), system.modes[transition.source].flow(*at), after,
        transition.guard_state(*at), transition.guard_time(*at), transition.reset_time(*at),
    )  # fmt: skip
    if is_jumped_over(system, transition, t, x, u):
        return jump._replace(matrix=jump.reset_jacobian, status="not_transverse")
    return jump


def is_jumped_over(system: System, transition: Transition, t: float, x: Array, u: Array) -> bool:
    """Whether a state lies so deep inside a guard that it did not get there by the flow."""
    rate = system.guard_rate(transition, t, x, u)
    return bool(transition.guard(t, x, u) < -JUMPED * max(1.0, abs(rate)))


def input_saltation(
    jump: Saltation, transition: Transition, t: float, x: Array, u: Array
) -> Array:  # fmt: skip
    """Change (n_target, m) of the state after an event by the input, at a given state before it.

    (3.2) with D_u in place of D_x: D_u R + (F+ - D_x R F- - D_t R) D_u g / (D_t g + D_x g F-). The
    thesis has no such term. It is zero where neither guard nor reset depends on the input, and
    where a guard that does (a contact force) leads to the same flow by an identity reset (3.12).
    """
    D_uR = np.asarray(transition.reset_input(t, x, u), float)
    if not jump.ok:
        return D_uR
    return D_uR + np.outer(jump.change, transition.guard_input(t, x, u)) / jump.guard_rate
