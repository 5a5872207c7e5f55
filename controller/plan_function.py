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

`evaluate` is the tracker's policy in one compiled call: estimate and joints are moved to the
command's effect along the plans, keeping their deviation from them, then (5.17). A plan takes
effect at its own start; until then the robot followed the one before it.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from controller.motor_targets import split_gain
from robots.rotations import Array
from robots.state import difference, integrate
from runtime.messages import Plan

ON_KNOT = 1e-9  # of an interval: (0.03 - 0.0) / 0.01 is 2.9999999999999996
HEAD = 3  # numbers of a slot before its arrays: time, period, N
ON_TIME = 1e-6  # [s]; times of knots and ticks differ by rounding
LONGEST_MOVE_S = 0.1  # what was measured longer ago is moved no further


class PlanArrays(NamedTuple):
    """A plan as compiled code reads it."""

    time: float  # of knot 0 [s]
    period: float  # [s]
    beside: Array  # (N) 1 where a foot touches down at the knot on either side
    qs: Array  # (N+1, 19)
    vs: Array  # (N+1, 18)
    inputs: Array  # (N, 12) [N m]
    gains: Array  # (N, 12, 36)


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
    """Number of float64 of a plan of `n` intervals."""
    return HEAD + n + 37 * (n + 1) + 444 * n


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
    """Return the policy at time `now` [s] and state q (19), v (18).

    Before knot 0 the nominal is knot 0; past the horizon it is the last state with the last input
    and gains.

    Returns:
        The knot before that time; whether the time lies past the horizon; the nominal q (19) and
        v (18); x (-) x_nom (36); u (12) [N m]; whether all is finite: numbers so large that they
        overflow are not.
    """
    k, alpha, ended = _locate(now - plan.time, plan.period, plan.inputs.shape[0])
    q_nominal, v_nominal = _nominal(plan.qs, plan.vs, k, alpha, plan.beside[k] > 0.5)
    dx = difference(q_nominal, v_nominal, q, v)
    torque = plan.inputs[k] + plan.gains[k] @ dx
    finite = np.isfinite(np.sum(torque)) and np.isfinite(np.sum(q_nominal) + np.sum(v_nominal))
    return k, ended, q_nominal, v_nominal, dx, torque, finite


class PlanFunction:
    """One plan, ready to be evaluated many times.

    Its numbers are copied once, so that compiled code sees a single array type whatever the wire or
    a caller handed over, and nothing changes a plan that is being followed.

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


@njit(cache=True)
def _switch(current: PlanArrays, previous: PlanArrays, begin: float, end: float) -> float:
    """Time at which the current plan took over from the one before, within [begin, end] [s]."""
    if previous.time == current.time:  # there was none before
        return begin
    switch = min(max(begin, current.time), end)
    return switch if switch - begin >= ON_TIME else begin


@njit(cache=True)
def _along(plan: PlanArrays, q: Array, v: Array, begin: float, end: float) -> tuple[Array, Array]:
    """Return a state (19), (18), or joints (12), of `begin` [s] moved to `end` with a plan."""
    if not end - begin >= ON_TIME:  # NaN moves nothing
        return q, v
    q_0, v_0 = nominal_at(plan, begin)
    q_1, v_1 = nominal_at(plan, end)
    if len(q) == 12:
        return q + q_1[7:] - q_0[7:], v + v_1[6:] - v_0[6:]
    return integrate(q, v, difference(q_0, v_0, q_1, v_1))


@njit(cache=True)
def move(
    current: PlanArrays, previous: PlanArrays, q: Array, v: Array, begin: float, end: float
) -> tuple[Array, Array]:
    """Return the state (q (19), v (18)) of time `begin` moved to `end` [s] as planned.

    So too of joints alone (12) [rad], [rad/s]. `previous` is `current` where there was no plan
    before.
    """
    begin = max(end - LONGEST_MOVE_S, begin)  # in this order NaN gives the bound
    switch = _switch(current, previous, begin, end)
    q, v = _along(previous, q, v, begin, switch)
    return _along(current, q, v, switch, end)


@njit(cache=True)
def evaluate(
    current: Array, previous: Array, q: Array, v: Array, estimated_at: float,
    joints: Array, joint_speeds: Array, measured_at: float, due: float,
    kp_max: float, kd_max: float,
) -> tuple[bool, Array, Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """Return what to ask of the motors at time `due` [s], twelve of each.

    Whether all is finite (numbers so large that they overflow are not), torque [N m], nominal
    joints [rad], [rad/s], kp [N m/rad], kd [N m s/rad], and the measured joints then [rad],
    [rad/s].

    Args:
        current, previous: the plans, see `unpack`; the same where there was none before.
        q, v: the estimate (19), (18), of time `estimated_at` [s].
        joints, joint_speeds: as measured (12) [rad], [rad/s], at `measured_at` [s].
        due: when the command takes effect [s].
        kp_max, kd_max: bounds of the joint PD that is split off.
    """
    now, before = unpack(current), unpack(previous)
    q, v = move(now, before, q, v, estimated_at, due)
    k, _, q_nominal, v_nominal, _, torque, finite = policy_at(now, q, v, due)
    kp, kd = split_gain(now.gains[k], kp_max, kd_max)
    joints_due, speeds_due = move(now, before, joints, joint_speeds, measured_at, due)
    if not np.isfinite(np.sum(joints_due) + np.sum(speeds_due)):
        joints_due, speeds_due = joints, joint_speeds
    return finite, torque, q_nominal[7:], v_nominal[6:], kp, kd, joints_due, speeds_due
