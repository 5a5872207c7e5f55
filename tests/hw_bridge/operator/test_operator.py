"""The remote's stop, the script, and all operators together."""

import os

import pytest

from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.operator.operator import Operator
from hw_bridge.operator.options import GamepadButtons, OperatorOptions
from hw_bridge.operator.remote_stop import RemoteStop
from hw_bridge.operator.script import OperatorScript
from hw_bridge.states import Request, RobotState
from hw_bridge.wire.remote import Remote

S = RobotState
SETS = OperatorOptions().remote_stop


def held(*buttons: str) -> Remote:
    return Remote(frozenset(buttons))


@pytest.mark.parametrize("buttons", [("R2",), ("L2", "B"), ("R2", "A"), ("L2", "B", "up")])
def test_the_remote_stops_once_for_each_time_it_is_pressed(buttons: tuple[str, ...]) -> None:
    stop = RemoteStop(SETS)
    assert stop.poll(None) == stop.poll(held()) == []
    for _ in range(2):
        [(request, cause)] = stop.poll(held(*buttons))
        assert request is Request.STOP and "remote" in cause
        assert stop.poll(held(*buttons)) == []
        assert stop.poll(held()) == []


def test_buttons_held_in_the_first_sample_count_as_pressed() -> None:
    assert len(RemoteStop(SETS).poll(held("R2"))) == 1


@pytest.mark.parametrize("buttons", [("L2",), ("B",), ("A", "start", "R1")])
def test_other_buttons_of_the_remote_do_not_stop(buttons: tuple[str, ...]) -> None:
    assert RemoteStop(SETS).poll(held(*buttons)) == []


def test_the_script_takes_each_step_once() -> None:
    script, asked = OperatorScript(), []
    for state in (S.OFF, S.DAMPING, S.STAND_UP, S.READY, S.RUNNING, S.SIT_DOWN, S.DAMPING, S.OFF):
        for _ in range(30):
            asked += [(request, state) for request, _ in script.poll(state)]
    assert asked == [(Request.STAND_UP, S.OFF), (Request.RUN, S.READY)]


def test_a_stop_comes_before_everything_else_that_is_asked_for() -> None:
    reading, writing = os.pipe()
    operator = Operator(OperatorOptions(script=True), Keyboard(reading).poll)
    os.write(writing, b"rud ")
    asked = [request for request, _ in operator.poll(S.OFF, held("R2"))]
    assert asked[:2] == [Request.STOP, Request.STOP]
    assert sorted(asked[2:]) == sorted(
        [Request.RUN, Request.STAND_UP, Request.SIT_DOWN, Request.STAND_UP]
    )
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(
    "options",
    [
        {"remote_stop": (("R3",),)},
        {"remote_stop": ((),)},
    ],
)
def test_options_are_refused_by_name(options: dict) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))} is .*; give sets of"):
        OperatorOptions(**options)


@pytest.mark.parametrize(
    ("buttons", "words"),
    [
        ({"stop": ()}, "stop is .*; give one button or more"),
        ({"run": 7}, "give each use a button of its own"),
        ({"stop": (1, 256)}, "stop is 256; give 0 to 255"),
    ],
)
def test_gamepad_buttons_are_refused(buttons: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        GamepadButtons(**buttons)
