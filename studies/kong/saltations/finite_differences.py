"""Saltation matrices by differences of the simulated flow through an event.

They use the values of flow, guard and reset, and derivatives of the system only to choose the step.
So they check (3.2), its derivatives, and closed forms. ``guard_states`` has states.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hybrid.integration import flow_state
from hybrid.options import SimulationOptions
from hybrid.saltations import saltation
from hybrid.systems import Array, Mode, System, Transition
from studies.kong.saltations.guard_states import GuardState

_TOLERANCE = SimulationOptions(rtol=1e-13, atol=1e-15)  # flows last about ``step`` seconds
_SECANT_STEPS = 40
_STRAIGHT = 1e-9  # flows shorter than this [s] are lines to rounding
_SMALLEST = 1e-13  # relative step below which a difference is rounding error


def finite_difference_saltation(
    system: System,
    transition: Transition,
    t: float,
    x: Array,
    u: Array,
    step: float = 3e-4,
    u_after: Array | None = None,
) -> Array:
    """Xi (n_target, n_source) by its definition (3.10), from simulated neighbours.

    A neighbour x +- h e_i at time t flows in the source mode to the guard, forward or backward in
    time, is reset there, and flows in the target mode back to time t. Central differences at h
    and h/2 are extrapolated, which leaves an error of order h^4.

    Args:
        system: the hybrid system.
        transition: the event's transition; other guards are ignored.
        t: time of the event [s].
        x: state on the guard (n_source,), where (3.11) holds.
        u: input (m,) before the event.
        step: h relative to max(1, |x_i|). It is reduced so that events shift by at most ``step``
            seconds, and by at most ``step`` of the time in which the guard's rate would vanish.
        u_after: input after the event, if it jumps there.

    Returns:
        The matrix; a column is NaN if a neighbour does not reach the guard, or if the guard is
        grazed and no step is small enough.
    """
    after = u if u_after is None else u_after
    rate = system.guard_rate(transition, t, x, u)
    slopes = np.abs(transition.guard_state(t, x, u))
    longest = _time_scale(system, transition, t, x, u, rate) * abs(rate)
    sizes = step * np.minimum(np.maximum(1.0, np.abs(x)), longest / np.maximum(slopes, 1e-300))

    def central(i: int, h: float) -> Array:
        if not h > _SMALLEST * max(1.0, abs(x[i])):
            return np.full(system.modes[transition.target].state_dim, np.nan)
        bump = np.zeros(len(x))
        bump[i] = h
        ahead = _through_event(system, transition, t, x + bump, u, after, rate)
        behind = _through_event(system, transition, t, x - bump, u, after, rate)
        return (ahead - behind) / (2.0 * h)

    columns = [(4.0 * central(i, h / 2.0) - central(i, h)) / 3.0 for i, h in enumerate(sizes)]
    return np.stack(columns, axis=1)


def saltation_errors(
    system: System,
    transition: Transition,
    points: Iterable[GuardState],
    step: float = 3e-4,
) -> Array:
    """Relative error of (3.2) against ``finite_difference_saltation`` at each point, (k,)."""
    return np.array(
        [
            relative_error(
                saltation(system, transition, *point).matrix,
                finite_difference_saltation(system, transition, *point, step=step),
            )
            for point in points
        ]
    )


def relative_error(matrix: Array, reference: Array) -> float:
    """Largest difference of two matrices over the reference's largest entry (over 1 if zero)."""
    scale = float(np.max(np.abs(reference)))
    return float(np.max(np.abs(matrix - reference))) / (scale or 1.0)


def _time_scale(
    system: System, transition: Transition, t: float, x: Array, u: Array, rate: float
) -> float:
    """Time [s] in which the guard's rate changes by its own size, at most 1."""
    source, h = system.modes[transition.source], 1e-5

    def guard(wait: float) -> float:
        return transition.guard(t + wait, _flow(source, t, x, u, wait), u)

    change = abs(guard(h) - 2.0 * transition.guard(t, x, u) + guard(-h)) / h**2
    return 1.0 if not change > abs(rate) else abs(rate) / change


def _through_event(
    system: System,
    transition: Transition,
    t: float,
    x: Array,
    u: Array,
    u_after: Array,
    rate: float,
) -> Array:
    """State (n_target,) at time t of the trajectory that is at x in the source mode at time t."""
    arrival, on_guard = _to_guard(system, transition, t, x, u, rate)
    reset = np.asarray(transition.reset(arrival, on_guard, u), dtype=np.float64)
    target = system.modes[transition.target]
    return _flow(target, arrival, reset, u_after, t - arrival)


def _flow(mode: Mode, t: float, x: Array, u: Array, duration: float) -> Array:
    return flow_state(mode, t, x, u, duration, _TOLERANCE, resolved=True)


def _to_guard(
    system: System, transition: Transition, t: float, x: Array, u: Array, rate: float
) -> tuple[float, Array]:
    """Time [s] and state at which the flow through x meets the guard, by the secant method."""
    source = system.modes[transition.source]
    first = value = transition.guard(t, x, u)
    for _ in range(_SECANT_STEPS):
        wait = -value / rate
        if wait == 0.0 or abs(wait) <= 1e-16 * (1.0 + abs(t)):
            return t, x
        straight = abs(wait) < _STRAIGHT
        x = x + wait * source.flow(t, x, u) if straight else _flow(source, t, x, u, wait)
        t, before = t + wait, value
        value = transition.guard(t, x, u)
        if abs(value) >= 0.5 * abs(before):  # rounding, or a guard that is not approached
            break
        rate = (value - before) / wait
    rounding = 1e-11 * (1.0 + float(np.max(np.abs(x))))
    settled = abs(value) <= max(rounding, 1e-6 * abs(first), 1e-12 * abs(rate))
    return t, x if settled else np.full_like(x, np.nan)
