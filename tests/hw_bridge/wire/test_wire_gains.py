"""Cutting gains to what the wire carries leaves the motors' torque as it was."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.setpoints import Setpoints
from hw_bridge.wire.low_command import LowCommandEncoder, cut_gains, decode_low_command
from tests.a1 import WIRE

seeds = st.integers(0, 2**32 - 1)


def draw(seed: int) -> tuple[Setpoints, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    setpoints = Setpoints(
        rng.uniform(-2, 2, 12), rng.uniform(-20, 20, 12), rng.uniform(0, 150, 12),
        rng.uniform(0, 8, 12), rng.uniform(-30, 30, 12),
    )  # fmt: skip
    return setpoints, rng.uniform(-2, 2, 12), rng.uniform(-20, 20, 12)


def cut_to_wire(setpoints: Setpoints, q: np.ndarray, dq: np.ndarray) -> Setpoints:
    rows = setpoints.rows
    cut_gains(WIRE.scales, rows, q, dq)
    return Setpoints(*rows.T.copy())


@given(seeds)
def test_the_law_gives_at_the_measured_joints_what_it_gave(seed):
    setpoints, q, dq = draw(seed)
    cut = cut_to_wire(setpoints, q, dq)
    assert np.allclose(cut.torque(q, dq), setpoints.torque(q, dq), atol=1e-9)
    assert (cut.kp <= setpoints.kp).all() and (cut.kd <= setpoints.kd).all()


@given(seeds)
def test_over_the_wire_only_the_torques_own_count_is_lost(seed):
    setpoints, q, dq = draw(seed)
    cut = cut_to_wire(setpoints, q, dq)
    if np.abs(cut.tau).max() > 127.0:  # the wire saturates there, and the limiter never goes there
        return
    sent = decode_low_command(WIRE, LowCommandEncoder(WIRE).encode(cut)).setpoints
    assert (sent.kp == cut.kp).all() and (sent.kd == cut.kd).all()
    lost = np.abs(sent.torque(q, dq) - setpoints.torque(q, dq))
    assert lost.max() < 1.0 / 256.0 + 1e-3  # float32 of q and dq adds a little
