"""Which command when: waiting, ok, hold, stand_down, damp, and the ways between them."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.options import TrackerOptions
from controller.plan_function import move_joints, unpack
from controller.tracker import Tracker
from robots.motor_law import motor_torque
from robots.rotations import Array, exp3, quaternion_from_rotation
from runtime.messages import MotorCommand, Plan, StateEstimate
from tests.a1 import A1
from tests.controller.tracker_messages import (
    TICK,
    estimate,
    near_standing,
    plan,
    reading,
)

Q, V = near_standing(np.random.default_rng(0), 0.02)
TRACKER = Tracker(TrackerOptions(), A1)


@pytest.fixture
def tracker() -> Tracker:
    TRACKER.reset()
    return TRACKER


def torque_of(command: MotorCommand, q=Q, v=V) -> np.ndarray:
    return motor_torque(
        command.q, command.dq, command.kp, command.kd, command.tau, q[7:].copy(), v[6:].copy()
    )


def live(
    tracker: Tracker, ticks: range, plans: dict[int, Plan] | None = None, state=(Q, V)
) -> list[MotorCommand]:
    """Commands of a robot that stays in one state, with plans arriving at given ticks."""
    plans = plans or {}
    return [
        tracker.command(estimate(k, *state), plans.get(k), k * TICK, reading(k, *state))
        for k in ticks
    ]


def test_with_nothing_measured_it_damps(tracker: Tracker) -> None:
    command = tracker.command(None, None, 0.0)
    assert command.status == "damp"
    np.testing.assert_array_equal(command.kp, 0.0)
    np.testing.assert_array_equal(command.tau, 0.0)


def test_waiting_holds_the_first_pose_and_torque(tracker: Tracker) -> None:
    first = msgspec.structs.replace(reading(0, Q, V), joint_torque=np.linspace(-5.0, 5.0, 12))
    command = tracker.command(None, None, 0.0, first)
    assert command.status == "waiting" and command.plan_id == -1
    np.testing.assert_allclose(torque_of(command) - command.kd * -V[6:], first.joint_torque)
    moved = Q.copy()
    moved[7:] += 0.1
    command = live(tracker, range(1, 50), state=(moved, V))[-1]
    np.testing.assert_allclose(command.q, Q[7:])


def test_a_stale_plan_is_held_then_the_robot_stands_down(tracker: Tracker) -> None:
    commands = live(tracker, range(3500), {0: plan(knots=50)})
    status = [c.status for c in commands]
    o = tracker.options.stand_down
    stale, given_up = round(1e3 * o.plan_max_age_s), round(1e3 * (o.plan_max_age_s + o.hold_s))
    assert set(status[: stale + 1]) == {"ok"}
    assert set(status[stale + 1 : given_up]) == {"hold"}
    assert set(status[given_up + 1 :]) == {"stand_down"}
    q = np.array([c.q for c in commands[given_up + 1 :]])
    np.testing.assert_allclose(q[0], Q[7:], atol=2e-3)  # from the measured joints
    assert np.abs(np.diff(q, axis=0)).max() < 0.0025
    torques = np.array([torque_of(c) for c in commands[given_up - 3 : given_up + 50]])
    assert np.abs(np.diff(torques, axis=0)).max() < 0.5  # no jump in torque either


def test_commands_pass_the_tilt_of_the_plan_on_while_they_follow_it(tracker: Tracker) -> None:
    flip = msgspec.structs.replace(plan(knots=50), tilt=1.0)
    commands = live(tracker, range(500), {0: flip})
    assert {c.status for c in commands} == {"ok", "hold", "stand_down"}
    assert all(c.tilt == (1.0 if c.status in ("ok", "hold") else 0.0) for c in commands)
    assert commands[400].tilt == 0.0  # a stale plan does not leave it


def test_hold_ends_with_the_horizon(tracker: Tracker) -> None:
    commands = live(tracker, range(200), {0: plan(knots=15)})
    assert commands[149].status == "hold" and commands[151].status == "stand_down"
    assert tracker.gate.state == "stand_down"


def test_fresh_plans_take_over_from_standing_smoothly(tracker: Tracker) -> None:
    start, push = 1000, np.full(12, 10.0)
    plans = {0: plan(1)} | {start + k: plan(2 + k, start + k) for k in range(0, 400, 10)}
    for p in plans.values():
        p.inputs[:] = push
    commands = live(tracker, range(start + 400), plans)
    assert commands[start - 1].status == "stand_down"
    assert {c.status for c in commands[start:]} == {"ok"}
    torques = np.array([torque_of(c) for c in commands[start - 1 :]])
    assert np.abs(np.diff(torques, axis=0)).max() < 0.2  # 10 N m in 0.2 s is 0.05 a tick
    np.testing.assert_allclose(torques[-1], push, atol=1e-9)


def test_once_lying_down_has_begun_no_plan_takes_over(tracker: Tracker) -> None:
    commands = live(tracker, range(3000), {0: plan(1), 2500: plan(2, 2500)})
    assert {c.status for c in commands[2400:]} == {"stand_down"}


def test_old_plans_are_ignored_and_counted(tracker: Tracker) -> None:
    plans = {0: plan(5, 0), 10: plan(7, 10), 11: plan(6, 5), 12: plan(7, 10), 13: plan(8, 3)}
    commands = live(tracker, range(20), plans)
    assert [c.plan_id for c in commands[9:]] == [5] + [7] * 10
    assert tracker.gate.counts["plan_out_of_order"] == 2
    assert tracker.plans.accepted == 2


def test_a_plan_takes_effect_at_its_own_start(tracker: Tracker) -> None:
    """Until then the plan before it is followed, whichever arrived since."""
    plans = {0: plan(1, 0), 12: plan(2, 20), 14: plan(3, 20), 18: plan(4, 30)}
    commands = live(tracker, range(40), plans)
    assert [c.plan_id for c in commands] == [1] * 20 + [3] * 10 + [4] * 10
    assert tracker.plans.accepted == 4


def test_the_first_plan_is_waited_for_until_it_starts(tracker: Tracker) -> None:
    commands = live(tracker, range(30), {5: plan(1, 20)})
    assert [c.status for c in commands] == ["waiting"] * 20 + ["ok"] * 10


def test_with_a_known_delay_a_plan_starts_when_the_command_takes_effect() -> None:
    tracker = Tracker(TrackerOptions(command_delay=0.005), A1)
    commands = live(tracker, range(30), {0: plan(1, 0), 12: plan(2, 20)})
    assert [c.plan_id for c in commands] == [1] * 15 + [2] * 15
    assert tracker.plan_age == pytest.approx(0.014)


def test_the_arrival_of_a_plan_is_negative_before_its_start(tracker: Tracker) -> None:
    live(tracker, range(13), {0: plan(1, 0), 12: plan(2, 20)})
    assert tracker.plans.arrival == pytest.approx(-0.008)


def test_a_planner_that_was_started_again_is_believed_when_its_predecessor_is_silent(
    tracker: Tracker,
) -> None:
    plans = {0: plan(500, 0), 50: plan(1, 50), 150: plan(2, 150)}
    commands = live(tracker, range(160), plans)
    assert commands[60].plan_id == 500 and commands[151].plan_id == 2


@pytest.mark.parametrize(
    "bad",
    [
        plan(2, 10, status="failed"),
        plan(2, 10, knots=0),
        plan(2, 1000),
        msgspec.structs.replace(plan(2, 10), gains=np.full((20, 12, 36), np.nan)),
        msgspec.structs.replace(plan(2, 10), inputs=np.full((20, 12), np.inf)),
        msgspec.structs.replace(plan(2, 10), states_q=np.zeros((21, 19))),
        msgspec.structs.replace(plan(2, 10), period=0.0),
        msgspec.structs.replace(plan(2, 10), time=float("nan")),
    ],
    ids=["failed", "empty", "future", "gain", "input", "quaternion", "period", "time"],
)
def test_an_unsafe_plan_is_refused_and_the_last_one_goes_on(tracker: Tracker, bad: Plan) -> None:
    commands = live(tracker, range(20), {0: plan(1), 10: bad})
    assert {(c.status, c.plan_id) for c in commands} == {("ok", 1)}
    assert sum(tracker.gate.counts.values()) == 1


def test_nan_in_the_estimate_repeats_the_safe_command_then_stands_down(tracker: Tracker) -> None:
    live(tracker, range(100), {k: plan(1 + k, k) for k in range(0, 100, 10)})
    q = Q.copy()
    q[4] = np.nan
    commands = [
        tracker.command(
            estimate(k, q, V), plan(1 + k, k) if k % 10 == 0 else None, k * TICK, reading(k, Q, V)
        )
        for k in range(100, 300)
    ]
    status = [c.status for c in commands]
    assert set(status[:100]) == {"hold"} and set(status[102:]) == {"stand_down"}
    assert tracker.gate.counts["estimate_not_finite"] == 200
    assert all(np.isfinite((c.q, c.dq, c.kp, c.kd, c.tau)).all() for c in commands)
    np.testing.assert_allclose(commands[0].q, A1.stand, atol=1e-9)


@pytest.mark.parametrize("place", range(37))
def test_every_number_of_the_estimate_is_checked(tracker: Tracker, place: int) -> None:
    live(tracker, range(10), {0: plan(1)})
    state = np.concatenate([Q, V])
    state[place] = np.nan
    bad = estimate(10, state[:19], state[19:])
    assert tracker.command(bad, None, 0.010, reading(10, Q, V)).status == "hold"
    assert tracker.gate.counts["estimate_not_finite"] == 1


def test_a_single_bad_estimate_costs_one_tick(tracker: Tracker) -> None:
    live(tracker, range(10), {0: plan(1)})
    bad = tracker.command(estimate(10, Q, V, "diverged"), None, 0.010, reading(10, Q, V))
    good = tracker.command(estimate(11, Q, V), None, 0.011, reading(11, Q, V))
    assert (bad.status, good.status) == ("hold", "ok")
    assert tracker.gate.counts["estimate_diverged"] == 1


def test_now_and_then_a_bad_estimate_never_gives_up(tracker: Tracker) -> None:
    status = [
        tracker.command(
            estimate(k, Q, V, "ok" if k % 40 else "diverged"),
            plan(1 + k, k),
            k * TICK,
            reading(k, Q, V),
        ).status
        for k in range(1, 400)
    ]
    assert set(status) == {"ok", "hold"} and status.count("hold") == 9


def test_a_policy_that_overflows_is_not_followed(tracker: Tracker) -> None:
    live(tracker, range(10), {0: plan(1)})
    plans = {k: plan(k, k) for k in range(10, 300, 10)}
    for p in plans.values():
        p.gains[:] = 1e4
    far = Q.copy()
    far[0] = 1.7e308
    commands = live(tracker, range(10, 300), plans, (far, V))
    assert commands[0].status == "hold" and commands[-1].status == "stand_down"
    assert np.isfinite([(c.q, c.dq, c.kp, c.kd, c.tau) for c in commands]).all()
    assert tracker.gate.counts["command_not_finite"] > 100


def test_an_estimate_that_stopped_coming_is_not_fed_back(tracker: Tracker) -> None:
    live(tracker, range(10), {0: plan(1)})
    last = estimate(9, Q, V)
    status = [
        tracker.command(last, plan(1 + k, k), k * TICK, reading(k, Q, V)).status
        for k in range(10, 200)
    ]
    assert status[18] == "ok" and status[22] == "hold" and status[-1] == "stand_down"


def tilted(angle: float) -> np.ndarray:
    q = Q.copy()
    q[3:7] = quaternion_from_rotation(exp3(np.array([angle, 0.0, 0.0])))
    return q


def test_a_tilt_damps_until_reset(tracker: Tracker) -> None:
    plans = {k: plan(1 + k, k) for k in range(0, 300, 10)}
    live(tracker, range(50), plans)
    fallen = live(tracker, range(50, 80), plans, (tilted(1.1), V))
    assert fallen[0].status == "ok" and fallen[15].status == "damp"
    np.testing.assert_array_equal(fallen[15].kp, 0.0)
    up_again = live(tracker, range(80, 200), plans)
    assert {c.status for c in up_again} == {"damp"}
    tracker.reset()
    assert live(tracker, range(200, 220), plans)[-1].status == "ok"


def test_one_glitch_of_tilt_is_no_fall(tracker: Tracker) -> None:
    live(tracker, range(50), {0: plan(1)})
    live(tracker, range(50, 55), None, (tilted(2.0), V))
    assert live(tracker, range(55, 60))[-1].status == "ok"


def test_a_trunk_on_the_ground_is_a_fall_only_while_tracking(tracker: Tracker) -> None:
    low = Q.copy()
    low[2] = 0.06
    assert live(tracker, range(50), state=(low, V))[-1].status == "waiting"
    assert live(tracker, range(50, 100), {50: plan(1, 50)}, (low, V))[-1].status == "damp"
    assert tracker.gate.counts["too_low"] > 0


def test_the_last_command_damps(tracker: Tracker) -> None:
    live(tracker, range(10), {0: plan(1)})
    command = tracker.damp(0.01)
    assert command.status == "damp" and not command.kp.any() and (command.kd > 0.0).all()


def test_equal_inputs_give_equal_commands_bit_for_bit(tracker: Tracker) -> None:
    rng = np.random.default_rng(3)
    plans = {k: plan(1 + k, k, rng) for k in range(0, 100, 10)}
    first = live(tracker, range(400), plans)
    tracker.reset()
    assert live(tracker, range(400), plans) == first


SPECIAL = [0.0, 1.0, -1.0, 1e-300, 1e3, -1e9, 1e200, -1.7e308, np.inf, -np.inf, np.nan]


def spoiled(rng: np.random.Generator, array: np.ndarray, value: float) -> np.ndarray:
    """`array` with one number, or all of them, replaced."""
    out = array.copy()
    if rng.random() < 0.5:
        out.flat[rng.integers(out.size)] = value
    else:
        out[:] = value
    return out


def joints_when_due(tracker: Tracker) -> tuple[Array, Array]:
    """The measured joints moved along the plan to when the command takes effect."""
    current, previous = tracker.plans.current, tracker.plans._previous
    q, dq, time = tracker._joints or (*tracker._measured(), tracker._now)
    assert current is not None
    joints = move_joints(
        unpack(current.flat), unpack((previous or current).flat), q, dq, time, tracker.due
    )
    return joints if np.isfinite(joints).all() else tracker._measured()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from(SPECIAL), min_size=6, max_size=6))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_commands_are_finite_and_limited_whatever_comes_in(seed: int, values: list[float]) -> None:
    rng = np.random.default_rng(seed)
    TRACKER.reset()
    now, fields = 0.0, ("states_q", "states_v", "inputs", "gains", "contacts")
    for k, value in enumerate(values):
        q, v = near_standing(rng)
        e: StateEstimate | None = estimate(k, q, v)
        p: Plan | None = plan(k + 1, k, rng, knots=3, gain=10.0 ** rng.integers(0, 6))
        r = reading(k, q, v)
        what = rng.integers(7)
        if what == 0:
            e = msgspec.structs.replace(e, q=spoiled(rng, q, value))
        elif what == 1:
            e = msgspec.structs.replace(e, v=spoiled(rng, v, value), time=float(value))
        elif what == 2:
            field = fields[rng.integers(len(fields))]
            p = msgspec.structs.replace(p, **{field: spoiled(rng, getattr(p, field), value)})
        elif what == 3:
            r = msgspec.structs.replace(r, joint_position=spoiled(rng, q[7:], value))
        elif what == 4:
            r = msgspec.structs.replace(
                r,
                joint_velocity=spoiled(rng, v[6:], value),
                joint_torque=spoiled(rng, v[6:], value),
                quaternion_imu_in_world=spoiled(rng, q[3:7], value),
            )
        elif what == 5:
            e, p = None, None
        else:
            now = float(value)
        now = now + 0.05
        command = TRACKER.command(e, p, now, r if rng.random() < 0.7 else None)
        follows = command.status in ("ok", "hold")
        joints = joints_when_due(TRACKER) if follows else TRACKER._measured()
        numbers = (command.q, command.dq, command.kp, command.kd, command.tau)
        assert np.isfinite(numbers).all() and np.isfinite(command.time)
        torque = motor_torque(*numbers, *joints)
        assert np.abs(torque).max() <= A1.torque_limit[0] + 1e-6
        assert np.abs(command.tau).max() <= 3.0 * A1.torque_limit[0] + 1e-6
        assert command.kp.min() >= 0.0 and command.kp.max() <= TRACKER.options.kp_max
        assert command.kd.min() >= 0.0 and command.kd.max() <= TRACKER.options.kd_max


def test_options_refuse_unknown_keys() -> None:
    with pytest.raises(msgspec.ValidationError, match="kp_maximum"):
        msgspec.convert({"kp_maximum": 3.0}, TrackerOptions)
    nested = msgspec.convert({"stand_down": {"hold_s": 0.5}}, TrackerOptions)
    assert nested.stand_down.hold_s == 0.5
