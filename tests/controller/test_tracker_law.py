"""The split of the feedback between motor and computer: exact when sampled, alive in between."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from controller.motor_targets import TORQUE_LIMITED, motor_limits, write_command
from controller.options import TrackerOptions
from controller.tracker import Tracker
from robots.motor_law import motor_torque
from robots.state import difference, integrate
from runtime.messages import MotorCommand
from runtime.rows import layout_of
from tests.a1 import A1, stand_command
from tests.controller.tracker_messages import (
    estimate,
    near_standing,
    nominal,
    plan,
    policy,
    reading,
    torque_of,
)


def test_between_samples_the_motors_carry_the_joint_feedback_on(tracker):
    """With a gain of joint PD alone, a joint that moved since the sample meets the K dx of now."""
    p = plan()
    kp, kd = np.linspace(10.0, 90.0, 12), np.linspace(0.5, 4.0, 12)
    p.gains[:, range(12), range(6, 18)] = -kp
    p.gains[:, range(12), range(24, 36)] = -kd
    rng = np.random.default_rng(9)
    q, v = near_standing(rng, 0.02)
    command = tracker.command(estimate(0, q, v), p, 0.0)
    assert_allclose((command.kp, command.kd), (kp, kd))
    assert_allclose(command.tau, 0.0, atol=1e-9)
    moved_q, moved_v = q.copy(), v.copy()
    moved_q[7:] += 0.01 * rng.normal(size=12)
    moved_v[6:] += 0.1 * rng.normal(size=12)
    wanted = policy(p, moved_q, moved_v, 0.0).torque
    assert_allclose(torque_of(command, moved_q, moved_v), wanted, atol=1e-9)


def test_an_older_estimate_is_moved_as_planned_to_the_time_of_the_command(tracker):
    """It deviates from the plan by dx at its own time, and gets u_k + K_k dx of now."""
    rng = np.random.default_rng(10)
    p = plan(rng=rng, gain=3.0)
    (q, v), (q_now, v_now) = near_standing(rng, 0.03), near_standing(rng, 0.03)
    command = tracker.command(estimate(3, q, v), p, 0.005, reading(5, q_now, v_now))
    moved = move(p, q, v, 0.003, 0.005)
    wanted = policy(p, *moved, 0.005).torque
    assert_allclose(torque_of(command, q_now, v_now), wanted, atol=1e-9)
    assert np.abs(wanted - policy(p, q, v, 0.005).torque).max() > 0.1


def move(p, q, v, begin, end):
    return integrate(q, v, difference(*nominal(p, begin), *nominal(p, end)))


def vector(limit):
    return arrays(np.float64, 12, elements=st.floats(-limit, limit))


@given(
    vector(1e6), vector(20.0), vector(1e3), vector(100.0), vector(5.0), vector(5.0), vector(100.0)
)
def test_realised_law_is_exact_and_bounded(torque, q_aim, dq_aim, kp, kd, q, dq):
    kp, kd = np.abs(kp), np.abs(kd)
    limits = motor_limits(A1, None, 0.05)
    row, expected = stand_command(0, 0.0).row, np.empty(12)
    aim = np.stack((torque, q_aim, dq_aim, kp, kd))
    bits = write_command(aim, q, dq, limits, row, expected)
    target = layout_of(MotorCommand).view(row)
    limited = np.clip(torque, -A1.torque_limit[0], A1.torque_limit[0])
    given_by_motor = motor_torque(target.q, target.dq, kp, kd, target.tau, q, dq)
    assert_allclose(given_by_motor, limited, atol=1e-9)
    assert np.abs(target.tau).max() <= 3.0 * A1.torque_limit[0] + 1e-9
    inside = (target.q >= A1.legs.lower - 0.051) & (target.q <= A1.legs.upper + 0.051)
    towards = np.abs(target.q - q) <= A1.torque_limit[0] / np.maximum(kp, 1e-3) + 1e-9
    assert np.all(inside | towards)
    assert bool(bits & TORQUE_LIMITED) == bool(np.any(limited != torque))
    assert_array_equal(expected, limited)


@pytest.mark.parametrize("delay", [0.0, 0.01])
@pytest.mark.parametrize("seed", range(4))
def test_motor_law_gives_exactly_the_policy_of_when_the_command_takes_effect(seed, delay):
    """tau + kp (q_des - q) + kd (dq_des - dq) = u_k + K_k (x (-) x_nom), unless limited.

    A robot that deviates from the plan by dx then still does.
    """
    rng, due = np.random.default_rng(seed), 0.013 + delay
    tracker, p = Tracker(TrackerOptions(command_delay=delay), A1), plan(rng=rng, gain=3.0)
    q, v = near_standing(rng, 0.03)
    command = tracker.command(estimate(13, q, v), p, 0.013, reading(13, q, v))
    q_due, v_due = move(p, q, v, 0.013, due)
    wanted = policy(p, q_due, v_due, due).torque
    assert np.abs(wanted).max() < A1.torque_limit[0]
    assert_allclose(torque_of(command, q_due, v_due), wanted, atol=1e-9)
    assert command.status == "ok" and command.plan_id == p.id and command.tick == 13
