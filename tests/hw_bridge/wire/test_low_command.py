"""LowCmd: round trips, saturation where the vendor's library wraps, and numbers that are none."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from hw_bridge.wire.frame import frame_fault
from hw_bridge.wire.layout import SERVO, WIRES, Header
from hw_bridge.wire.low_command import (
    LowCommandEncoder,
    Setpoints,
    cut_gains,
    no_torque,
    read_low_command,
)
from tests.a1 import WIRE

HEADERS = st.builds(Header, *(st.integers(0, (1 << bits) - 1) for bits in (8, 8, 8, 32, 8)))
FLOATS = arrays(np.float64, 12, elements=st.floats(-1e6, 1e6, width=32))
COUNTS = arrays(np.float64, 12, elements=st.integers(-3276, 3276).map(float))
ANY = arrays(np.float64, 12, elements=st.floats())


def setpoints(q=0.0, dq=0.0, kp=0.0, kd=0.0, tau=0.0):
    return Setpoints(*(np.full(12, float(each)) for each in (q, dq, kp, kd, tau)))


@given(st.sampled_from(sorted(WIRES)), HEADERS, FLOATS, FLOATS, COUNTS, COUNTS, COUNTS)
def test_what_the_frame_can_hold_comes_back_unchanged(name, header, q, dq, kp, kd, tau):
    wire = WIRES[name]
    asked = Setpoints(q, dq, kp / 32.0, kd / 16.0, tau / 256.0)
    encoder = LowCommandEncoder(wire, header)
    found = read_low_command(wire, encoder.encode(asked))
    assert found.header == header and (found.mode == SERVO).all()
    for got, want in zip(found.setpoints, asked, strict=True):
        assert_array_equal(got, want)
    assert encoder.saturated == 0


@given(ANY, ANY, ANY, ANY, ANY)
def test_whatever_is_asked_the_frame_is_whole_and_its_numbers_finite(q, dq, kp, kd, tau):
    encoder, asked = LowCommandEncoder(WIRE), Setpoints(q, dq, kp, kd, tau)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = encoder.encode(asked)
        found = read_low_command(WIRE, frame).setpoints
    assert not frame_fault(frame, WIRE.command.itemsize)
    assert np.isfinite(found).all()
    with np.errstate(all="ignore"):
        bad = ~np.isfinite(np.array(asked).astype(np.float32)).all(axis=0)
    for got, rest in zip(found, no_torque(), strict=True):
        assert_array_equal(got[bad], rest[bad])


# What the vendor's library makes of them: 200 N m -> -56, kp 2000 -> -48, kd 3000 -> -1096.
@pytest.mark.parametrize(
    "field, asked, expected",
    [
        ("tau", 200.0, 32767 / 256), ("tau", -200.0, -128.0), ("tau", 1e30, 32767 / 256),
        ("kp", 2000.0, 32767 / 32), ("kp", -2000.0, -1024.0),
        ("kd", 3000.0, 32767 / 16), ("kd", -3000.0, -2048.0),
    ],
)  # fmt: skip
def test_saturates_where_the_vendor_wraps(field, asked, expected):
    encoder = LowCommandEncoder(WIRE)
    found = read_low_command(WIRE, encoder.encode(setpoints(**{field: asked}))).setpoints
    assert_array_equal(getattr(found, field), expected)
    assert encoder.saturated == 12


@given(st.integers(0, 2**32 - 1))
def test_the_law_gives_at_the_measured_joints_what_it_gave_and_the_wire_loses_a_count(seed):
    rng = np.random.default_rng(seed)
    most = np.array([2.0, 20.0, 150.0, 8.0, 30.0])[:, None]
    asked = Setpoints(*(most * rng.uniform([[-1.0], [-1.0], [0.0], [0.0], [-1.0]], 1, (5, 12))))
    (q, dq), rows = most[:2] * rng.uniform(-1.0, 1.0, (2, 12)), asked.rows
    cut_gains(WIRE.scales, rows, q, dq)
    cut = Setpoints(*rows.T.copy())
    assert np.allclose(cut.torque(q, dq), asked.torque(q, dq), atol=1e-9)
    assert (cut.kp <= asked.kp).all() and (cut.kd <= asked.kd).all()
    if np.abs(cut.tau).max() > 127.0:  # the wire saturates there, and the limiter never goes there
        return
    sent = read_low_command(WIRE, LowCommandEncoder(WIRE).encode(cut)).setpoints
    assert (sent.kp == cut.kp).all() and (sent.kd == cut.kd).all()
    lost = np.abs(sent.torque(q, dq) - asked.torque(q, dq))
    assert lost.max() < 1.0 / 256.0 + 1e-3  # float32 of q and dq adds a little
