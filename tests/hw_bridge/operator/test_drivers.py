"""Keys, gamepad and remote: whatever comes, commands are finite, bounded and numbered upwards."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from hw_bridge.operator.driving import FULL, CommandBounds, GamepadDriver, KeyDriver, RemoteDriver
from hw_bridge.operator.gamepad import AXIS, BUTTON, JoystickEvent
from hw_bridge.options import GamepadOptions, KeyOptions, StickOptions
from hw_bridge.wire.remote import BUTTONS, Remote
from tests.a1 import A1

STICKS, PAD = StickOptions(), GamepadOptions(dead_man_button=9)
BOUNDS = CommandBounds(2.2, 0.5, 1.6, (0.2, 0.32), A1.stand_height)
DEAD_MAN = PAD.dead_man_axis or 0
GAITS = {"stand", "walk", "trot", "bound", "auto"}


def key_driver():
    return KeyDriver(KeyOptions(), BOUNDS)


def velocity(command):
    return command.forward, command.left, command.yaw_rate


def check(command, most, sequence):
    bounds = most.forward, most.left, most.yaw_rate
    for value, bound in zip(velocity(command), bounds, strict=True):
        assert math.isfinite(value) and abs(value) <= bound + 1e-12
    assert command.sequence == sequence and command.gait in GAITS


@given(st.lists(st.text(max_size=30), min_size=1, max_size=10))
def test_any_keys_make_a_bounded_command(typed):
    driver = key_driver()
    for sequence, keys in enumerate(typed, 1):
        driver.press(keys)
        command = driver.command(0.5 * sequence)
        check(command, BOUNDS, sequence)
        assert command.time == 0.5 * sequence
        low, high = BOUNDS.height
        assert command.height is None or low <= command.height <= high


@pytest.mark.parametrize(
    "keys, expected",
    [("iii", (0.3, 0.0, 0.0)), ("kj", (-0.1, 0.0, 0.2)), (",,l", (0.0, 0.1, -0.2)),
     ("iij.0", (0.0, 0.0, 0.0)), ("iij1", (0.0, 0.0, 0.0)), ("i" * 99, (2.2, 0.0, 0.0)),
     ("i" * 99 + "k", (2.1, 0.0, 0.0))],
)  # fmt: skip
def test_what_keys_ask_for(keys, expected):
    driver = key_driver()
    driver.press(keys)
    assert velocity(driver.command(0.0)) == approx(expected)


events = st.builds(
    JoystickEvent, st.sampled_from([AXIS, BUTTON, 7]), st.integers(0, 12),
    st.integers(-32768, 32767), st.booleans(),
)  # fmt: skip


@given(st.lists(st.lists(events, max_size=12), min_size=1, max_size=8))
def test_any_events_make_a_bounded_command_and_letting_go_is_a_stand_at_once(batches):
    driver = GamepadDriver(PAD, STICKS)
    for sequence, batch in enumerate(batches, 1):
        driver.take(batch)
        check(driver.command(0.0), STICKS, sequence)
    moved = velocity(driver.command(0.0)) != (0.0, 0.0, 0.0)
    let_go = [JoystickEvent(AXIS, DEAD_MAN, -FULL), JoystickEvent(BUTTON, 9, 0)]
    driver.take(let_go)
    assert driver.has_changed or not moved
    assert velocity(driver.command(0.0)) == (0.0, 0.0, 0.0)


ways = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(st.frozensets(st.sampled_from(BUTTONS)), ways, ways, ways), min_size=1))
def test_any_remote_makes_a_bounded_command(states):
    driver = RemoteDriver(STICKS)
    for sequence, (buttons, lx, rx, ly) in enumerate(states, 1):
        driver.take(Remote(buttons, lx=lx, rx=rx, ly=ly))
        check(driver.command(0.0), STICKS, sequence)
    driver.take(Remote())
    assert velocity(driver.command(0.0)) == (0.0, 0.0, 0.0)


def test_the_remotes_sticks_and_cross():
    driver = RemoteDriver(STICKS)
    driver.take(Remote(frozenset({"up"}), ly=1.0, lx=1.0, rx=1.0))
    command = driver.command(0.0)
    assert velocity(command) == (1.0, -0.3, -1.0)
    assert command.gait == "trot"
    driver.take(Remote(frozenset({"L2", "A"})))
    again = driver.command(0.0)
    assert again.gait == "trot"


@pytest.mark.parametrize("held, counts", [
    (JoystickEvent(AXIS, DEAD_MAN, FULL), True),
    (JoystickEvent(BUTTON, 9, 1, at_opening=True), True),
    (JoystickEvent(AXIS, DEAD_MAN, 0, at_opening=True), False),
    (JoystickEvent(BUTTON, 4, 1), False),
])  # fmt: skip
def test_full_sticks_ask_for_the_most_while_the_dead_man_is_held(held, counts):
    driver = GamepadDriver(PAD, STICKS)
    ends = [JoystickEvent(AXIS, axis, -FULL) for axis in (PAD.forward, PAD.left, PAD.turn)]
    driver.take([*ends, held])
    most = (STICKS.forward, STICKS.left, STICKS.yaw_rate)
    assert velocity(driver.command(0.0)) == (most if counts else (0.0, 0.0, 0.0))
