"""Which command when: waiting, ok, hold, stand_down, damp, and the ways between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.testing import assert_allclose, assert_array_equal

from controller.options import TrackerOptions
from controller.tracker import Tracker
from robots.rotations import exp3, quaternion_from_rotation
from tests.a1 import A1
from tests.controller.tracker_messages import (
    TICK,
    TRACKER,
    estimate,
    near_standing,
    plan,
    reading,
    torque_of,
)

Q, V = near_standing(np.random.default_rng(0), 0.02)


def live(tracker, ticks, plans=None, state=(Q, V)):
    """Commands of a robot that stays in one state, with plans arriving at given ticks."""
    plans = plans or {}
    return [
        tracker.command(estimate(k, *state), plans.get(k), k * TICK, reading(k, *state))
        for k in ticks
    ]


def test_with_nothing_measured_it_damps(tracker):
    command = tracker.command(None, None, 0.0)
    assert command.status == "damp"
    assert_array_equal(command.kp, 0.0)
    assert_array_equal(command.tau, 0.0)


def test_waiting_holds_the_first_pose_and_torque(tracker):
    first = replace(reading(0, Q, V), joint_torque=np.linspace(-5.0, 5.0, 12))
    command = tracker.command(None, None, 0.0, first)
    assert command.status == "waiting" and command.plan_id == -1
    assert_allclose(torque_of(command, Q, V) - command.kd * -V[6:], first.joint_torque)
    moved = Q.copy()
    moved[7:] += 0.1
    command = live(tracker, range(1, 50), state=(moved, V))[-1]
    assert_allclose(command.q, Q[7:])


def test_a_stale_plan_is_held_then_the_robot_stands_down(tracker):
    commands = live(tracker, range(3500), {0: plan(knots=50)})
    status = [c.status for c in commands]
    o = tracker.options.stand_down
    stale, given_up = round(1e3 * o.plan_max_age_s), round(1e3 * (o.plan_max_age_s + o.hold_s))
    assert set(status[: stale + 1]) == {"ok"}
    assert set(status[stale + 1 : given_up]) == {"hold"}
    assert set(status[given_up + 1 :]) == {"stand_down"}
    q = np.array([c.q for c in commands[given_up + 1 :]])
    assert_allclose(q[0], Q[7:], atol=2e-3)  # from the measured joints
    assert np.abs(np.diff(q, axis=0)).max() < 0.0025
    torques = np.array([torque_of(c, Q, V) for c in commands[given_up - 3 : given_up + 50]])
    assert np.abs(np.diff(torques, axis=0)).max() < 0.5  # no jump in torque either


def test_fresh_plans_take_over_from_standing_smoothly(tracker):
    start, push = 1000, np.full(12, 10.0)
    plans = {0: plan(1)} | {start + k: plan(2 + k, start + k) for k in range(0, 400, 10)}
    for p in plans.values():
        p.inputs[:] = push
    commands = live(tracker, range(start + 400), plans)
    assert commands[start - 1].status == "stand_down"
    assert {c.status for c in commands[start:]} == {"ok"}
    torques = np.array([torque_of(c, Q, V) for c in commands[start - 1 :]])
    assert np.abs(np.diff(torques, axis=0)).max() < 0.2  # 10 N m in 0.2 s is 0.05 a tick
    assert_allclose(torques[-1], push, atol=1e-9)


@pytest.mark.parametrize(
    "bad",
    [
        plan(2, 10, status="failed"),
        plan(2, 10, knots=0),
        plan(2, 1000),
        replace(plan(2, 10), gains=np.full((20, 12, 36), np.nan)),
        replace(plan(2, 10), period=0.0),
        replace(plan(2, 10), time=float("nan")),
    ],
)
def test_an_unsafe_plan_is_refused_and_the_last_one_goes_on(tracker, bad):
    commands = live(tracker, range(20), {0: plan(1), 10: bad})
    assert {(c.status, c.plan_id) for c in commands} == {("ok", 1)}
    assert sum(tracker.gate.counts.values()) == 1


def test_every_number_of_the_estimate_is_checked(tracker):
    for place in range(37):
        tracker.reset()
        live(tracker, range(10), {0: plan(1)})
        q, v = np.split(not_a_number(place), [19])
        assert tracker.command(estimate(10, q, v), None, 0.010, reading(10, Q, V)).status == "hold"


def tilted(angle):
    q = Q.copy()
    q[3:7] = quaternion_from_rotation(exp3(np.array([angle, 0.0, 0.0])))
    return q


def test_a_tilt_damps_until_reset(tracker):
    plans = {k: plan(1 + k, k) for k in range(0, 300, 10)}
    live(tracker, range(50), plans)
    fallen = live(tracker, range(50, 80), plans, (tilted(1.1), V))
    assert fallen[0].status == "ok" and fallen[15].status == "damp"
    assert_array_equal(fallen[15].kp, 0.0)
    up_again = live(tracker, range(80, 200), plans)
    assert {c.status for c in up_again} == {"damp"}
    tracker.reset()
    assert live(tracker, range(200, 220), plans)[-1].status == "ok"


def test_a_trunk_on_the_ground_is_a_fall_only_while_tracking(tracker):
    low = Q.copy()
    low[2] = 0.06
    assert live(tracker, range(50), state=(low, V))[-1].status == "waiting"
    assert live(tracker, range(50, 100), {50: plan(1, 50)}, (low, V))[-1].status == "damp"
    assert tracker.gate.counts["too_low"] > 0


SPECIAL = [0.0, 1.0, -1.0, 1e-300, 1e3, -1e9, 1e200, -1.7e308, np.inf, -np.inf, np.nan]

IDS = {  # plans by the tick at which they arrive; who is followed; delay of a command [ticks]
    "out of order": ({0: plan(5, 0), 10: plan(7, 10), 11: plan(6, 5), 12: plan(7, 10),
                      13: plan(8, 3)}, [5] * 10 + [7] * 10, 0),
    "from its own start on": ({0: plan(1, 0), 12: plan(2, 20), 14: plan(3, 20), 18: plan(4, 30)},
                              [1] * 20 + [3] * 10 + [4] * 10, 0),
    "the first": ({5: plan(1, 20)}, [-1] * 20 + [1] * 10, 0),
    "when the command takes effect": ({0: plan(1, 0), 12: plan(2, 20)}, [1] * 15 + [2] * 15, 5),
    "another planner": ({0: plan(500, 0), 50: plan(1, 50), 150: plan(2, 150)},
                        [500] * 150 + [2] * 10, 0),
}  # fmt: skip

WELL = 300  # ticks after which the tracker has long followed plans
ESTIMATES = {  # estimates from then on, with fresh plans; statuses of some ticks
    "NaN": (lambda k: estimate(k, *np.split(not_a_number(4), [19])),
            {0: "hold", 99: "hold", 102: "stand_down", 289: "stand_down"}),
    "far": (lambda k: estimate(k, Q + 1.7e308 * np.eye(19)[0], V), {0: "hold", 289: "stand_down"}),
    "low": (lambda k: estimate(k, Q - 0.24 * np.eye(19)[2], V), {20: "damp", 289: "damp"}),
    "once": (lambda k: estimate(k, Q, V, "diverged" if k == WELL else "ok"), {0: "hold", 1: "ok"}),
    "now and then": (lambda k: estimate(k, Q, V, "ok" if k % 40 else "diverged"),
                     {19: "ok", 20: "hold", 21: "ok", 289: "ok"}),
    "no more": (lambda k: estimate(WELL - 1, Q, V), {18: "ok", 22: "hold", 289: "stand_down"}),
}  # fmt: skip


def spoiled(rng, array, value):
    """`array` with one number, or all of them, replaced."""
    out = array.copy()
    if rng.random() < 0.5:
        out.flat[rng.integers(out.size)] = value
    else:
        out[:] = value
    return out


@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from(SPECIAL), min_size=6, max_size=6))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_commands_are_finite_and_limited_whatever_comes_in(seed, values):
    rng = np.random.default_rng(seed)
    TRACKER.reset()
    now = 0.0
    spoils = [
        *(("estimate", name) for name in ("q", "v", "time")),
        *(("plan", name) for name in ["states_q", "states_v", "inputs", "gains", "contacts"]),
        *(("reading", f"joint_{name}") for name in ("position", "velocity", "torque")),
        ("reading", "quaternion_imu_in_world"), ("nothing", ""), ("now", ""),
    ]  # fmt: skip
    for k, value in enumerate(values):
        q, v = near_standing(rng)
        come = {
            "estimate": estimate(k, q, v), "reading": reading(k, q, v),
            "plan": plan(k + 1, k, rng, knots=3, gain=10.0 ** rng.integers(0, 6)),
        }  # fmt: skip
        kind, name = spoils[rng.integers(len(spoils))]
        if kind in come:
            old = getattr(come[kind], name)
            new = spoiled(rng, old, value) if isinstance(old, np.ndarray) else float(value)
            come[kind] = replace(come[kind], **{name: new})
        now = 0.05 + (float(value) if kind == "now" else now)
        if kind == "nothing":
            command = TRACKER.command(None, None, now, None)
        else:
            command = TRACKER.command(come["estimate"], come["plan"], now, come["reading"])
        numbers = (command.q, command.dq, command.kp, command.kd, command.tau)
        assert np.isfinite(numbers).all() and np.isfinite(command.time)
        assert np.abs(command.tau).max() <= 3.0 * A1.torque_limit[0] + 1e-6
        assert command.kp.min() >= 0.0 and command.kp.max() <= TRACKER.options.kp_max
        assert command.kd.min() >= 0.0 and command.kd.max() <= TRACKER.options.kd_max


@pytest.mark.parametrize("name", IDS)
def test_which_plan_is_followed(name):
    plans, expected, delay = IDS[name]
    tracker = Tracker(TrackerOptions(command_delay=1e-3 * delay), A1)
    commands = live(tracker, range(len(expected)), plans)
    found = [c.plan_id for c in commands]
    if name == "another planner":  # it is believed when its predecessor is silent
        assert found[60] == 500 and found[151] == 2
    else:
        assert found == expected


def not_a_number(place):
    state = np.concatenate([Q, V])
    state[place] = np.nan
    return state


@pytest.mark.parametrize("name", ESTIMATES)
def test_bad_estimates_repeat_the_safe_command_then_stand_down(tracker, name):
    make, expected = ESTIMATES[name]
    live(tracker, range(WELL), {k: plan(k + 1, k) for k in range(0, WELL, 10)})
    commands = []
    for k in range(WELL, WELL + 290):
        fresh = plan(k + 1, k)
        fresh.gains[:] = 1e4 * (name == "far")  # whose torque overflows
        commands.append(tracker.command(make(k), fresh, k * TICK, reading(k, Q, V)))
    assert {k: commands[k].status for k in expected} == expected
    assert all(np.isfinite((c.q, c.dq, c.kp, c.kd, c.tau)).all() for c in commands)


@pytest.mark.parametrize("knots, before", [(15, "hold"), (5, "ok")])
def test_a_plan_ends_with_its_horizon(tracker, knots, before):
    commands = live(tracker, range(200), {0: plan(knots=knots)})
    statuses = [commands[10 * knots + k].status for k in (-1, 1)]
    assert statuses == [before, "stand_down"]
