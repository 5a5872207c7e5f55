"""The gate's verdicts, one by one."""

import msgspec
import numpy as np
import pytest

from controller.options import SafetyGateOptions
from controller.plan_function import PlanFunction
from controller.safety import Reason, SafetyGate, tilt
from robots.rotations import exp3, quaternion_from_rotation
from runtime.messages import Plan
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from tests.a1 import A1
from tests.controller.tracker_messages import estimate, plan, reading, standing

Q, V = standing()
PUSH = "{kind: base_velocity, at: 0.5, value: [0.0, 1.5, 0.0]}"


@pytest.fixture
def gate() -> SafetyGate:
    return SafetyGate(SafetyGateOptions(), A1)


@pytest.mark.parametrize(
    "change, now, reason",
    [
        ({}, 0.01, Reason.OK),
        ({}, 0.02 + 1e-9, Reason.ESTIMATE_OLD),
        ({"time": float("nan")}, 0.0, Reason.ESTIMATE_OLD),
        ({"status": "degraded"}, 0.01, Reason.OK),
        ({"status": "degraded"}, 0.02 + 1e-9, Reason.ESTIMATE_OLD),
        ({"status": "diverged"}, 0.0, Reason.ESTIMATE_DIVERGED),
        ({"status": "starting"}, 0.0, Reason.ESTIMATE_STARTING),
        ({"v": np.full(18, np.inf)}, 0.0, Reason.ESTIMATE_NOT_FINITE),
        ({"q": np.zeros(19)}, 0.0, Reason.ESTIMATE_NOT_FINITE),
    ],
)
def test_estimates(gate, change, now, reason):
    verdict = gate.judge_estimate(msgspec.structs.replace(estimate(0, Q, V), **change), None, now)
    assert verdict == (reason is Reason.OK, reason)
    assert gate.counts == ({} if verdict.ok else {reason.value: 1})


def off(values: np.ndarray, slot: int, by: float) -> np.ndarray:
    """A copy with one number that is off by so much."""
    out = values.copy()
    out[slot] += by
    return out


ENCODERS, GYROSCOPE = Reason.ESTIMATE_CONTRADICTS_ENCODERS, Reason.ESTIMATE_CONTRADICTS_GYROSCOPE
READ = [  # a number of the estimate that is off; when it was made [s]; verdict, where it is ok
    ("q", 9, 0.29, 0.0, Reason.OK), ("q", 9, -0.31, 0.0, ENCODERS),
    ("q", 9, 0.4, -0.006, Reason.OK),  # joints travel 21 rad/s at most
    ("q", 9, 0.4, 0.006, Reason.OK), ("q", 9, 0.4, -0.004, ENCODERS),
    ("v", 4, 3.9, 0.0, Reason.OK), ("v", 4, -4.1, 0.0, GYROSCOPE),
    ("v", 4, 6.0, -0.005, Reason.OK), ("v", 4, 6.0, -0.003, GYROSCOPE),
    ("v", 1, 7.9, 0.0, Reason.OK), ("v", 1, -8.1, 0.0, Reason.ESTIMATE_TOO_FAST),
]  # fmt: skip


@pytest.mark.parametrize(("field", "slot", "by", "time", "reason"), READ)
def test_estimates_against_the_newest_reading(gate, field, slot, by, time, reason):
    wrong = off({"q": Q, "v": V}[field], slot, by)
    told = msgspec.structs.replace(estimate(0, Q, V), time=time, **{field: wrong})
    degraded = msgspec.structs.replace(told, status="degraded")  # it leaves a sensor out
    fast = reason is Reason.ESTIMATE_TOO_FAST
    assert gate.judge_estimate(degraded, reading(0, Q, V), 0.0).ok is not fast
    assert gate.judge_estimate(told, reading(0, Q, V), 0.0).reason is reason


def test_an_estimate_is_compared_with_the_reading_that_it_was_made_from(gate):
    for tick in range(20):
        gate.remember(reading(tick, Q, off(V, 5, float(tick))))
    newest = reading(19, Q, off(V, 5, 19.0))
    assert gate.judge_estimate(estimate(8, Q, off(V, 5, 8.0)), newest, 0.019).ok
    verdict = gate.judge_estimate(estimate(8, Q, off(V, 5, 12.1)), newest, 0.019)
    assert verdict.reason is Reason.ESTIMATE_CONTRADICTS_GYROSCOPE


@pytest.mark.parametrize(
    "field, slot, most, reason",
    [
        ("states_q", 2, 2.0, Reason.PLAN_STATES_OUT_OF_BOUNDS),
        ("states_q", 8, A1.legs.upper[1] + 1.0, Reason.PLAN_STATES_OUT_OF_BOUNDS),
        ("states_q", 9, A1.legs.lower[2] - 1.0, Reason.PLAN_STATES_OUT_OF_BOUNDS),
        ("states_v", 1, 10.0, Reason.PLAN_STATES_OUT_OF_BOUNDS),
        ("states_v", 3, -40.0, Reason.PLAN_STATES_OUT_OF_BOUNDS),
        ("states_v", 17, 150.0, Reason.PLAN_STATES_OUT_OF_BOUNDS),
        ("inputs", 5, -100.5, Reason.PLAN_INPUTS_OUT_OF_BOUNDS),
        ("gains", 30, 1e5, Reason.PLAN_GAINS_OUT_OF_BOUNDS),
    ],
)
@pytest.mark.parametrize("knot", [0, -1])
def test_plans_out_of_bounds(gate, field, slot, most, reason, knot):
    for factor, expected in ((0.999, Reason.OK), (1.001, reason)):
        p = plan()
        getattr(p, field)[knot][..., slot] = factor * most
        assert gate.judge_plan(p, PlanFunction(p), 0.0).reason is expected


def test_nothing_of_a_walk_that_is_pushed_is_refused():
    config = load_launch("push", ["perturbations=[" + PUSH + "]"], "paused", 0.9)
    run = LockStep(config)
    run.run()
    counts = run.tracker.gate.counts
    assert run.tracker.plans.accepted > 80
    assert counts.keys() <= {"torque_limited", "position_limited"}


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.0, 3.1])
def test_tilt_is_the_angle_to_the_vertical_whatever_the_heading(angle):
    heading = exp3(np.array([0.0, 0.0, 1.3]))
    quaternion = quaternion_from_rotation(heading @ exp3(angle * np.array([0.6, 0.8, 0.0])))
    assert tilt(quaternion) == pytest.approx(angle, abs=1e-7)


def test_an_imu_that_jumps_is_no_fall_while_the_estimate_leaves_it_out(gate):
    over = Q.copy()
    over[3:7] = quaternion_from_rotation(exp3(np.array([0.0, 1.2, 0.0])))
    for k in range(20):
        imu, now = reading(k, over, V), k * 0.001
        assert gate.judge_fall(estimate(k, Q, V, "degraded"), imu, True, now).ok
    for k in range(20, 40):
        verdict = gate.judge_fall(estimate(k, Q, V), reading(k, over, V), True, k * 0.001)
    assert verdict == (False, Reason.TILTED)


def over(angle: float) -> np.ndarray:
    """q (19) of the standing robot, pitched by an angle [rad]."""
    q = Q.copy()
    q[3:7] = quaternion_from_rotation(exp3(np.array([0.0, angle, 0.0])))
    return q


def falls(gate: SafetyGate, angle: float, start: int, tracking: bool = True) -> bool:
    """Whether 20 ticks at a tilt [rad] are a fall."""
    q, ticks = over(angle), range(start, start + 20)
    return not all([gate.judge_fall(None, reading(k, q, V), tracking, 1e-3 * k).ok for k in ticks])


def tilting(angle: float, tick: int = 0) -> Plan:
    return msgspec.structs.replace(plan(tick=tick), tilt=angle)


def test_a_plan_that_tilts_the_trunk_widens_the_limit_until_the_next_plan(gate):
    flip = np.radians(60.0)
    gate.follow_plan(tilting(flip))
    assert not falls(gate, np.radians(100.0), 0)
    assert falls(gate, np.radians(121.0), 20)
    gate.judge_fall(None, reading(40, Q, V), True, 0.04)
    assert falls(gate, np.radians(100.0), 41, tracking=False)  # who gives the flip up has fallen
    gate.judge_fall(None, reading(61, Q, V), True, 0.061)
    gate.follow_plan(tilting(0.0, 62))
    assert falls(gate, np.radians(100.0), 62)


@pytest.mark.parametrize("angle", [-0.1, 3.2, np.nan, np.inf])
def test_a_tilt_that_cannot_be_is_refused_with_its_plan(gate, angle):
    bad = tilting(angle)
    assert gate.judge_plan(bad, PlanFunction(bad), 0.0).reason is Reason.PLAN_NOT_FINITE


@pytest.mark.parametrize("value", [A1.stand[2] + 0.1, np.nan, 10.0])
def test_joints_are_the_readings_unless_they_cannot_be(gate, value):
    other = Q.copy()
    other[9] = value
    measured = gate.measured(estimate(0, Q, V), reading(0, other, V))
    well = value < 0.0
    assert measured is not None
    np.testing.assert_array_equal(measured[0], (other if well else Q)[7:])
    assert (gate.measured(None, reading(0, other, V)) is None) == (not well)
