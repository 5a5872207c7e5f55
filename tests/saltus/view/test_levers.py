"""What a page does to a launch, on the bus."""

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from runtime.bus import Bus
from runtime.endpoints import Endpoints
from runtime.topics import COMMAND, PACE, PUSH, TUNING
from saltus.configuration.launch import load_launch
from saltus.view.panel import Levers
from tests.saltus.programs import wait_until


@pytest.fixture
def endpoints(tmp_path):
    return Endpoints.ipc(tmp_path / "bus")


def levers_of(bus, *assignments, mode=None):
    return Levers(load_launch("sim", list(assignments), mode), bus)


def heard(subscriber, say, meant=lambda message: True):
    """The first message that is meant, while it is said again and again."""
    found = []
    wait_until(lambda: say() or found.extend(subscriber.all()) or (found and meant(found[-1])))
    return found[-1]


def test_pushes_and_tunings_arrive_as_they_were_asked_for(endpoints):
    with Bus(endpoints) as page, Bus(endpoints) as launch:
        levers = levers_of(page)
        pushes, tunings = launch.subscriber(PUSH), launch.subscriber(TUNING)
        push = heard(pushes, lambda: levers.push("FL", np.array((0.0, -2.0, 0.5))))
        assert push.body == "FL"
        assert_array_equal(push.velocity, [0.0, -2.0, 0.5])
        tuning = heard(tunings, lambda: levers.tune({"cost": {"joint_velocity": 0.2}}))
        assert json.loads(tuning.options) == {"cost": {"joint_velocity": 0.2}}
        assert tuning.sequence > push.sequence


def test_the_pace_is_repeated_and_steps_add_up(endpoints):
    with Bus(endpoints) as page, Bus(endpoints) as launch:
        levers = levers_of(page)
        paces = launch.subscriber(PACE, conflate=False)
        first = heard(paces, levers.tick)
        assert (first.speed, first.steps) == (math.inf, 0)
        levers.set_speed(0.0)
        levers.step()
        levers.step(10)
        levers.tick()
        pace = paces.wait(10.0)
        assert (pace.speed, pace.steps) == (0.0, 11)
        levers.tick()  # too soon to be sent again
        again = heard(paces, levers.tick)
        assert (again.speed, again.steps) == (0.0, 11)
        assert again.sequence == pace.sequence + 1


def test_the_pad_drives_as_the_keyboard_does_and_stands_at_the_end(endpoints):
    with Bus(endpoints) as page, Bus(endpoints) as launch:
        levers = levers_of(page, "drive.source=client", mode="realtime")
        commands = launch.subscriber(COMMAND, conflate=False)
        assert levers.offers(COMMAND) and levers.offers(PUSH) and not levers.offers(PACE)
        levers.pad.press("3iij")
        command = heard(commands, levers.tick, lambda command: command.forward > 0.1)
        assert (command.gait, command.yaw_rate > 0.0) == ("trot", True)
        levers.close()
        last = commands.wait(10.0)
        while (later := commands.wait(0.2)) is not None:
            last = later
        assert (last.forward, last.left, last.yaw_rate) == (0.0, 0.0, 0.0)


def test_a_second_page_looks_on(endpoints):
    with Bus(endpoints) as first, Bus(endpoints) as second:
        assert levers_of(first).refusal == ""
        other = levers_of(second)
        assert other.refusal == "another view has the controls"
        assert not any(map(other.offers, (PUSH, PACE, TUNING, COMMAND)))
        other.push("base", np.array((1.0, 0.0, 0.0)))  # nothing happens
        other.tick()
