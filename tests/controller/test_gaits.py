"""Gait schedules: phases, contacts and distance agree with one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
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


@given(st.floats(0.0, 20.0))
def test_contacts_repeat_with_the_stride(time):
    for gait in MOVING:
        late = time + gait.start + gait.period
        distance = (late - gait.start) / gait.period % 1.0
        if min(abs(distance - x) for x in (*gait.offsets, 0.0, 1.0, 0.25, 0.15, 0.4, 0.9)) < 1e-6:
            continue  # within rounding of an event
        assert_array_equal(gait.contacts(late), gait.contacts(late + gait.period))


def test_distance_reaches_speed_after_the_ramp_and_standing_goes_nowhere():
    t = WALK.start + WALK.ramp
    assert WALK.distance(WALK.start, 0.2) == 0.0
    assert WALK.distance(t + 2.0, 0.2) - WALK.distance(t + 1.0, 0.2) == approx(0.2)
    assert slopes(lambda t: WALK.distance(t, 0.2), t) == approx(0.2, rel=1e-4)
    assert STAND.distance(5.0, 0.2) == 0.0
