"""Samples and setpoints for the tests of the bridge's safety."""

from typing import NamedTuple

import numpy as np

from hw_bridge.intake import DQ, MODE, NUMBERS, ROW, SQUARE, TORQUE, Q, Sample, take_in
from hw_bridge.options import SensingOptions
from hw_bridge.safety.limits import REASONS, Limiter
from hw_bridge.wire.layout import SERVO, WIRES
from hw_bridge.wire.low_command import SENT, Array, LowCommandEncoder, Setpoints
from tests.a1 import A1, WIRE, stand_command, state_frame

UNUSED = np.zeros(8)
FR_CALF, FL_THIGH = 2, 4


def twenty(values):
    """(12) values as a frame's (20)."""
    return np.concatenate([np.array(values, dtype=float), UNUSED])


def sample_of(arrival, time, tick, sensing=None, **fields):
    """A sample as the wire would carry a state's `fields`."""
    frame, row, o = (
        state_frame(WIRE, tick=tick, **fields),
        np.empty(ROW),
        sensing or SensingOptions(),
    )
    calibration = np.array([*o.foot_force_offset, o.foot_force_scale])
    data, header = np.frombuffer(frame, np.uint8), np.empty(0, np.uint8)
    take_in(data, WIRE.state_at, header, calibration, row[2 : 2 + NUMBERS])
    row[0], row[1], row[-1] = tick, time, arrival
    return Sample(frame, row, row[2 : 2 + NUMBERS], WIRE, time, arrival)


def sample(tick, **changes):
    """A robot that stands well at `tick` [ms], but for `changes` of its state (12 or whole)."""
    fields = {
        "q": A1.stand,
        "dq": np.zeros(12),
        "tau_est": np.full(12, 5.0),
        "mode": np.full(12, SERVO),
        "temperature": np.full(12, 30),
    }
    fields |= changes
    for name, value in fields.items():
        if np.shape(value) == (12,):
            whole = twenty(value)
            fields[name] = whole.astype(int) if name in ("mode", "temperature") else whole
    return sample_of(1e-3 * tick, 1e-3 * tick, tick, **fields)


def at(motor, value, others):
    """(12) `others`, but `value` at a motor."""
    values = np.array(np.broadcast_to(others, 12), dtype=float)
    values[motor] = value
    return values


def torque_command(tau):
    """Plain torques [N m], twelve or one for all, at the stand, without feedback."""
    zero = np.zeros(12)
    return Setpoints(A1.stand.copy(), zero, zero, zero, np.full(12, 1.0) * tau)


def pd_command(q=A1.stand, kp=100.0, kd=3.0):
    """Joint PD towards a pose."""
    return Setpoints(
        np.array(q, dtype=float), np.zeros(12), np.full(12, kp), np.full(12, kd), np.zeros(12)
    )


def numbers(q, dq, torque):
    """The numbers of a sample with a level trunk, as float32 frames carry them."""
    out = np.zeros(NUMBERS)
    out[3] = out[SQUARE] = 1.0
    out[MODE] = SERVO
    out[Q], out[DQ], out[TORQUE] = np.float32(q), dq, torque
    return out


def limiter_of(options, robot=A1):
    """A limiter that writes frames of floats, in which nothing is lost."""
    return Limiter(options, robot, LowCommandEncoder(WIRES["unitree-go2"]))


class Sent(NamedTuple):
    """What was sent, its torque [N m] at the measured joints, and the limits that it met."""

    setpoints: Setpoints
    torque: Array
    limited: tuple[str, ...]


def send(limiter, wanted, q, dq, now):
    """Send setpoints at measured joints."""
    row, measured = stand_command(0, 0.0).row, np.zeros(NUMBERS)
    row[SENT] = np.concatenate(wanted)
    if q is not None and dq is not None:
        measured[Q], measured[DQ] = q, dq
    bits, _ = limiter.apply(row, measured, q is not None and dq is not None, now)
    sent = Setpoints(*limiter.last.T.copy())
    limited = tuple(name for bit, name in enumerate(REASONS) if bits >> bit & 1)
    with np.errstate(all="ignore"):  # of what was measured wrongly
        return Sent(sent, sent.torque(measured[Q], measured[DQ]), limited)
