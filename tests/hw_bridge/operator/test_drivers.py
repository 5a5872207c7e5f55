"""Keys, gamepad and remote: whatever comes, commands are finite, bounded and numbered upwards."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.operator.drivers import FULL, CommandBounds, GamepadDriver, KeyDriver, RemoteDriver
from hw_bridge.operator.gamepad import AXIS, BUTTON, JoystickEvent
from hw_bridge.options import GamepadOptions, KeyOptions, StickOptions
from hw_bridge.wire.remote import BUTTONS, Remote
from runtime.messages import Command
from tests.a1 import A1

STICKS, PAD = StickOptions(), GamepadOptions(dead_man_button=9)
BOUNDS = CommandBounds(2.2, 0.5, 1.6, (0.2, 0.32), A1.stand_height)
DEAD_MAN = PAD.dead_man_axis or 0
GAITS = {"stand", "walk", "trot", "bound", "auto"}


def key_driver() -> KeyDriver:
    return KeyDriver(KeyOptions(), BOUNDS)


def velocity(command: Command | None) -> tuple[float, float, float]:
    assert command is not None
    return command.forward, command.left, command.yaw_rate


def check(command: Command | None, most, sequence: int) -> None:
    bounds = most.forward, most.left, most.yaw_rate
    for value, bound in zip(velocity(command), bounds, strict=True):
        assert math.isfinite(value) and abs(value) <= bound + 1e-12
    assert command is not None and command.sequence == sequence and command.gait in GAITS


@given(st.lists(st.text(max_size=30), min_size=1, max_size=10))
def test_any_keys_make_a_bounded_command(typed: list[str]) -> None:
    driver = key_driver()
    for sequence, keys in enumerate(typed, 1):
        driver.press(keys)
        command = driver.command(0.5 * sequence)
        check(command, BOUNDS, sequence)
        assert command.time == 0.5 * sequence
        low, high = BOUNDS.height
        assert command.height is None or low <= command.height <= high


@given(st.permutations("iiiikkkkjjll,,,..."))
def test_as_many_keys_back_as_forth_are_a_stand_exactly(keys: list[str]) -> None:
    driver = key_driver()
    driver.press("".join(keys))
    assert velocity(driver.command(0.0)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("iii", (0.3, 0.0, 0.0)), ("kj", (-0.1, 0.0, 0.2)), (",,l", (0.0, 0.1, -0.2)),
     ("iij.0", (0.0, 0.0, 0.0)), ("iij1", (0.0, 0.0, 0.0)), ("i" * 99, (2.2, 0.0, 0.0)),
     ("i" * 99 + "k", (2.1, 0.0, 0.0))],
)  # fmt: skip
def test_what_keys_ask_for(keys: str, expected: tuple[float, ...]) -> None:
    driver = key_driver()
    driver.press(keys)
    assert velocity(driver.command(0.0)) == pytest.approx(expected)


def test_gaits_and_heights_hold_until_another_key() -> None:
    driver = key_driver()
    assert driver.command(0.0).height is None and not driver.has_changed
    for key, gait in zip("2345", ("walk", "trot", "bound", "auto"), strict=True):
        driver.press(key)
        assert driver.has_changed and driver.command(0.0).gait == gait
    driver.press("-")
    lower = driver.command(0.0).height
    driver.press("+0")
    assert lower is not None
    assert driver.command(0.0).height == pytest.approx(lower + KeyOptions().height)


events = st.builds(
    JoystickEvent, st.sampled_from([AXIS, BUTTON, 7]), st.integers(0, 12),
    st.integers(-32768, 32767), st.booleans(),
)  # fmt: skip


@given(st.lists(st.lists(events, max_size=12), min_size=1, max_size=8))
def test_any_events_make_a_bounded_command_and_letting_go_is_a_stand_at_once(batches) -> None:
    driver = GamepadDriver(PAD, STICKS)
    for sequence, batch in enumerate(batches, 1):
        driver.take(batch)
        check(driver.command(0.0), STICKS, sequence)
    moved = velocity(driver.command(0.0)) != (0.0, 0.0, 0.0)
    let_go = [JoystickEvent(AXIS, DEAD_MAN, -FULL), JoystickEvent(BUTTON, 9, 0)]
    driver.take(let_go)
    assert driver.has_changed or not moved
    assert velocity(driver.command(0.0)) == (0.0, 0.0, 0.0)


def pushed(held: JoystickEvent) -> GamepadDriver:
    """A gamepad with every stick at an end."""
    driver = GamepadDriver(PAD, STICKS)
    ends = [JoystickEvent(AXIS, axis, -FULL) for axis in (PAD.forward, PAD.left, PAD.turn)]
    driver.take([*ends, held])
    return driver


@pytest.mark.parametrize(
    "held", [JoystickEvent(AXIS, DEAD_MAN, FULL), JoystickEvent(BUTTON, 9, 1, at_opening=True)]
)
def test_full_sticks_ask_for_the_most(held: JoystickEvent) -> None:
    full = STICKS
    assert velocity(pushed(held).command(0.0)) == (full.forward, full.left, full.yaw_rate)


@pytest.mark.parametrize(
    "held", [JoystickEvent(AXIS, DEAD_MAN, 0, at_opening=True), JoystickEvent(BUTTON, 4, 1)]
)
def test_a_trigger_at_its_middle_or_another_button_is_no_dead_man(held: JoystickEvent) -> None:
    assert velocity(pushed(held).command(0.0)) == (0.0, 0.0, 0.0)


def test_a_gamepad_that_has_gone_asks_for_nothing_any_more() -> None:
    driver = pushed(JoystickEvent(AXIS, DEAD_MAN, FULL))
    driver.is_gone = True
    assert driver.command(0.0) is None


ways = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(st.frozensets(st.sampled_from(BUTTONS)), ways, ways, ways), min_size=1))
def test_any_remote_makes_a_bounded_command(states) -> None:
    driver = RemoteDriver(STICKS)
    for sequence, (buttons, lx, rx, ly) in enumerate(states, 1):
        driver.take(Remote(buttons, lx=lx, rx=rx, ly=ly))
        check(driver.command(0.0), STICKS, sequence)
    driver.take(Remote())
    assert velocity(driver.command(0.0)) == (0.0, 0.0, 0.0)


@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_a_stick_pushed_further_asks_for_more_and_its_dead_zone_for_nothing(a, b) -> None:
    forward = []
    for way in sorted((a, b)):
        driver = RemoteDriver(STICKS)
        driver.take(Remote(ly=way))
        forward.append(velocity(driver.command(0.0))[0])
        assert (forward[-1] == 0.0) == (abs(way) <= STICKS.dead_zone)
    assert forward[0] <= forward[1]


def test_the_remotes_sticks_and_cross() -> None:
    driver = RemoteDriver(STICKS)
    driver.take(Remote(frozenset({"up"}), ly=1.0, lx=1.0, rx=1.0))
    command = driver.command(0.0)
    assert velocity(command) == (1.0, -0.3, -1.0) and command is not None
    assert command.gait == "trot"
    driver.take(Remote(frozenset({"L2", "A"})))
    again = driver.command(0.0)
    assert again is not None and again.gait == "trot"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dead_man_axis": None}, "give dead_man_axis, dead_man_button, or both"),
        ({"turn": 1}, "give each use an axis of its own"),
        ({"forward": 300}, "forward is 300; give 0 to 255"),
        ({"dead_man_button": -1}, "dead_man_button is -1; give 0 to 255"),
    ],
)
def test_gamepad_options_that_cannot_be_are_refused(options, words) -> None:
    with pytest.raises(ValueError, match=words):
        GamepadOptions(**options)
