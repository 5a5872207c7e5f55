"""The tracker's policy in one compiled call: everything moved to the command's effect, then (5.17).

What is moved along plans keeps its deviation from them. A plan takes effect at its own start; until
then the robot followed the one before it.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.motor_targets import split_gain
from controller.plan_function import PlanArrays, PlanFunction, nominal_at, policy_at, unpack
from robots.state import difference, integrate
from runtime.messages import Plan

Array = NDArray[np.float64]
ON_TIME = 1e-6  # [s]; times of knots and ticks differ by rounding
LONGEST_MOVE_S = 0.1  # what was measured longer ago is moved no further


class PolicyOutput(NamedTuple):
    """What to ask of the motors when the command takes effect, twelve of each."""

    finite: bool  # numbers so large that they overflow are caught here
    torque: Array  # [N m]
    q: Array  # nominal joints [rad]
    dq: Array  # [rad/s]
    kp: Array  # [N m/rad]
    kd: Array  # [N m s/rad]
    joints: Array  # the measured joints then [rad]
    joint_speeds: Array  # [rad/s]


@njit(cache=True)
def _switch(current: PlanArrays, previous: PlanArrays, begin: float, end: float) -> float:
    """When the current plan took over from the one before, within [begin, end] [s]."""
    if previous.time == current.time:  # there was none before
        return begin
    switch = min(max(begin, current.time), end)
    return switch if switch - begin >= ON_TIME else begin


@njit(cache=True)
def _start(begin: float, end: float) -> float:
    return max(end - LONGEST_MOVE_S, begin)  # in this order NaN gives the bound


@njit(cache=True)
def move(
    current: PlanArrays, previous: PlanArrays, q: Array, v: Array, begin: float, end: float
) -> tuple[Array, Array]:
    """Return the state (q (19), v (18)) of time `begin` moved to `end` [s] as planned.

    `previous` is `current` where there was no plan before.
    """
    begin = _start(begin, end)
    switch = _switch(current, previous, begin, end)
    if switch - begin >= ON_TIME:
        q_0, v_0 = nominal_at(previous, begin)
        q_1, v_1 = nominal_at(previous, switch)
        q, v = integrate(q, v, difference(q_0, v_0, q_1, v_1))
    if end - switch >= ON_TIME:
        q_0, v_0 = nominal_at(current, switch)
        q_1, v_1 = nominal_at(current, end)
        q, v = integrate(q, v, difference(q_0, v_0, q_1, v_1))
    return q, v


@njit(cache=True)
def move_joints(
    current: PlanArrays, previous: PlanArrays, q: Array, dq: Array, begin: float, end: float
) -> tuple[Array, Array]:
    """Return joints (12) [rad], [rad/s] of time `begin` moved to `end` [s] as planned."""
    begin = _start(begin, end)
    switch = _switch(current, previous, begin, end)
    if switch - begin >= ON_TIME:
        q_0, v_0 = nominal_at(previous, begin)
        q_1, v_1 = nominal_at(previous, switch)
        q, dq = q + q_1[7:] - q_0[7:], dq + v_1[6:] - v_0[6:]
    if end - switch >= ON_TIME:
        q_0, v_0 = nominal_at(current, switch)
        q_1, v_1 = nominal_at(current, end)
        q, dq = q + q_1[7:] - q_0[7:], dq + v_1[6:] - v_0[6:]
    return q, dq


@njit(cache=True)
def evaluate(
    current: Array, previous: Array, q: Array, v: Array, estimated_at: float,
    joints: Array, joint_speeds: Array, measured_at: float, due: float,
    kp_max: float, kd_max: float,
) -> tuple[bool, Array, Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """Return the fields of `PolicyOutput` at time `due` [s].

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
    joints_due, speeds_due = move_joints(now, before, joints, joint_speeds, measured_at, due)
    if not np.isfinite(np.sum(joints_due) + np.sum(speeds_due)):
        joints_due, speeds_due = joints, joint_speeds
    return finite, torque, q_nominal[7:], v_nominal[6:], kp, kd, joints_due, speeds_due


def warm_up() -> None:
    """Compile everything here: the first plan of a run must not wait for a compiler."""
    q, v = np.tile(np.eye(19)[6], (3, 1)), np.zeros(18)
    function = PlanFunction(Plan(
        id=0, tick=0, time=0.0, period=0.01, states_q=q, states_v=np.zeros((3, 18)),
        inputs=np.zeros((2, 12)), gains=np.zeros((2, 12, 36)), contacts=np.zeros((2, 4)),
        cost=0.0, iterations=0, solve_s=0.0, status="ok",
    ))  # fmt: skip
    plan, joints = function.flat, np.zeros(12)
    function.policy(q[0].copy(), v, 0.0)
    function.nominal(0.005)
    evaluate(plan, plan, q[0].copy(), v, 0.0, joints, joints, 0.0, 0.005, 1.0, 1.0)
