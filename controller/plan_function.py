"""A Plan as a function of time: the hybrid LQR policy of thesis 6.4.4, evaluated at any instant.

u(t, x) = u_k + K_k (x (-) x_nom(t)), k the knot interval of t. Input and gains are held over the
interval, as the planner's rollout holds them; x_nom moves between the knots on the manifold.

Velocities jump where a foot touches down, and a jump must not be smeared over an interval: halfway
through it the nominal would be a velocity that exists on neither side, and K would push towards it.
A time-stepping rollout does not tell on which side of the knot the impact fell: the thesis puts it
at the end of the step that leads to the contact (6.4.3), a simulator's contact force acts in the
first step that has the contact. So in both intervals that meet at such a knot the velocity is that
of the nearer knot in time: right in either case, late by half an interval at most. Positions are
continuous and always interpolated; a lift-off leaves the velocity continuous and needs no care.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.state import difference, integrate
from runtime.messages import Plan

Array = NDArray[np.float64]
ON_KNOT = 1e-9  # of an interval: (0.03 - 0.0) / 0.01 is 2.9999999999999996


class PlanArrays(NamedTuple):
    """A plan as compiled code reads it."""

    time: float  # of knot 0 [s]
    period: float  # [s]
    beside: Array  # (N) 1 where a foot touches down at the knot on either side
    qs: Array  # (N+1, 19)
    vs: Array  # (N+1, 18)
    inputs: Array  # (N, 12) [N m]
    gains: Array  # (N, 12, 36)


HEAD = 3  # numbers of a slot before its arrays: time, period, N


@njit(cache=True)
def unpack(slot: Array) -> PlanArrays:
    """Return the plan in a slot: head, beside, qs, vs, inputs and gains, one after the other.

    Compiled code takes one array faster than seven.
    """
    n = int(slot[2])
    a = HEAD + n
    b = a + 19 * (n + 1)
    c = b + 18 * (n + 1)
    d = c + 12 * n
    e = d + 432 * n
    return PlanArrays(
        slot[0], slot[1], slot[HEAD:a], slot[a:b].reshape((n + 1, 19)),
        slot[b:c].reshape((n + 1, 18)), slot[c:d].reshape((n, 12)), slot[d:e].reshape((n, 12, 36)),
    )  # fmt: skip


def slot_size(n: int) -> int:
    """How many numbers a plan of `n` intervals takes."""
    return HEAD + n + 37 * (n + 1) + 444 * n


class PolicyPoint(NamedTuple):
    """The policy at one instant and one state."""

    knot: int  # interval [time of knot, time of knot + 1)
    ended: bool  # the instant lies past the horizon: the last knot is held
    q: Array  # nominal configuration (19)
    v: Array  # nominal velocity (18)
    dx: Array  # x (-) x_nom (36)
    torque: Array  # u (12) [N m]
    finite: bool  # numbers so large that they overflow are caught here


@njit(cache=True)
def touchdown_beside(contacts: Array, beside: Array) -> None:
    """Write, per interval (N), whether a foot gains contact at the knot on either side of it.

    Args:
        contacts: (N, 4), 1 where a foot is in contact in the interval.
        beside: (N), becomes 1 or 0.
    """
    beside[:] = 0.0
    for k in range(1, contacts.shape[0]):
        for foot in range(contacts.shape[1]):
            if contacts[k, foot] > 0.5 and contacts[k - 1, foot] < 0.5:
                beside[k - 1] = beside[k] = 1.0


@njit(cache=True)
def is_sound(slot: Array, contacts: Array) -> bool:
    """Return whether a slot's numbers are finite, and contacts, and quaternions of unit length.

    Writes the intervals beside a touchdown on the way.
    """
    plan = unpack(slot)
    touchdown_beside(contacts, plan.beside)
    finite = plan.period > 0.0
    for i in range(len(slot)):
        finite &= np.isfinite(slot[i])
    for value in contacts.flat:
        finite &= np.isfinite(value)
    for k in range(plan.qs.shape[0]):
        square = 0.0
        for i in range(3, 7):
            square += plan.qs[k, i] ** 2
        finite &= 0.98 <= square <= 1.02
    return finite


@njit(cache=True)
def _locate(since: float, period: float, n: int) -> tuple[int, float, bool]:
    """Return the interval of an instant `since` [s] after knot 0, the part of it gone, the end."""
    s = since / period + ON_KNOT
    if s >= n:
        return n - 1, 1.0, True
    if s < 0.0:
        return 0, 0.0, False
    k = int(s)
    return k, min(1.0, max(0.0, s - ON_KNOT - k)), False


@njit(cache=True)
def _nominal(
    qs: Array, vs: Array, k: int, alpha: float, beside_touchdown: bool
) -> tuple[Array, Array]:
    dx = difference(qs[k], vs[k], qs[k + 1], vs[k + 1])
    q, v = integrate(qs[k], vs[k], alpha * dx)
    if beside_touchdown:
        v[:] = vs[k] if alpha < 0.5 else vs[k + 1]
    return q, v


@njit(cache=True)
def nominal_at(plan: PlanArrays, now: float) -> tuple[Array, Array]:
    """Return the nominal (q (19), v (18)) at time `now` [s]."""
    k, alpha, _ = _locate(now - plan.time, plan.period, plan.inputs.shape[0])
    return _nominal(plan.qs, plan.vs, k, alpha, plan.beside[k] > 0.5)


@njit(cache=True)
def policy_at(
    plan: PlanArrays, q: Array, v: Array, now: float
) -> tuple[int, bool, Array, Array, Array, Array, bool]:
    """Return the fields of `PolicyPoint` at time `now` [s] and state q (19), v (18)."""
    k, alpha, ended = _locate(now - plan.time, plan.period, plan.inputs.shape[0])
    q_nominal, v_nominal = _nominal(plan.qs, plan.vs, k, alpha, plan.beside[k] > 0.5)
    dx = difference(q_nominal, v_nominal, q, v)
    torque = plan.inputs[k] + plan.gains[k] @ dx
    finite = np.isfinite(np.sum(torque)) and np.isfinite(np.sum(q_nominal) + np.sum(v_nominal))
    return k, ended, q_nominal, v_nominal, dx, torque, finite


class PlanFunction:
    """One plan, ready to be evaluated many times.

    Its numbers are copied once, so that compiled code sees a single array type whatever the wire or
    a caller handed over, and nobody can change a plan while it is being followed.

    Attributes:
        slot: the array that it is copied into, as long as it or longer.
        flat: the part that it takes, see `unpack`.
        is_sound: its numbers are finite, and its quaternions of unit length.
    """

    def __init__(self, plan: Plan, slot: Array | None = None) -> None:
        """Copy `plan`, which has knots, into `slot` if it has room, else into a new one."""
        n = len(plan.inputs)
        self.id, self.tick = plan.id, plan.tick
        self.time, self.period = float(plan.time), float(plan.period)
        size = slot_size(n)
        self.slot = slot if slot is not None and len(slot) >= size else np.empty(size)
        self.flat = flat = self.slot[:size]
        flat[:HEAD] = self.time, self.period, n
        begin = HEAD + n
        for numbers in (plan.states_q, plan.states_v, plan.inputs, plan.gains):
            end = begin + numbers.size
            flat[begin:end] = numbers.ravel()
            begin = end
        self.is_sound = is_sound(flat, np.ascontiguousarray(plan.contacts))
        self.end = self.time + self.period * n  # of the last knot [s]

    def policy(self, q: Array, v: Array, now: float) -> PolicyPoint:
        """Return the policy at time `now` [s] and state q (19), v (18).

        Before knot 0 the nominal is knot 0; past the horizon it is the last state with the last
        input and gains, and `ended` is set.
        """
        return PolicyPoint(*policy_at(unpack(self.flat), q, v, now))

    def nominal(self, now: float) -> tuple[Array, Array]:
        """Return the nominal (q (19), v (18)) at time `now` [s]."""
        return nominal_at(unpack(self.flat), now)
