"""What the monitor stops, what it leaves alone, and what it says."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.monitor import GO, Monitor, Verdict
from hw_bridge.wire.layout import BRAKE, OVERHEATED, SERVO
from tests.a1 import A1
from tests.hw_bridge.safety.safety_samples import FL_THIGH, FR_CALF, at, sample

ROLLED = np.array([math.cos(0.7), math.sin(0.7), 0.0, 0.0])  # by 1.4 rad
Q = A1.stand


@pytest.fixture
def monitor():
    return Monitor(HardwareSafetyOptions(), A1)


def live(
    monitor, ticks, start = 0, serving = True, tilt = 0.0,
    **changes,
):  # fmt: skip
    """The verdict after some ticks of 1 ms in one state, seen 1 ms later."""
    verdict = GO
    for tick in range(start, start + ticks):
        q = np.array(changes.get("q", Q)) + 1e-4 * (tick % 2)  # encoders are never quite still
        seen = sample(tick, **changes | {"q": q})
        verdict = monitor.judge(seen, 1e-3 * (tick + 1), serving, tilt)
    return verdict


FAULTS = {  # changes of a sample, and what its cause names
    "tilt": ({"quaternion_wxyz": ROLLED}, ("80", "60")),
    "IMU": ({"quaternion_wxyz": np.array([0.7, 0.0, 0.0, 0.0])}, ("IMU", "0.70")),
    "no IMU": ({"quaternion_wxyz": np.zeros(4)}, ("IMU", "0.00")),
    "NaN IMU": ({"quaternion_wxyz": np.full(4, np.nan)}, ()),
    "range": ({"q": at(FR_CALF, -2.9, Q)}, ("FR calf", "-2.90", "-2.70")),
    "NaN q": ({"q": np.full(12, np.nan)}, ()),
    "speed": ({"dq": at(FL_THIGH, -31.0, 0.0)}, ("FL thigh", "31.0", "30")),
    "NaN dq": ({"dq": np.full(12, np.nan)}, ()),
    "power": ({"dq": np.full(12, 9.0), "tau_est": np.full(12, -10.0)}, ("1080 W", "1000")),
    "heat": ({"temperature": at(FL_THIGH, 66, 30)}, ("FL thigh", "66", "65")),
    "mode": ({"mode": at(FL_THIGH, OVERHEATED, SERVO)}, ("FL thigh", "0x08")),
    "brake": ({"mode": np.full(12, BRAKE)}, ("FR hip", "0x00")),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_lasts_damps_and_says_why(monitor, name):
    changes, words = FAULTS[name]
    assert live(monitor, 30) == GO
    assert live(monitor, 2, start=30, **changes) == GO  # one odd sample is no fault, nor are two
    assert live(monitor, 30, start=32) == GO
    verdict = live(monitor, 30, start=62, **changes)
    assert verdict.action == "damp" and all(word in verdict.cause for word in words)
    assert "\n" not in verdict.cause
    # Folded legs at power-up are out of range, and their motors brake.
    limp = Monitor(HardwareSafetyOptions(), A1)
    waits = name in ("range", "mode", "brake", "NaN q")
    assert (live(limp, 300, serving=False, **changes) == GO) == waits


def test_a_motion_may_tilt_the_trunk_as_far_as_it_says_and_no_longer(monitor):
    assert live(monitor, 30, tilt=0.4, quaternion_wxyz=ROLLED) == GO
    verdict = live(monitor, 30, start=30, tilt=0.3, quaternion_wxyz=ROLLED)
    assert verdict.cause == "the trunk is tilted by 80 deg (limit 77)"
    assert live(monitor, 30, start=60) == GO
    assert live(monitor, 30, start=90, quaternion_wxyz=ROLLED).action == "damp"
    assert live(monitor, 30, start=120) == GO
    assert live(monitor, 30, start=150, tilt=math.nan, quaternion_wxyz=ROLLED).action == "damp"


def test_motors_have_time_to_enter_servo_mode_but_not_for_ever(monitor):
    live(monitor, 10, serving=False, mode=np.full(12, BRAKE))
    assert live(monitor, 200, start=10, mode=np.full(12, BRAKE)) == GO
    verdict = live(monitor, 100, start=210, mode=np.full(12, BRAKE))
    assert verdict.action == "damp" and "FR hip does not enter servo mode" in verdict.cause


def test_a_warm_motor_is_a_warning_once_and_a_hot_one_sits_down(monitor):
    assert live(monitor, 50, temperature=at(FL_THIGH, 49, 30)) == GO
    assert monitor.warnings == []
    for start in (50, 100):
        assert live(monitor, 50, start=start, temperature=at(FL_THIGH, 52, 30)) == GO
    assert monitor.warnings == ["FL thigh at 52 degC (warning from 50)"]
    monitor.warnings.clear()
    verdict = live(monitor, 50, start=150, temperature=at(FL_THIGH, 61, 30))
    assert verdict == Verdict("sit_down", "FL thigh at 61 degC (limit 60)")
    assert monitor.warnings == []
    assert live(monitor, 50, start=200, temperature=at(FL_THIGH, 65, 30)).action == "damp"


@pytest.mark.parametrize("repeated", [True, False])  # the same sample, or none
def test_an_old_state_is_held_then_damps(monitor, repeated):
    last = sample(0)
    monitor.judge(last, 0.001, True)
    again = last if repeated else None
    assert monitor.judge(again, 0.019, True) == GO and not monitor.holding
    assert monitor.judge(again, 0.050, True) == GO and monitor.holding
    assert monitor.judge(again, 0.099, True) == GO
    warning = monitor.warnings.pop()
    assert warning.startswith("the robot's state is 50 ms old: damping until")
    verdict = monitor.judge(again, 0.101, True)
    assert verdict == Verdict("damp", "the robot's state is 101 ms old (limit 100)")
    assert monitor.judge(sample(200), 0.201, True) == GO and not monitor.holding
    assert monitor.judge(None, 0.230, True) == GO and monitor.holding
    assert monitor.warnings == [] and monitor.late == 2


def test_before_the_first_state_nothing_may_be_served(monitor):
    assert monitor.judge(None, 5.0, False) == GO
    verdict = monitor.judge(None, 5.0, True)
    assert verdict == Verdict("damp", "no state from the robot yet")


@pytest.mark.parametrize("yaw", [0.0, -2.0])
@pytest.mark.parametrize("axis", [(-1, 0, 0), (0, 1, 0), (0.6, 0.8, 0)])
def test_a_tilt_is_the_same_about_every_axis_and_at_every_heading(monitor, axis, yaw):
    heading = Rotation.from_rotvec([0.0, 0.0, yaw])
    near, far = ((heading * Rotation.from_rotvec(angle * np.array(axis, float))).as_quat()
                 for angle in (0.9, 1.2))  # fmt: skip
    assert live(monitor, 50, quaternion_wxyz=np.roll(near, 1)) is GO  # 52 deg
    assert "69 deg" in live(monitor, 50, start=50, quaternion_wxyz=np.roll(far, 1)).cause


@pytest.mark.parametrize("now", [-1.0, math.nan, math.inf])
def test_an_odd_clock_damps(monitor, now):
    monitor.judge(sample(0), 0.001, True)
    assert monitor.judge(sample(1), now, True).action == "damp"
