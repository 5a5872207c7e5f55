"""The monitor's short way for calm samples against every watch looking at every sample."""

import numpy as np
import pytest

from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.monitor import Monitor
from hw_bridge.safety.motor_watch import MotorWatch
from hw_bridge.wire.layout import BRAKE
from tests.a1 import A1
from tests.hw_bridge.safety.safety_samples import at, sample

LEANING = np.array([0.8, 0.6, 0.0, 0.0])
ODD = [
    {"quaternion_wxyz": LEANING},
    {"quaternion_wxyz": np.array([np.nan, 0.0, 0.0, 0.0])},
    {"quaternion_wxyz": np.array([1.1, 0.0, 0.0, 0.0])},
    {"q": at(4, A1.legs.upper[4] + 0.2, A1.stand)},
    {"q": at(2, np.nan, A1.stand)},
    {"dq": at(7, 31.0, 0.0)},
    {"dq": at(7, -np.inf, 0.0)},
    {"dq": np.full(12, 20.0)},  # 1200 W
    {"mode": at(3, BRAKE, 10)},
    {"temperature": at(11, 55, 30)},
    {"temperature": at(11, 61, 30)},
    {"temperature": at(11, 70, 30)},
]


def calm(serving: bool, **changes) -> bool:
    watch = MotorWatch(HardwareSafetyOptions(tilt_max=0.5), A1)
    return watch.judge(sample(0, **changes).numbers, serving, 0.0).is_calm


def test_a_robot_that_stands_is_calm():
    assert calm(True) and calm(False)


@pytest.mark.parametrize("which", range(len(ODD)))
def test_whatever_a_watch_may_object_to_is_not_calm(which):
    assert not calm(True, **ODD[which])
    assert calm(False, **ODD[which]) == (which in (3, 4, 8))  # ranges and modes


@pytest.mark.parametrize("seed", range(30))
def test_the_short_way_changes_no_verdict(seed):
    """Odd samples alone, in rows, and mixed, with the motors serving now and then."""
    rng = np.random.default_rng(seed)
    monitor, thorough = (Monitor(HardwareSafetyOptions(tilt_max=0.5), A1) for _ in range(2))
    serving, odd, left = True, {}, 0
    for tick in range(400):
        if left == 0:
            left = int(rng.integers(1, 40))
            odd = ODD[rng.integers(len(ODD))] if rng.random() < 0.4 else {}
            serving = bool(rng.random() < 0.8)
        left -= 1
        changes = {"q": A1.stand + 0.01 * np.sin(0.1 * tick + np.arange(12))} | odd
        s = sample(tick, **changes)
        thorough._at_rest = None  # every watch looks
        verdicts = [each.judge(s, s.time, serving) for each in (monitor, thorough)]
        assert verdicts[0] == verdicts[1], tick
        assert monitor.take_warnings() == thorough.take_warnings()
