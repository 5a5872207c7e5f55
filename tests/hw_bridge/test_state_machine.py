"""The states: entered only in order, a stop from each of them, and what counts as a good end."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from hw_bridge.motion import STILL_SPEED, STOP_LAG, PostureMotions, rest_joints
from hw_bridge.state_machine import (
    LEVEL_S,
    LEVEL_TIMEOUT_S,
    MotionOptions,
    Request,
    RobotState,
    StateMachine,
)
from hw_bridge.wire.low_command import SENT, Setpoints, damping, no_torque
from tests.a1 import A1, stand_command

S = RobotState
O = MotionOptions()  # noqa: E741
DT = 0.01
FOLLOWS = {
    S.OFF: {S.DAMPING},
    S.DAMPING: {S.STAND_UP, S.OFF},
    S.STAND_UP: {S.READY, S.SIT_DOWN, S.DAMPING},
    S.READY: {S.RUNNING, S.SIT_DOWN, S.DAMPING},
    S.RUNNING: {S.SIT_DOWN, S.DAMPING},
    S.SIT_DOWN: {S.DAMPING},
}
LEVEL = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])  # attitude and angular velocity of a trunk
ROLLED = np.array([math.sin(0.1), 0.0, 0.0, math.cos(0.1), 0.0, 0.0, 0.0])  # by 0.2 rad
TURNING = np.array([0.0, 0.0, 0.0, 1.0, 0.0, -0.6, 0.0])


def row_of(setpoints):
    """A command's row."""
    row = stand_command(0, 0.0).row
    row[SENT] = np.concatenate(setpoints)
    return row


TRACKER = Setpoints(A1.stand + 0.1, np.ones(12), np.full(12, 40.0), np.ones(12), np.ones(12))


class Legs:
    """Joints that go where they are told within a step, or not at all."""

    def __init__(self, machine, stuck=False):
        self.machine, self.stuck, self.now = machine, stuck, 100.0
        self.q, self.dq = rest_joints(A1), np.zeros(12)
        self.trunk = LEVEL
        self.sent, self.states = no_torque(), [machine.state]

    def step(self, tracker=None):
        self.states.append(self.machine.state)
        row = None if tracker is None else row_of(tracker)
        sent = self.machine.step(self.now, self.q, self.dq, row, self.trunk)
        self.sent = tracker if sent is None else sent
        self.states.append(self.machine.state)
        self.now += DT
        if self.sent.kp.any() and not self.stuck:
            self.q, self.dq = self.sent.q, self.sent.dq
        else:
            self.dq = np.zeros(12)
        return self.sent

    def run(self, seconds, tracker=None):
        for _ in range(round(seconds / DT)):
            self.step(tracker)
        return self

    def until(self, state, seconds=30.0):
        for _ in range(round(seconds / DT)):
            if self.machine.state is state:
                return self
            self.step()
        raise AssertionError(f"{self.machine.state} after {seconds} s, not {state}")


def reach(state, stuck=False):
    """A robot in `state`, on the way up, or on the way down for sit_down."""
    legs = Legs(StateMachine(O, A1), stuck)
    if state is S.OFF:
        return legs
    legs.machine.request(Request.STAND_UP, "")
    if state is S.DAMPING:
        legs.step()
        return legs
    if state is S.STAND_UP:
        return legs.until(S.STAND_UP)
    legs.until(S.READY)
    if state is not S.READY:
        legs.machine.request(Request.RUN if state is S.RUNNING else Request.SIT_DOWN, "")
        legs.step()
    assert legs.machine.state is state
    return legs


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


EVENTS = st.one_of(
    st.sampled_from(list(Request)),
    st.sampled_from(["fault", "sit", "nothing measured", "not finite"]),
    st.integers(1, 300),
)


@given(st.lists(EVENTS, max_size=12), st.booleans())
def test_no_order_of_events_leads_to_a_state_out_of_order(events, stuck):
    legs = Legs(StateMachine(O, A1), stuck)
    machine, stopped = legs.machine, False
    for event in events:
        if isinstance(event, Request):
            machine.request(event, "")
        elif event == "fault":
            machine.stop("a fault")
        elif event == "sit":
            machine.sit_down("too hot")
        elif event == "nothing measured":
            machine.step(legs.now, None, None, row_of(TRACKER))
        elif event == "not finite":
            machine.step(legs.now, np.full(12, np.nan), np.zeros(12), None)
        else:
            legs.run(event * DT)
        legs.states.append(machine.state)
        ended = event in (Request.STOP, "fault") and not machine.is_finished
        stopped = stopped or ended
        if ended:
            assert machine.state is S.DAMPING
        if stopped:
            assert machine.state in (S.DAMPING, S.OFF) and machine.cause
        sent = legs.step(TRACKER)
        assert all(np.isfinite(np.asarray(part)).all() for part in sent)
        if machine.state is not S.RUNNING:
            assert sent.tau.max() < 20.0 and sent.kp.max() <= O.kp
    for before, after in itertools.pairwise(legs.states):
        assert after is before or after in FOLLOWS[before], (before, after)


@pytest.mark.parametrize("state", list(S))
def test_a_stop_damps_with_the_next_step_and_only_off_follows(state):
    legs = reach(state)
    assert legs.machine.request(Request.STOP, "stopped by the operator")
    assert same(legs.step(TRACKER), damping(O.damping_kd))
    for request in (Request.STAND_UP, Request.RUN, Request.SIT_DOWN):
        assert not legs.machine.request(request, "")
    legs.until(S.OFF)
    assert legs.machine.is_finished and not legs.machine.ended_well
    assert legs.machine.cause == "stopped by the operator"
    assert same(legs.step(TRACKER), no_torque())


@pytest.mark.parametrize("state", list(S))
@pytest.mark.parametrize("request_", list(Request))
def test_what_does_not_fit_is_refused_and_counted(state, request_):
    fits = {
        Request.STAND_UP: (S.OFF,),
        Request.RUN: (S.READY,),
        Request.SIT_DOWN: (S.DAMPING, S.STAND_UP, S.READY, S.RUNNING),
        Request.STOP: tuple(S),
        Request.END: tuple(S),
    }
    legs = reach(state)
    refused = legs.machine.refused
    accepted = legs.machine.request(request_, "")
    assert accepted == (state in fits[request_])
    assert legs.machine.refused == refused + (not accepted)
    assert accepted or legs.machine.state is state


def test_a_cause_brings_the_robot_down_and_the_first_one_stays():
    legs = reach(S.RUNNING)
    legs.machine.sit_down("FL thigh at 61 degC")
    legs.machine.stop("later trouble")
    legs.until(S.OFF)
    assert legs.machine.cause == "FL thigh at 61 degC" and not legs.machine.ended_well


@pytest.mark.parametrize("state", [S.OFF, S.DAMPING])
def test_a_robot_with_a_cause_does_not_stand_up(state):
    legs = reach(state)
    legs.machine.sit_down("FL thigh at 61 degC")
    legs.run(5.0)
    assert legs.machine.is_finished and S.STAND_UP not in legs.states


def test_it_does_not_move_before_it_has_been_measured():
    machine = StateMachine(O, A1)
    machine.request(Request.STAND_UP, "")
    for tick in range(500):
        assert same(machine.step(tick * DT, None, None, None), damping(O.damping_kd))
    assert machine.state is S.DAMPING


def test_damping_ends_after_a_second_of_stillness_without_interruption():
    legs = reach(S.READY)
    legs.machine.stop("a fault")
    for tick in range(250):  # never still for a whole second
        if tick % 90 == 89:
            legs.machine.step(legs.now, legs.q, np.full(12, 2.0 * STILL_SPEED), None)
        legs.step()
        assert legs.machine.state is S.DAMPING
    begin = legs.now
    legs.until(S.OFF)
    assert legs.now - begin == approx(O.damping_s - 70 * DT, abs=3 * DT)


def told_to_sit_down():
    """A robot that runs, its trunk not level, just told to sit down."""
    legs = reach(S.RUNNING)
    legs.trunk = ROLLED
    legs.step(TRACKER)
    assert legs.machine.request(Request.SIT_DOWN, "")
    return legs


def test_legs_fold_once_the_trunk_is_level_and_still_for_long_enough():
    legs = told_to_sit_down().run(1.0)
    for trunk in (ROLLED, TURNING, None, LEVEL):
        legs.trunk = LEVEL
        legs.run(0.5 * LEVEL_S)  # not long enough
        legs.trunk = trunk
        legs.step()
        assert_array_equal(legs.sent.q, A1.stand)
    legs.trunk = LEVEL
    legs.run(LEVEL_S + 10 * DT)
    assert (legs.sent.q[2::3] < A1.stand[2::3]).all()
    legs.until(S.OFF)
    assert legs.machine.ended_well and PostureMotions(O, A1).is_low(legs.q)


@pytest.mark.parametrize("trunk", [ROLLED, np.full(7, np.nan), None])
def test_a_trunk_that_is_never_level_delays_the_legs_for_so_long_and_no_longer(trunk):
    legs = told_to_sit_down().run(0.9 * LEVEL_TIMEOUT_S)
    assert_array_equal(legs.sent.q, A1.stand)
    legs.trunk = trunk
    legs.run(0.1 * LEVEL_TIMEOUT_S + 10 * DT)
    assert (legs.sent.q[2::3] < A1.stand[2::3]).all()
    legs.until(S.OFF)
    assert legs.machine.ended_well


def test_told_to_sit_down_the_tracker_is_followed_until_the_trunk_is_level():
    legs = told_to_sit_down()
    for trunk in (ROLLED, TURNING, None, LEVEL):
        legs.trunk = LEVEL
        for _ in range(round(0.5 * LEVEL_S / DT)):  # not long enough
            assert same(legs.step(TRACKER), TRACKER)
        legs.trunk = trunk
        assert same(legs.step(TRACKER), TRACKER)
    legs.run(LEVEL_S + 2 * DT, TRACKER)
    assert legs.machine.state is S.SIT_DOWN and legs.machine.cause == ""


def test_a_trunk_that_is_never_level_does_not_keep_the_robot_running():
    legs = told_to_sit_down()
    for _ in range(round(O.end_timeout_s / DT) - 1):
        assert same(legs.step(TRACKER), TRACKER)
        legs.machine.sit_down("too hot")  # asking again does not begin the time anew
    legs.run(3 * DT, TRACKER)
    assert legs.machine.state is S.SIT_DOWN and legs.machine.cause == "too hot"


def test_stuck_legs_are_given_up_and_the_joint_is_named():
    legs = reach(S.STAND_UP, stuck=True)
    legs.until(S.SIT_DOWN).until(S.OFF, 60.0)
    assert "no stand within 20 s: " in legs.machine.cause
    assert "rad off its target" in legs.machine.cause and not legs.machine.ended_well


def test_a_silent_tracker_leaves_the_robot_standing_without_a_jump():
    legs = reach(S.RUNNING)
    legs.step(TRACKER)
    before = legs.q.copy()
    first = legs.step(None)
    assert np.abs(first.q - before).max() < 0.01
    legs.run(1.0)
    assert_allclose(legs.sent.q, A1.stand, atol=1e-9)
    assert same(legs.step(TRACKER), TRACKER)


def test_on_the_way_down_legs_that_are_stuck_are_not_pushed_for_long():
    legs = reach(S.RUNNING)
    legs.step(TRACKER)
    legs.q, legs.stuck = A1.stand + np.tile([0.0, 1.0, 0.0], 4), True  # fell onto its legs
    legs.machine.request(Request.SIT_DOWN, "")
    legs.run(2.0)
    assert legs.machine.state is S.SIT_DOWN
    assert np.abs(legs.sent.q - legs.q).max() < STOP_LAG + 0.02
    legs.until(S.OFF)
    assert "not down within" in legs.machine.cause


@pytest.mark.parametrize("moving", [True, False])
def test_joints_that_never_rest_or_are_not_measured_are_let_go_after_the_timeout(moving):
    legs = reach(S.READY)
    legs.machine.stop("a fault")
    seen = (legs.q, np.full(12, 2.0 * STILL_SPEED)) if moving else (None, None)
    for k in range(round(O.damping_timeout_s / DT) - 5):
        assert same(legs.machine.step(legs.now + k * DT, *seen, None), damping(O.damping_kd))
    legs.machine.step(legs.now + O.damping_timeout_s + DT, legs.q, np.ones(12), None)
    assert legs.machine.state is S.OFF
