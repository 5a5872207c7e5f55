"""The strides of a script, known beforehand, are those of the reference that follows it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pytest import approx

from controller.driving.commands import CommandScript, ScriptClock, ScriptStep
from controller.driving.reference import DrivenReference
from controller.options import DriveOptions
from robots.conventions import FOOT_NAMES
from tests.a1 import A1
from tests.refusals import refusal

PERIOD, END = 0.01, 600
STEPS = (
    ScriptStep(0.2, velocity_x=0.3, gait="walk"),
    ScriptStep(2.0, velocity_y=0.1, gait="trot"),
    ScriptStep(3.37, yaw_rate=0.5, gait="bound"),
    ScriptStep(5.0, gait="stand"),
)


def script():
    return CommandScript(STEPS, DriveOptions(), "stand")


@pytest.fixture(scope="module")
def clock():
    return ScriptClock(script(), DriveOptions(), A1, PERIOD, range(END))


@pytest.mark.parametrize("seed", [None, 1])
def test_contacts_are_those_of_every_window_wherever_the_robot_is(clock, seed):
    """A robot that is elsewhere moves the footholds, and neither lift-off nor landing."""
    reference = DrivenReference(DriveOptions(), A1, PERIOD, script())
    random, lifted = np.random.default_rng(seed), 0
    for knot in range(END):
        state = None
        if seed is not None:
            state = np.zeros(37)
            state[:2], state[6] = random.normal(0.0, 0.5, 2), 1.0
            state[19:21] = reference.course.base[3:5]
        contacts = reference.window(knot, 10, state).contacts[0]
        assert_array_equal(clock.contacts(knot * PERIOD), contacts)
        lifted += int((contacts == 0.0).sum())
    assert lifted > 200


@pytest.mark.parametrize("foot", FOOT_NAMES)
def test_phases_follow_each_other(clock, foot):
    index = FOOT_NAMES.index(foot)
    for cycle in range(7):
        lift, land = (clock.phase_start(foot, phase, cycle) for phase in ("swing", "stance"))
        assert lift + clock.phase_duration(foot, "swing", cycle) == approx(land)
        assert clock.contacts(0.5 * (lift + land))[index] == 0.0
        again = clock.phase_start(foot, "swing", cycle + 1)
        assert land + clock.phase_duration(foot, "stance", cycle) == approx(again)
        assert clock.contacts(0.5 * (land + again))[index] == 1.0


def test_a_swing_that_does_not_come_is_refused(clock):
    assert "FR" in refusal(ValueError, clock.phase_start, "FR", "swing", 99)
