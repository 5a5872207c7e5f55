"""What holds of every command that leaves the limiter, whatever went in."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.limits import POSITION_MARGIN
from hw_bridge.wire.layout import POS_STOP, VEL_STOP
from hw_bridge.wire.low_command import Setpoints
from tests.a1 import A1
from tests.hw_bridge.safety.safety_samples import limiter_of, send

OPTIONS = HardwareSafetyOptions()
AT_EASE = HardwareSafetyOptions(torque_slew=1e9)
EPS = 1e-8
FEW = settings(max_examples=80)  # of 12 motors each
ANY = st.floats(allow_nan=True, allow_infinity=True)
ON_WIRE = st.floats(width=32)  # what a frame can hold


def twelve(low, high, *special):
    """(12) numbers in a range, some of them special."""
    return arrays(float, 12, elements=st.floats(low, high) | st.sampled_from((0.0, *special)))


SETPOINTS = st.builds(
    Setpoints,
    q=twelve(-6.0, 6.0, POS_STOP),
    dq=twelve(-60.0, 60.0, VEL_STOP),
    kp=twelve(-50.0, 1000.0),
    kd=twelve(-10.0, 100.0),
    tau=twelve(-200.0, 200.0),
)
# Believed, and up to the limit of what is: also beyond the end of a joint's range.
SHARE = twelve(0.0, 1.0, 0.0, 1.0)
MARGIN = OPTIONS.excursion_max - 1e-6
Q = SHARE.map(
    lambda share: A1.legs.lower - MARGIN + share * (A1.legs.upper - A1.legs.lower + 2.0 * MARGIN)
)
DQ = twelve(-40.0, 40.0)


def passive(s):
    """Which motors are asked for damping or nothing."""
    springless = (s.q == POS_STOP) | (s.kp == 0.0)
    still = (s.dq == VEL_STOP) | (s.dq == 0.0) | (s.kd == 0.0)
    return springless & still & (s.kd >= 0.0) & (s.tau == 0.0)


@FEW
@given(SETPOINTS, Q, DQ)
def test_torque_gains_power_range_and_speed_stay_within_their_limits(s, q, dq):
    """Where torques may change as fast as they like; what is not limited is not touched."""
    sent, torque, limited = send(limiter_of(AT_EASE), s, q, dq, 0.0)
    driven, power = ~passive(s), torque * dq
    assert np.array_equal(sent, s) == (limited == ())
    assert_allclose(sent.torque(q, dq), torque, atol=EPS)
    # Motors bound the torque of damping themselves.
    assert (abs(torque) <= A1.torque_limit[0] + EPS)[~passive(sent)].all()
    assert abs(sent.tau).max() <= 3.0 * A1.torque_limit[0] + EPS  # the wire's field ends at 128
    assert (sent.kp[driven] >= 0.0).all() and (sent.kp[driven] <= OPTIONS.kp_max).all()
    assert (sent.kd >= 0.0).all() and (sent.kd <= OPTIONS.kd_max).all()
    assert power.max() <= OPTIONS.motor_power + EPS
    assert abs(power[driven]).sum() <= OPTIONS.total_power + EPS
    high = q >= A1.legs.upper - POSITION_MARGIN
    low = q <= A1.legs.lower + POSITION_MARGIN
    assert (torque[driven & high] <= EPS).all() and (torque[driven & low] >= -EPS).all()
    aimed = driven & (sent.q != POS_STOP)
    assert (sent.q[aimed] >= A1.legs.lower[aimed]).all()
    assert (sent.q[aimed] <= A1.legs.upper[aimed]).all()
    assert (power[abs(dq) >= A1.velocity_limit[0]] <= EPS).all()


@FEW
@given(SETPOINTS, SETPOINTS, Q, DQ, st.floats(0.0, 0.003))
def test_torque_changes_no_faster_than_the_slew(first, second, q, dq, since):
    limiter = limiter_of(OPTIONS)
    before = send(limiter, first, q, dq, 0.0)
    after = send(limiter, second, q, dq, since)
    if set(after.limited) - {"slew", "gain", "target", "torque"}:
        return  # torque that would harm the robot goes at once
    driven = ~passive(second)
    change = abs(after.torque - before.torque)[driven]
    assert change.max(initial=0.0) <= OPTIONS.torque_slew * since + EPS


@FEW
@given(SETPOINTS, Q, DQ)
def test_passive_motors_never_drive_and_never_wait(s, q, dq):
    limiter = limiter_of(OPTIONS)
    send(limiter, s, q, dq, 0.0)
    calm = s._replace(dq=np.zeros(12), kp=np.zeros(12), tau=np.zeros(12), kd=np.full(12, 5.0))
    torque = send(limiter, calm, q, dq, 0.0).torque
    assert_allclose(torque, -5.0 * dq, atol=EPS)


@settings(max_examples=100)
@given(arrays(float, (5, 12), elements=ANY), arrays(float, (2, 12), elements=ON_WIRE), ANY)
def test_garbage_in_safe_numbers_out(rows, joints, now):
    sent, torque, limited = send(limiter_of(OPTIONS), Setpoints(*rows), *joints, now)
    assert np.isfinite(np.array(sent)).all()
    assert (abs(torque) <= A1.torque_limit[0] + EPS)[~passive(sent)].all()
    if not np.isfinite(rows).all():
        assert passive(sent).all() and "not_finite" in limited
