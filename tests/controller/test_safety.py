"""The verdicts on estimates, plans and falls, one by one."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_array_equal
from pytest import approx

from controller.plan_function import PlanFunction
from controller.track_kernel import tilt
from robots.rotations import exp3, quaternion_from_rotation, tilt_of
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from tests.a1 import A1
from tests.controller.tracker_messages import estimate, plan, reading, standing

Q, V = standing()
PUSH = "{kind: base_velocity, at: 0.5, value: [0.0, 1.5, 0.0]}"


@pytest.fixture
def gate(tracker):
    return tracker.gate


def counted(tracker, estimate, reading, now):
    """The reasons that a tick counts."""
    tracker.gate.counts.clear()
    tracker.command(estimate, None, now, reading)
    return set(tracker.gate.counts)


def said(reason):
    return {reason} - {"ok"}


@pytest.mark.parametrize(
    "change, now, reason",
    [
        ({}, 0.01, "ok"),
        ({}, 0.02 + 1e-9, "estimate_old"),
        ({"time": float("nan")}, 0.0, "estimate_old"),
        ({"status": "degraded"}, 0.01, "ok"),
        ({"status": "degraded"}, 0.02 + 1e-9, "estimate_old"),
        ({"status": "diverged"}, 0.0, "estimate_diverged"),
        ({"status": "starting"}, 0.0, "estimate_starting"),
        ({"v": np.full(18, np.inf)}, 0.0, "estimate_not_finite"),
        ({"q": np.zeros(19)}, 0.0, "estimate_not_finite"),
    ],
)
def test_estimates(tracker, change, now, reason):
    told = replace(estimate(0, Q, V), **change)
    assert counted(tracker, told, None, now) == said(reason)


def off(values, slot, by):
    """A copy with one number that is off by so much."""
    out = values.copy()
    out[slot] += by
    return out


ENCODERS, GYROSCOPE = "estimate_contradicts_encoders", "estimate_contradicts_gyroscope"
READ = [  # a number of the estimate that is off; when it was made [s]; verdict, where it is ok
    ("q", 9, 0.29, 0.0, "ok"), ("q", 9, -0.31, 0.0, ENCODERS),
    ("q", 9, 0.4, -0.006, "ok"),  # joints travel 21 rad/s at most
    ("q", 9, 0.4, 0.006, "ok"), ("q", 9, 0.4, -0.004, ENCODERS),
    ("v", 4, 3.9, 0.0, "ok"), ("v", 4, -4.1, 0.0, GYROSCOPE),
    ("v", 4, 6.0, -0.005, "ok"), ("v", 4, 6.0, -0.003, GYROSCOPE),
    ("v", 1, 7.9, 0.0, "ok"), ("v", 1, -8.1, 0.0, "estimate_too_fast"),
]  # fmt: skip


@pytest.mark.parametrize("field, slot, by, time, reason", READ)
def test_estimates_against_the_newest_reading(tracker, field, slot, by, time, reason):
    wrong = off({"q": Q, "v": V}[field], slot, by)
    told = replace(estimate(0, Q, V), time=time, **{field: wrong})
    degraded = replace(told, status="degraded")  # it leaves a sensor out
    fast = reason if reason == "estimate_too_fast" else "ok"
    assert counted(tracker, degraded, reading(0, Q, V), 0.0) == said(fast)
    assert counted(tracker, told, reading(0, Q, V), 0.0) == said(reason)


def test_an_estimate_is_compared_with_the_reading_that_it_was_made_from(tracker):
    for tick in range(20):
        tracker.remember(reading(tick, Q, off(V, 5, float(tick))))
    newest = reading(19, Q, off(V, 5, 19.0))
    for turn, reason in ((8.0, "ok"), (12.1, GYROSCOPE)):
        told = estimate(8, Q, off(V, 5, turn))
        assert counted(tracker, told, newest, 0.019) == said(reason)


@pytest.mark.parametrize(
    "field, slot, most, reason",
    [
        ("states_q", 2, 2.0, "plan_states_out_of_bounds"),
        ("states_q", 8, A1.legs.upper[1] + 1.0, "plan_states_out_of_bounds"),
        ("states_q", 9, A1.legs.lower[2] - 1.0, "plan_states_out_of_bounds"),
        ("states_v", 1, 10.0, "plan_states_out_of_bounds"),
        ("states_v", 3, -40.0, "plan_states_out_of_bounds"),
        ("states_v", 17, 150.0, "plan_states_out_of_bounds"),
        ("inputs", 5, -100.5, "plan_inputs_out_of_bounds"),
        ("gains", 30, 1e5, "plan_gains_out_of_bounds"),
    ],
)
@pytest.mark.parametrize("knot", [0, -1])
def test_plans_out_of_bounds(gate, field, slot, most, reason, knot):
    for factor, expected in ((0.999, "ok"), (1.001, reason)):
        p = plan()
        getattr(p, field)[knot][..., slot] = factor * most
        assert gate.judge_plan(p, PlanFunction(p), 0.0) == expected


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
    assert tilt(quaternion) == approx(angle, abs=1e-7) == tilt_of(quaternion)


def over(angle):
    """q (19) of the standing robot, pitched by an angle [rad]."""
    q = Q.copy()
    q[3:7] = quaternion_from_rotation(exp3(np.array([0.0, angle, 0.0])))
    return q


def falls(tracker, angle, start, status=None):
    """Whether 20 ticks with an IMU at a tilt [rad] are a fall, with estimates that stand or none.

    A plan is followed before them, where there is one.
    """
    found = set()
    for k in range(start, start + 20):
        told = None if status is None else estimate(k, Q, V, status)
        found |= counted(tracker, told, reading(k, over(angle), V), 1e-3 * k)
    return "tilted" in found


def test_an_imu_that_jumps_is_no_fall_while_the_estimate_leaves_it_out(tracker):
    assert not falls(tracker, 1.2, 0, "degraded")
    assert falls(tracker, 1.2, 20, "ok")


def tilting(angle, tick=0):
    return replace(plan(tick=tick), tilt=angle)


def follow(tracker, angle, tick=0):
    """Follow a plan that tilts the trunk."""
    tracker.reset()
    now = 1e-3 * tick
    command = tracker.command(estimate(tick, Q, V), tilting(angle, tick), now, reading(tick, Q, V))
    assert command.status == "ok"


def test_a_plan_that_tilts_the_trunk_widens_the_limit_until_the_next_plan(tracker):
    flip = np.radians(60.0)
    follow(tracker, flip)
    assert not falls(tracker, np.radians(100.0), 1)
    follow(tracker, flip)
    assert falls(tracker, np.radians(121.0), 1)
    follow(tracker, flip)
    tracker.gate.follow_plan(tilting(0.0))
    assert falls(tracker, np.radians(100.0), 1)
    tracker.reset()
    tracker.gate.follow_plan(tilting(flip))
    assert falls(tracker, np.radians(100.0), 1)  # nothing is followed: no flip is under way


@pytest.mark.parametrize("angle", [-0.1, 3.2, np.nan, np.inf])
def test_a_tilt_that_cannot_be_is_refused_with_its_plan(gate, angle):
    bad = tilting(angle)
    assert gate.judge_plan(bad, PlanFunction(bad), 0.0) == "plan_not_finite"


@pytest.mark.parametrize("value", [A1.stand[2] + 0.1, np.nan, 10.0])
def test_joints_are_the_readings_unless_they_cannot_be(tracker, value):
    other = Q.copy()
    other[9] = value
    assert (tracker.command(None, None, 0.0, reading(0, other, V)).status == "damp") == (
        not value < 0.0
    )
    tracker.reset()
    command = tracker.command(estimate(0, Q, V), None, 0.0, reading(0, other, V))
    assert_array_equal(command.q, (other if value < 0.0 else Q)[7:])
