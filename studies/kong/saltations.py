"""Saltation matrices by differences of the simulated flow, and random states on guards.

The differences use the values of flow, guard and reset, and derivatives of the system only to
choose the step. So they check (3.2), its derivatives, and closed forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from saltation.derivatives import jacobian
from saltation.integration import flow_state
from saltation.options import SimulationOptions
from saltation.rigid_body.body import RigidBody
from saltation.rigid_body.dynamics import Contact, constraint_jacobian, motion
from saltation.rigid_body.hybrid_system import CONTACTS, SEPARATING
from saltation.rigid_body.impacts import sticking_impulse
from saltation.systems import Array, Mode, System, Transition

_TOLERANCE = SimulationOptions(rtol=1e-13, atol=1e-15)  # flows last about ``step`` seconds
# h relative to max(1, |x_i|). It is reduced so that events shift by at most so many seconds, and by
# at most that part of the time in which the guard's rate would vanish.
_STEP = 3e-4
_WAIT = 1e-5  # of differences of the guard along the flow [s]
_DRAWS = 200  # per state
_SECANT_STEPS = 40
_STRAIGHT = 1e-9  # flows shorter than this [s] are lines to rounding
_SMALLEST = 1e-13  # relative step below which a difference is rounding error
_NEWTON_STEPS = 20
_ON_GUARD = 1e-12  # residual, relative to 1 + |x|
_CLEAR = 0.1  # least sliding velocity [m/s], and part of an impulse's cone
_RATE = 0.5  # slowest fall of a guard [m/s, m/s^2 or N/s]: slower ones are too near to grazing
_FORCES = (2.0, 20.0)  # normal forces where friction acts [N]


class GuardState(NamedTuple):
    """A state on a guard, with its time [s] and input."""

    time: float
    state: Array  # (n_source,)
    input: Array  # (m,)


def through_event(
    system: System, transition: Transition, t: float, x: Array, u: Array, rate: float,
    u_after: Array | None = None
) -> Array:  # fmt: skip
    """State (n_target,) at time t of the trajectory that is at x in the source mode at t.

    It flows to the guard, forward or backward in time, is reset there, and flows back to t under
    the input ``u_after``, or u. ``rate`` is the guard's, about which the secant method starts. NaN
    where the guard is not reached.
    """
    guard, source = transition.guard, system.modes[transition.source]
    s, on_guard, first = t, x, guard(t, x, u)
    value, slope = first, rate
    for _ in range(_SECANT_STEPS):
        wait = -value / slope
        if wait == 0.0 or abs(wait) <= 1e-16 * (1.0 + abs(s)):
            break
        straight = abs(wait) < _STRAIGHT
        on_guard = (on_guard + wait * source.flow(s, on_guard, u) if straight
                    else _flowed(source, s, on_guard, u, wait))  # fmt: skip
        s, before = s + wait, value
        value = guard(s, on_guard, u)
        if abs(value) >= 0.5 * abs(before):  # rounding, or a guard that is not approached
            break
        slope = (value - before) / wait
    rounding = 1e-11 * (1.0 + np.max(np.abs(on_guard)))
    if not abs(value) <= max(rounding, 1e-6 * abs(first), 1e-12 * abs(rate)):
        return np.full(system.modes[transition.target].state_dim, np.nan)
    reset = np.asarray(transition.reset(s, on_guard, u), dtype=np.float64)
    after = u if u_after is None else u_after
    return _flowed(system.modes[transition.target], s, reset, after, t - s)


def _flowed(mode: Mode, t: float, x: Array, u: Array, duration: float) -> Array:
    return flow_state(mode, t, x, u, duration, _TOLERANCE, resolved=True)


def finite_difference_saltation(
    system: System, transition: Transition, t: float, x: Array, u: Array
) -> Array:
    """Xi (n_target, n_source) by its definition (3.10), from simulated neighbours.

    Neighbours x +- h e_i at time t go `through_event`. Central differences at h and h/2 are
    extrapolated, which leaves an error of order h^4.

    Args:
        system: the hybrid system.
        transition: the event's transition; other guards are ignored.
        t: time of the event [s].
        x: state on the guard (n_source,), where (3.11) holds.
        u: input (m,).

    Returns:
        The matrix; a column is NaN if a neighbour does not reach the guard, or if the guard is
        grazed and no step is small enough.
    """
    source, target = system.modes[transition.source], system.modes[transition.target]
    guard, guard_rate = transition.guard, system.guard_rate(transition, t, x, u)

    def central(i: int, h: float) -> Array:
        if not h > _SMALLEST * max(1.0, abs(x[i])):
            return np.full(target.state_dim, np.nan)
        bump = h * np.eye(len(x))[i]
        ends = [through_event(system, transition, t, x + d, u, guard_rate) for d in (bump, -bump)]
        return (ends[0] - ends[1]) / (2.0 * h)

    ahead, behind = (guard(t + h, _flowed(source, t, x, u, h), u) for h in (_WAIT, -_WAIT))
    change, speed = abs(ahead - 2.0 * guard(t, x, u) + behind) / _WAIT**2, abs(guard_rate)
    # Time [s] in which the guard's rate changes by its own size, at most 1.
    scale = speed / change if change > speed else 1.0
    slopes = np.maximum(np.abs(transition.guard_state(t, x, u)), 1e-300)
    longest = scale * speed
    sizes = _STEP * np.minimum(np.maximum(1.0, np.abs(x)), longest / slopes)
    columns = [(4.0 * central(i, h / 2.0) - central(i, h)) / 3.0 for i, h in enumerate(sizes)]
    return np.stack(columns, axis=1)


def relative_error(matrix: Array, reference: Array) -> float:
    """Largest difference of two matrices over the reference's largest entry (over 1 if zero)."""
    scale = np.max(np.abs(reference))
    return np.max(np.abs(matrix - reference)) / (scale or 1.0)


def random_guard_states(
    system: System,
    transition: Transition,
    draw: Callable[[], GuardState],
    count: int,
    accept: Callable[[float, Array, Array], bool] = lambda t, x, u: True,
    constraints: Callable[[float, Array, Array], Array] = lambda t, x, u: np.zeros(0),
    minimum_rate: float = 1e-2,
) -> list[GuardState]:
    """Random states on a transition's guard that cross it transversally (3.11).

    Args:
        system: the hybrid system.
        transition: whose guard.
        draw: gives a random time, state near the guard, and input.
        count: number of states.
        accept: further condition on a state of the guard.
        constraints: further functions (k,) of (t, x, u) that must vanish, such as a contact's.
        minimum_rate: slowest fall of the guard that is transverse [units of g per s].

    Returns:
        The states; fewer than ``count`` if 200 draws per state did not suffice.
    """
    states: list[GuardState] = []

    def moved(t: float, x: Array, u: Array) -> Array | None:
        """The state, moved onto the guard."""

        def residual(y: Array) -> Array:
            return np.append(transition.guard(t, y, u), constraints(t, y, u))

        def slopes(y: Array) -> Array:
            further = jacobian(lambda z: constraints(t, z, u), y)
            return np.concatenate((np.atleast_2d(transition.guard_state(t, y, u)), further))

        return least_norm_root(residual, x, slopes)

    for _ in range(_DRAWS * count):
        if len(states) == count:
            break
        t, x, u = draw()
        on_guard = moved(t, x, u)
        if on_guard is None or not accept(t, on_guard, u):
            continue
        if system.guard_rate(transition, t, on_guard, u) < -minimum_rate:
            states.append(GuardState(t, on_guard, u))
    return states


def least_norm_root(
    residual: Callable[[Array], Array], x: Array, slopes: Callable[[Array], Array] | None = None
) -> Array | None:
    """Root (n,) near x of a function into (k,), k <= n, by least-norm Newton steps.

    ``slopes`` is its derivative (k, n), by default by ``saltation.derivatives``. None if the steps
    do not converge.
    """
    x, limit = np.asarray(x, dtype=np.float64), np.inf
    for _ in range(_NEWTON_STEPS):
        error = residual(x)
        size = np.max(np.abs(error))
        if size <= _ON_GUARD * (1.0 + np.max(np.abs(x))):
            return x
        if not size < limit:  # NaN, or running away
            return None
        limit = min(limit, 10.0 * size)
        D = jacobian(residual, x) if slopes is None else slopes(x)
        x = x - np.linalg.pinv(D) @ error
    return None


def contact_states(
    body: RigidBody,
    system: System,
    transition: Transition,
    rng: np.random.Generator,
    count: int,
    around: Array,
) -> list[GuardState]:
    """States on a transition's guard that satisfy the source mode's constraints.

    They keep clear of other events, so that neighbours go through the same transition. Inputs are
    chosen with the state, for the contact forces that the transition needs.

    Args:
        body: the body.
        system: its hybrid system.
        transition: one of the system's.
        rng: source of randomness.
        count: how many; fewer come back where too few draws reach the guard.
        around: positions q (m,) near contact.
    """

    source, target = CONTACTS[transition.source], CONTACTS[transition.target]

    def touching(x: Array) -> Array:
        """Functions that vanish while a contact lasts: g_n and J qd, and at its end v_t (3.95)."""
        q, qd = body.split(x)
        contact = Contact.STICKING if transition.target != SEPARATING else source
        return np.append(body.gap(q), constraint_jacobian(body, contact, q) @ qd)

    def forcing(x: Array, u: Array) -> Array | None:
        """Input near u that gives the contact forces at which the transition happens.

        f_t / f_n of mode C at the end of sliding or sticking is in the cone, on it, or beyond it.
        """
        q, qd = body.split(x)
        contact, forces = Contact.STICKING, np.zeros(2 if source is Contact.STICKING else 1)
        if target is Contact.NONE:
            contact = source
        else:
            normal = rng.uniform(*_FORCES)
            if target is Contact.STICKING:
                slope = body.mu_s * rng.uniform(-0.9, 0.9)
            else:
                beyond = 1.0 if source is Contact.STICKING else rng.uniform(1.2, 2.0)
                slope = -target.direction * body.mu_s * beyond
            forces = normal * np.array([slope, 1.0])
        return least_norm_root(lambda v: motion(body, contact, q, qd, v).forces - forces, u)

    def draw() -> GuardState:
        q = around + 0.2 * rng.normal(size=body.dof)
        qd = 2.0 * rng.normal(size=body.dof)
        x, u = np.concatenate((q, qd)), 5.0 * rng.normal(size=body.input_dim)
        if source is Contact.NONE:
            return GuardState(0.0, x, u)
        x = least_norm_root(touching, x)
        u = None if x is None else forcing(x, u)
        if x is None or u is None:  # not a number is on no guard
            return GuardState(0.0, np.full(2 * body.dof, np.nan), np.zeros(body.input_dim))
        return GuardState(0.0, x, u)

    def accept(t: float, x: Array, u: Array) -> bool:
        """Whether neighbours of a state go through the same transition."""
        q, qd = body.split(x)
        if target is Contact.NONE:
            return source.direction == 0.0 or source.direction * (body.tangent(q) @ qd) > _CLEAR
        if source is Contact.NONE and target is Contact.STICKING:
            p_t, p_n = sticking_impulse(body, q, qd)
            return abs(p_t) < (1.0 - _CLEAR) * body.impact_friction * p_n
        if source is Contact.NONE:
            moved = transition.reset(0.0, x, u)[body.dof :]
            return target.direction * (body.tangent(q) @ moved) > _CLEAR
        return True

    return random_guard_states(system, transition, draw, count, accept, minimum_rate=_RATE)
