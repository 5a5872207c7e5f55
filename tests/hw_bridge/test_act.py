"""The tracker's command on its one compiled way to the wire, against limiter and encoder."""

import msgspec
import numpy as np
import pytest

from hw_bridge.decision import Decision
from hw_bridge.intake import DQ, Q
from hw_bridge.options import HardwareOptions
from hw_bridge.states import RobotState
from hw_bridge.wire.layout import POS_STOP, VEL_STOP
from hw_bridge.wire.low_command import LowCommandEncoder
from runtime.messages import MotorCommand
from tests.a1 import A1, WIRE
from tests.hw_bridge.rig import stand_command
from tests.hw_bridge.safety.safety_samples import sample

ODD = [np.nan, np.inf, -np.inf, POS_STOP, VEL_STOP, 1e300, -1e4, 40.0]


def decisions() -> tuple[Decision, Decision]:
    """Both of a robot that runs: one may take the short way, one never does."""
    short, long = (Decision(HardwareOptions(), A1, LowCommandEncoder(WIRE)) for _ in range(2))
    long._act = lambda *_: None  # type: ignore[method-assign]
    for each in (short, long):
        each.machine.state = RobotState.RUNNING
    return short, long


def command(rng: np.random.Generator, tick: int, now: float) -> MotorCommand:
    """A tracker's, now and then with an odd number, or more than the limits allow."""
    c = stand_command(
        tick, now, q=A1.stand + 0.02 * rng.normal(size=12), dq=0.1 * rng.normal(size=12),
        kp=rng.uniform(0.0, 60.0, 12), kd=rng.uniform(0.0, 5.0, 12),
        tau=rng.normal(size=12) + (20.0 * rng.normal() if rng.random() < 0.03 else 0.0),
    )  # fmt: skip
    if rng.random() < 0.05:
        name = str(rng.choice(["q", "dq", "kp", "kd", "tau"]))
        values = getattr(c, name).copy()
        values[rng.integers(12)] = rng.choice(ODD)
        c = msgspec.structs.replace(c, **{name: values})
    elif rng.random() < 0.03:
        c = msgspec.structs.replace(c, q=np.repeat(c.q, 2)[::2])  # not contiguous
    return c


@pytest.mark.parametrize("seed", range(4))
def test_the_short_way_changes_no_frame_no_setpoint_and_no_count(seed):
    short, long = decisions()
    rng, now, ways = np.random.default_rng(seed), 5.0, 0
    act = short._act

    def count(*arguments):
        nonlocal ways
        sent = act(*arguments)
        ways += sent is not None
        return sent

    short._act = count
    for tick in range(300):
        now += float(rng.choice([1e-3, 1.2e-3, 0.0, 4e-3, 0.2], p=[0.9, 0.05, 0.02, 0.02, 0.01]))
        s = sample(tick, q=A1.stand + 0.01 * rng.normal(size=12), dq=rng.normal(size=12))
        s.row[1] = now
        if rng.random() < 0.01:
            s.numbers[Q if rng.random() < 0.5 else DQ][rng.integers(12)] = rng.choice(ODD)
        c = command(rng, tick, now)
        with np.errstate(all="ignore"):
            (a, one), (b, other) = (each.decide(c, s, now, True) for each in (short, long))
        assert a == b, tick
        assert one == other, tick
        np.testing.assert_array_equal(short.limiter.last, long.limiter.last)
        assert short.limiter.counts == long.limiter.counts
        assert short.machine.state is long.machine.state
        for each in (short, long):  # a fault stops the robot; go on all the same
            each.machine.state, each.machine._stopped = RobotState.RUNNING, False
            each.machine._ending = each.machine.is_finished = False
            each._following._standing_since = None
    assert ways > 100
