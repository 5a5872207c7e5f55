"""Gait schedules: phases, contacts and distance agree with one another."""

import numpy as np
import pytest
from pytest import approx

from controller.gaits import BOUND, STAND, TROT, WALK
from robots.conventions import FOOT_NAMES
from tests.differences import slopes

MOVING = (WALK, TROT, BOUND)


@pytest.mark.parametrize("gait", MOVING)
@pytest.mark.parametrize("foot", FOOT_NAMES)
def test_phases_start_where_contacts_change(gait, foot):
    index = FOOT_NAMES.index(foot)
    for cycle in range(3):
        lift, land = (gait.phase_start(foot, phase, cycle) for phase in ("swing", "stance"))
        assert gait.contacts(lift - 1e-4)[index] and not gait.contacts(lift)[index]
        assert not gait.contacts(land - 1e-4)[index] and gait.contacts(land)[index]
        assert lift + gait.phase_duration(foot, "swing") == approx(land)
        again = gait.phase_start(foot, "swing", cycle + 1)
        assert land + gait.phase_duration(foot, "stance") == approx(again)


def test_which_feet_are_in_the_air_together():
    for time in 0.005 * np.arange(600):
        assert WALK.contacts(time).sum() >= 3
        fr, fl, rr, rl = TROT.contacts(time)
        assert fr == rl and fl == rr
        fr, fl, rr, rl = BOUND.contacts(time)
        assert fr == fl and rr == rl and (fr or rr)


def test_distance_reaches_speed_after_the_ramp_and_standing_goes_nowhere():
    t = WALK.start + WALK.ramp
    assert WALK.distance(WALK.start, 0.2) == 0.0
    assert WALK.distance(t + 2.0, 0.2) - WALK.distance(t + 1.0, 0.2) == approx(0.2)
    assert slopes(lambda t: WALK.distance(t, 0.2), t) == approx(0.2, rel=1e-4)
    assert STAND.distance(5.0, 0.2) == 0.0
