"""When commands go out, from devices and from the process that has the robot."""

from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.operator.driving import (
    LEAST_S,
    PERIOD_S,
    CommandBounds,
    KeyDriver,
    Pacer,
    RemoteDriver,
    Steering,
)
from hw_bridge.operator.operator import Operator
from hw_bridge.options import KeyOptions, StickOptions
from hw_bridge.states import RobotState
from hw_bridge.wire.remote import Remote
from tests.a1 import A1
from tests.hw_bridge.rig import SCRIPT, Rig

BOUNDS = CommandBounds(2.2, 0.5, 1.6, (0.2, 0.32), A1.stand_height)


@given(st.lists(st.tuples(st.integers(1, 30), st.booleans()), min_size=1, max_size=60))
def test_nobody_waits_longer_than_the_period_and_a_change_goes_out_soon(steps):
    """Steps of some milliseconds, with or without a key."""
    commands = []
    driver = KeyDriver(KeyOptions(), BOUNDS)
    pacer = Pacer(driver, commands.append)
    now, pressed = 0.0, False
    for milliseconds, press in steps:
        now += 1e-3 * milliseconds
        if press:
            driver.press("i")
            pressed = True
        before = len(commands)
        due = pacer.wait(now) == 0.0
        pacer.tick(now)
        assert (len(commands) > before) == due
        newest = commands[-1].time
        assert now - newest < PERIOD_S
        if pressed and not driver.has_changed:
            pressed = False
        assert not pressed or now - newest < LEAST_S
    gaps = [b.time - a.time for a, b in zip(commands, commands[1:], strict=False)]
    assert all(gap >= LEAST_S - 1e-12 for gap in gaps)
    assert [command.sequence for command in commands] == list(range(1, len(commands) + 1))


def test_steering_is_silent_before_the_run_and_every_run_begins_with_a_stand():
    commands = []
    steering = Steering(KeyDriver(KeyOptions(), BOUNDS), commands.append)
    now = 0.0
    for runs, keys in ((False, "iii"), (True, ""), (True, "ii"), (False, "i"), (True, "")):
        steering.press(keys)
        count = len(commands)
        now += PERIOD_S
        steering.tick(now, runs, Remote())
        assert (len(commands) > count) == runs
    assert [command.forward for command in commands] == [0.0, 0.2, 0.0]


def test_the_remotes_sticks_drive_the_robot_over_its_own_bytes():
    """The emulated robot runs from about 2 s on; commands come at 50 Hz, and at once."""
    commands = []
    held = {"kind": "remote", "at": 4.0, "for": 1.0, "sticks": {"ly": 0.55, "rx": -1.0},
            "buttons": ["right"]}  # fmt: skip
    steering = Steering(RemoteDriver(StickOptions()), commands.append)
    rig = Rig(events=[held], operator=Operator(SCRIPT), steering=steering)
    rig.run(6.0)
    assert rig.bridge.machine.state is RobotState.RUNNING
    moving = [command for command in commands if command.forward]
    assert {(round(c.forward, 6), c.left, c.yaw_rate, c.gait) for c in moving} == {
        (0.5, 0.0, 1.0, "walk")
    }
    assert commands[0].forward == commands[-1].forward == 0.0
    assert 0.95 < moving[-1].time - moving[0].time < 1.0
    rate = len(commands) / (commands[-1].time - commands[0].time)
    assert 45.0 < rate < 55.0
    assert rig.bridge.errors == 0 and steering.pacer.failures == 0
