"""Cutting gains to what the wire carries leaves the motors' torque as it was."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.wire.low_command import LowCommandEncoder, Setpoints, cut_gains, decode_low_command
from tests.a1 import WIRE

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_the_law_gives_at_the_measured_joints_what_it_gave_and_the_wire_loses_a_count(seed):
    rng = np.random.default_rng(seed)
    most = np.array([2.0, 20.0, 150.0, 8.0, 30.0])[:, None]
    setpoints = Setpoints(*(most * rng.uniform([[-1.0], [-1.0], [0.0], [0.0], [-1.0]], 1, (5, 12))))
    (q, dq), rows = most[:2] * rng.uniform(-1.0, 1.0, (2, 12)), setpoints.rows
    cut_gains(WIRE.scales, rows, q, dq)
    cut = Setpoints(*rows.T.copy())
    assert np.allclose(cut.torque(q, dq), setpoints.torque(q, dq), atol=1e-9)
    assert (cut.kp <= setpoints.kp).all() and (cut.kd <= setpoints.kd).all()
    if np.abs(cut.tau).max() > 127.0:  # the wire saturates there, and the limiter never goes there
        return
    sent = decode_low_command(WIRE, LowCommandEncoder(WIRE).encode(cut)).setpoints
    assert (sent.kp == cut.kp).all() and (sent.kd == cut.kd).all()
    lost = np.abs(sent.torque(q, dq) - setpoints.torque(q, dq))
    assert lost.max() < 1.0 / 256.0 + 1e-3  # float32 of q and dq adds a little
