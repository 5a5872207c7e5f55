"""Random states on a transition's guard, for tests of saltation matrices and other laws."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hybrid.derivatives import jacobian
from hybrid.systems import Array, System, Transition

_NEWTON_STEPS = 20
_ON_GUARD = 1e-12  # residual, relative to 1 + |x|


class GuardState(NamedTuple):
    """A state on a guard, with its time [s] and input."""

    time: float
    state: Array  # (n_source,)
    input: Array  # (m,)


def random_guard_states(
    system: System,
    transition: Transition,
    draw: Callable[[], GuardState],
    count: int,
    accept: Callable[[float, Array, Array], bool] = lambda t, x, u: True,
    constraints: Callable[[float, Array, Array], Array] | None = None,
    minimum_rate: float = 1e-2,
    max_draws: int = 200,
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
        max_draws: draws per state.

    Returns:
        The states; fewer than ``count`` if ``max_draws`` per state did not suffice.
    """
    states: list[GuardState] = []
    for _ in range(max_draws * count):
        if len(states) == count:
            break
        t, x, u = draw()
        on_guard = project_to_guard(transition, t, x, u, constraints)
        if on_guard is None or not accept(t, on_guard, u):
            continue
        if system.guard_rate(transition, t, on_guard, u) < -minimum_rate:
            states.append(GuardState(t, on_guard, u))
    return states


def project_to_guard(
    transition: Transition,
    t: float,
    x: Array,
    u: Array,
    constraints: Callable[[float, Array, Array], Array] | None = None,
) -> Array | None:
    """State near x on the guard and on further constraints; None if Newton's method fails."""

    def residual(y: Array) -> Array:
        guard = np.atleast_1d(transition.guard(t, y, u))
        return guard if constraints is None else np.concatenate((guard, constraints(t, y, u)))

    def slopes(y: Array) -> Array:
        guard = np.atleast_2d(transition.guard_state(t, y, u))
        if constraints is None:
            return guard
        further = constraints
        return np.concatenate((guard, jacobian(lambda z: further(t, z, u), y)))

    return least_norm_root(residual, x, slopes)


def least_norm_root(
    residual: Callable[[Array], Array],
    x: Array,
    slopes: Callable[[Array], Array] | None = None,
) -> Array | None:
    """Root (n,) near x of a function into (k,), k <= n, by least-norm Newton steps.

    ``slopes`` is its derivative (k, n), by default by ``hybrid.derivatives``. None if the steps do
    not converge.
    """
    x = np.asarray(x, dtype=np.float64)
    limit = np.inf
    for _ in range(_NEWTON_STEPS):
        error = residual(x)
        size = float(np.max(np.abs(error)))
        if size <= _ON_GUARD * (1.0 + float(np.max(np.abs(x)))):
            return x
        if not size < limit:  # NaN, or running away
            return None
        limit = min(limit, 10.0 * size)
        D = jacobian(residual, x) if slopes is None else slopes(x)
        x = x - np.linalg.pinv(D) @ error
    return None
