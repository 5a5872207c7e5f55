"""The limiter over time and at the ends of the joints' range."""

import math
from collections import deque

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.limits import DAMPING_KD
from hw_bridge.wire.low_command import Setpoints, damping, no_torque
from tests.a1 import A1
from tests.hw_bridge.safety.safety_samples import (
    FL_THIGH,
    FR_CALF,
    at,
    limiter_of,
    pd_command,
    send,
    torque_command,
)

Q, STILL = A1.stand.copy(), np.zeros(12)
OPTIONS = HardwareSafetyOptions(torque_slew=5000.0)
STEP = 5.0  # [N m] in 1 ms

HUGE = np.full(12, 1e308)

DAMPED = {  # setpoints, joints and speeds that are damped, by the reason that is given
    "not_measured": [(pd_command(), None, STILL), (pd_command(), Q, None),
                     (pd_command(), at(3, np.nan, Q), STILL)],
    "not_finite": [(Setpoints(HUGE, -HUGE, HUGE, HUGE, STILL), Q, STILL),
                   (torque_command(at(7, np.nan, 0.0)), Q, STILL)],
}  # fmt: skip

FAST = at(FL_THIGH, 15.0, 0.0)

LIMITED = {  # setpoints, speeds; torque of the left thigh, reason
    "torque": (torque_command(50.0), STILL, 33.5, ("torque",)),
    "driving": (torque_command(at(FL_THIGH, 33.5, 0.0)), FAST, 400.0 / 15.0, ("motor_power",)),
    "braking": (torque_command(at(FL_THIGH, 33.5, 0.0)), -FAST, 33.5, ()),
    "gain": (Setpoints(Q + 0.01, STILL, np.full(12, 500.0), np.full(12, 30.0), np.full(12, -3.0)),
             STILL + 0.05, 0.5, ("gain",)),
    "target": (pd_command(Q + 0.8)._replace(tau=np.full(12, -75.0)), STILL, 5.0, ("target",)),
}  # fmt: skip


@pytest.fixture
def limiter():
    return limiter_of(OPTIONS)


def ramp(limiter, torque, start, ticks):
    """Ask for a torque for some ticks; the time of the last."""
    for tick in range(ticks):
        send(limiter, torque_command(torque), Q, STILL, start + 1e-3 * tick)
    return start + 1e-3 * (ticks - 1)


def test_the_first_command_begins_at_no_torque(limiter):
    first = send(limiter, torque_command(20.0), Q, STILL, 100.0)
    assert first.limited == ("slew",)
    assert_allclose(first.torque, STEP)


def test_a_late_tick_does_not_make_up_for_all_it_missed(limiter):
    send(limiter, no_torque(), Q, STILL, 0.0)
    late = send(limiter, torque_command(33.0), Q, STILL, 0.02)
    assert_allclose(late.torque, 3.0 * STEP)


@pytest.mark.parametrize("gap", [0.0301, 3600.0, 1e12])
def test_after_a_gap_torque_begins_at_nothing(limiter, gap):
    now = ramp(limiter, 30.0, 0.0, 10)
    after = send(limiter, torque_command(30.0), Q, STILL, now + gap)
    assert_allclose(after.torque, STEP)
    assert limiter.counts["gap"] == 1


@pytest.mark.parametrize("odd", [-1.0, -1e5, math.nan, math.inf])
def test_no_torque_changes_while_the_clock_is_odd(limiter, odd, caplog):
    now = ramp(limiter, 10.0, 0.0, 10)
    for _ in range(2):
        limited = send(limiter, torque_command(30.0), Q, STILL, odd)
        assert_allclose(limited.torque, 10.0)
    assert "clock" in send(limiter, torque_command(30.0), Q, STILL, math.nan).limited
    assert len(caplog.records) == 1  # one line, however often
    back = odd if math.isfinite(odd) else now
    after = send(limiter, torque_command(30.0), Q, STILL, back + 1e-3)
    assert_allclose(after.torque, 10.0 + STEP)


@pytest.mark.parametrize("setpoints", [no_torque(), damping(3.0)])
def test_what_drives_nothing_passes_even_unmeasured(limiter, setpoints):
    for joints, now in (((Q, STILL), 0.0), ((None, None), 0.001)):
        sent = send(limiter, setpoints, *joints, now)
        assert_array_equal(sent.setpoints, setpoints)
        assert sent.limited == ()


@pytest.mark.parametrize("reads", [0.0, -3.2])  # the calf's range ends at -0.92 and -2.70
def test_a_joint_that_cannot_be_where_it_reads_is_only_damped(limiter, reads):
    wanted = pd_command()
    limited = send(limiter, wanted, at(FR_CALF, reads, Q), STILL, 0.0)
    assert limited.limited == ("measurement",)
    others = np.arange(12) != FR_CALF
    assert limited.setpoints.kp[FR_CALF] == 0.0 == limited.setpoints.tau[FR_CALF]
    assert limited.setpoints.kd[FR_CALF] == DAMPING_KD
    for sent, asked in zip(limited.setpoints, wanted, strict=True):
        assert_array_equal(sent[others], asked[others])


def drive_out(motor, sign, delay_ms, load):
    """Positions [rad] of one joint (rotor and a light shank) that all are told to drive outwards.

    Motor law and physics at 10 kHz, commands at 1 kHz of joints `delay_ms` old, a constant `load`
    [N m] from outside.
    """
    limiter, inertia, step = limiter_of(OPTIONS), 0.03, 1e-4
    q, dq, way = Q.copy(), STILL.copy(), []
    seen = deque([(q.copy(), dq.copy())] * (delay_ms + 1), maxlen=delay_ms + 1)
    for tick in range(1200):
        seen.append((q.copy(), dq.copy()))
        sent = send(limiter, torque_command(at(motor, sign * 33.5, 0.0)), *seen[0], 1e-3 * tick)
        for _ in range(10):
            torque = np.clip(sent.setpoints.torque(q, dq), -33.5, 33.5)[motor]
            dq[motor] += step * (torque + load - 0.2 * dq[motor]) / inertia
            q[motor] += step * dq[motor]
        way.append(q[motor])
    return np.array(way)


@pytest.mark.parametrize("motor", [FR_CALF, FL_THIGH])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("delay_ms", [0, 10])
def test_full_torque_outwards_ends_inside_the_range(motor, sign, delay_ms):
    way = drive_out(motor, sign, delay_ms, load=0.0)
    assert A1.legs.lower[motor] < way.min() and way.max() < A1.legs.upper[motor]
    assert np.ptp(way[-200:]) < 0.02


def test_a_load_outwards_is_held_by_the_spring():
    rest = drive_out(FR_CALF, 1.0, 0, load=10.0)[-300:]
    assert_allclose(rest - A1.legs.upper[FR_CALF], 10.0 / 120.0, atol=0.005)


@pytest.mark.parametrize("reason", DAMPED)
def test_what_cannot_be_driven_is_damped_and_torque_begins_anew(limiter, reason):
    for asked in DAMPED[reason]:
        now = ramp(limiter, 30.0, 0.0, 10)
        limited = send(limiter, *asked, now + 1e-3)
        assert limited.limited == (reason,)
        assert_array_equal(limited.setpoints, damping(DAMPING_KD))
        after = send(limiter, torque_command(30.0), Q, STILL, now + 2e-3)
        assert_allclose(after.torque, STEP)


@pytest.mark.parametrize("name", LIMITED)
def test_a_limit_cuts_the_torque_at_the_instant_to_its_value(name):
    limiter = limiter_of(HardwareSafetyOptions(torque_slew=1e9))
    setpoints, dq, torque, reason = LIMITED[name]
    limited = send(limiter, setpoints, Q, dq, 0.0)
    assert limited.torque[FL_THIGH] == approx(torque)
    assert limited.setpoints.torque(Q, dq)[FL_THIGH] == approx(torque)
    assert set(reason) <= set(limited.limited)
    assert (limited.setpoints.kp <= OPTIONS.kp_max).all()
    assert (limited.setpoints.kd <= OPTIONS.kd_max).all()
