"""The remote's stop, the script, and all operators together."""

import os
import struct

import msgspec
import pytest

from hw_bridge.operator.operator import Inputs, Operator
from hw_bridge.options import OperatorOptions
from hw_bridge.states import Request, RobotState
from hw_bridge.wire.remote import Remote

S = RobotState


def hands_of(options, keyboard_fd=0):
    return Inputs(msgspec.to_builtins(options), keyboard_fd)


def held(*buttons):
    return Remote(frozenset(buttons))


@pytest.mark.parametrize("buttons", [("R2",), ("L2", "B"), ("R2", "A"), ("L2", "B", "up")])
def test_the_remote_stops_once_for_each_time_it_is_pressed(buttons):
    operator = Operator(OperatorOptions())
    assert operator.poll(S.RUNNING, None) == operator.poll(S.RUNNING, held()) == []
    for _ in range(2):
        [(request, cause)] = operator.poll(S.RUNNING, held(*buttons))
        assert request is Request.STOP and "remote" in cause
        assert operator.poll(S.RUNNING, held(*buttons)) == []
        assert operator.poll(S.RUNNING, held()) == []


def test_the_script_takes_each_step_once():
    operator, asked = Operator(OperatorOptions(script=True)), []
    for state in (S.OFF, S.DAMPING, S.STAND_UP, S.READY, S.RUNNING, S.SIT_DOWN, S.DAMPING, S.OFF):
        for _ in range(30):
            asked += [(request, state) for request, _ in operator.poll(state, None)]
    assert asked == [(Request.STAND_UP, S.OFF), (Request.RUN, S.READY)]


def test_a_stop_comes_before_everything_else_that_is_asked_for(pipe):
    reading, writing = pipe
    operator = Operator(OperatorOptions(script=True), hands_of(OperatorOptions(), reading))
    os.write(writing, b"rud ")
    asked = [request for request, _ in operator.poll(S.OFF, held("R2"))]
    assert asked[:2] == [Request.STOP, Request.STOP]
    assert sorted(asked[2:]) == sorted(
        [Request.RUN, Request.STAND_UP, Request.SIT_DOWN, Request.STAND_UP]
    )


def test_of_what_was_asked_before_the_robot_is_there_only_a_stop_is_left(device, pipe):
    (path, pad), (reading, writing) = device, pipe
    press = struct.Struct("<IhBB").pack
    for keys, button, stops in ((b"urd", 7, 0), (b"u d", 7, 1), (b"u", 1, 1), (b"x", 1, 2)):
        options = OperatorOptions(gamepad=path)
        hands = hands_of(options, reading)
        operator = Operator(options, hands)
        os.write(writing, keys)
        os.write(pad, press(0, 1, 1, button))
        operator.begin()
        assert [request for request, _ in operator.poll(S.OFF, None)] == stops * [Request.STOP]
        assert operator.poll(S.OFF, None) == []
        hands.close()


@pytest.mark.parametrize("state", S)
def test_a_gamepad_may_be_silent_until_the_robot_is_up(device, state):
    now = 0.0
    options = OperatorOptions(keyboard=False, gamepad=device[0], silence_s=2.0)
    hands = hands_of(options)
    operator = Operator(options, hands, lambda: now)
    operator.begin()
    asked = []
    for now in (0.0, 1.0, 1.9, 2.1, 5.0):
        asked += [(now, cause) for _, cause in operator.poll(state, None)]
    up = state in (S.STAND_UP, S.READY, S.RUNNING)
    assert asked == ([(2.1, "the gamepad has been silent for 2 s")] if up else [])
    hands.close()
