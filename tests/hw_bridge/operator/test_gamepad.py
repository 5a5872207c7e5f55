"""The gamepad: events of Linux's joystick interface from a named pipe in its place."""

import os
import struct

import msgspec
import pytest

from hw_bridge.operator.gamepad import Gamepad
from hw_bridge.options import GamepadButtons
from hw_bridge.states import Request
from tests.refusals import refusal

BUTTONS = GamepadButtons()
PLAIN = msgspec.to_builtins(BUTTONS)
BUTTON, AXIS, AT_OPENING = 0x01, 0x02, 0x80


def event(number, value=1, kind=BUTTON):
    return struct.pack("<IhBB", 1234, value, kind, number)


@pytest.fixture
def pad(device):
    path, writing = device
    gamepad = Gamepad(path, PLAIN)
    yield gamepad, writing
    gamepad.close()


@pytest.mark.parametrize(
    "number, request_",
    [
        (BUTTONS.stand_up, Request.STAND_UP),
        (BUTTONS.run, Request.RUN),
        (BUTTONS.sit_down, Request.SIT_DOWN),
        *((number, Request.STOP) for number in BUTTONS.stop),
    ],
)
def test_a_button_asks_when_pressed_not_when_let_go(pad, number, request_):
    gamepad, writing = pad
    os.write(writing, event(number) + event(number, value=0))
    [(request, cause)] = gamepad.poll()
    assert request is request_ and bool(cause) == (request is Request.STOP)
    assert gamepad.poll() == []


def test_of_what_is_held_at_opening_only_a_stop_counts(pad):
    held = [event(n, 1, BUTTON | AT_OPENING) for n in (BUTTONS.run, BUTTONS.stop[0])]
    free = event(BUTTONS.stop[1], 0, BUTTON | AT_OPENING)
    os.write(pad[1], b"".join(held) + free)
    assert [request for request, _ in pad[0].poll()] == [Request.STOP]


def test_a_gamepad_that_goes_ends_the_run_once(pad):
    os.close(pad[1])
    assert pad[0].poll() == [(Request.END, "the gamepad has gone")]
    assert pad[0].poll() == []


SILENT = (Request.END, "the gamepad has been silent for 1 s")
MOVE = event(0, 5, AXIS)


def lived(gamepad, begin, end):
    """What is asked for from one millisecond to another, and when."""
    return [(ms, one) for ms in range(begin, end) for one in gamepad.poll(1e-3 * ms, True)]


@pytest.mark.parametrize("sign", [MOVE, event(99), event(BUTTONS.run, 0)])
def test_one_that_is_silent_while_the_robot_is_up_ends_the_run_once(pad, sign):
    gamepad, writing = pad
    for begin in range(5000, 9000, 999):
        os.write(writing, sign)
        assert lived(gamepad, begin, begin + 999) == []
    os.write(writing, sign)
    [(when, asked)] = lived(gamepad, 10_000, 15_000)
    assert asked == SILENT and 11_000 <= when <= 11_001
    os.write(writing, event(BUTTONS.stop[0]))
    assert [request for request, _ in gamepad.poll(16.0, True)] == [Request.STOP]
    os.close(writing)
    assert gamepad.poll(17.0, True) == []


def test_an_event_may_come_in_pieces(pad):
    for part in (event(9) + event(BUTTONS.run)[:3], event(BUTTONS.run)[3:]):
        os.write(pad[1], part)
        asked = pad[0].poll()
    assert asked == [(Request.RUN, "")]


def test_one_that_is_not_there_or_a_file_is_refused_at_once(tmp_path):
    (tmp_path / "js0").write_bytes(event(7))  # would read as "stand up"
    for name in ("js0", "js7"):
        assert name in refusal(ValueError, Gamepad, str(tmp_path / name), PLAIN)
