"""Contact modes and pushes of the salted filter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from estimator.contacts import LARGEST_OFFSET
from estimator.rows import FORCE_SENSOR
from estimator.salted.contacts import (
    CERTAIN,
    JUMP_NOISE,
    JUMP_SELECTION,
    JUMP_SIDEWAYS,
    LOAD_NOISE,
    followers,
    lift_off,
    look_below,
    set_down,
    update_modes,
    watch_for_jump,
)
from estimator.salted.memory import (
    AGE,
    CROSSED,
    OFFSET,
    PROBABILITY,
    SIZE,
    TRUST,
    VARIANCE,
    VELOCITY,
    new_memory,
)
from robots.rotations import exp3, quaternion_from_rotation, rotation_from_quaternion
from robots.terrain import unknown_ground
from tests.estimator.salted_case import LEGS, PARAMETERS, RECORD, random_memory

DT = 1e-3


class Feet:
    """Four feet under the same guards and forces, which the numbers of a tick give."""

    def __init__(self, standing):
        self.m = new_memory(RECORD)[0]
        self.m.contact[PROBABILITY] = 0.5
        for foot in range(4):
            set_down(self.m, foot) if standing else lift_off(self.m, foot)
        self.m.contact[PROBABILITY] = 0.999 if standing else 0.001
        self.m.contact[CROSSED] = 0.0

    def step(
        self, force, clearance = 0.0, load = 60.0,
        sound = 1.0, deviation = 0.006,
    ):  # fmt: skip
        """The mode's changes (4), carried out."""
        self.m.past.sound[FORCE_SENSOR:] = sound
        numbers = (np.full(4, each) for each in (force, clearance, deviation, load))
        change = update_modes(self.m, *numbers, DT, PARAMETERS)
        for foot in range(4):
            if change[foot] > 0.0:
                set_down(self.m, foot)
            elif change[foot] < 0.0:
                lift_off(self.m, foot)
        return change

    @property
    def standing(self):
        ages = self.m.contact[AGE]
        assert np.ptp(ages) == 0.0
        return bool(ages[0] >= 0.0)


@pytest.mark.parametrize("force", [0.0, 500.0, np.nan])
def test_without_a_sound_sensor_the_guard_decides_alone(force):
    feet, changes = Feet(standing=False), []
    heights = np.linspace(0.05, -0.02, 141)  # comes down by half a millimetre a tick
    for height in heights:
        changes.append(feet.step(force, height, sound=0.0)[0])
    landed = int(np.flatnonzero(changes)[0])
    assert np.sum(np.abs(changes)) == 1.0
    assert abs(heights[landed]) < 0.006  # within the guard's width
    loads, changes = np.linspace(90.0, -60.0, 151), []
    for load in loads:
        changes.append(feet.step(force, load=load, sound=0.0)[0])
    assert np.sum(changes) == -1.0
    assert abs(loads[int(np.flatnonzero(changes)[0])]) < LOAD_NOISE


@given(
    st.floats(-300.0, 300.0), st.floats(0.0, 100.0), st.floats(-0.05, 0.1),
    st.floats(-100.0, 200.0), st.booleans(),
)  # fmt: skip
def test_more_force_never_makes_a_foot_stand_less(force, more, clearance, load, standing):
    found = []
    for reading in (force, force + more):
        feet = Feet(standing)
        feet.step(reading, clearance, load)
        found.append(feet.m.contact[[PROBABILITY, TRUST], 0])
    assert (found[1] >= found[0] - 1e-12).all()


@given(
    st.lists(
        st.tuples(
            arrays(np.float64, 4, elements=st.floats(-1e4, 1e4)),
            arrays(np.bool_, 4),
            arrays(np.float64, 4, elements=st.floats(-5.0, 5.0)),
            arrays(np.float64, 4, elements=st.floats(1e-4, 1e3)),
            arrays(np.float64, 4, elements=st.floats(-1e5, 1e5)),
            st.floats(1e-6, 0.2),
        ),
        max_size=20,
    )
)
def test_probabilities_stay_between_zero_and_one(story):
    m = new_memory(RECORD)[0]
    for forces, sound, clearance, deviation, load, dt in story:
        m.past.sound[FORCE_SENSOR:] = sound
        change = update_modes(m, forces, clearance, deviation, load, dt, PARAMETERS)
        p = m.contact[PROBABILITY]
        assert ((p >= CERTAIN) & (p <= 1.0 - CERTAIN)).all()
        assert (np.abs(m.contact[OFFSET]) <= LARGEST_OFFSET).all()
        for foot in range(4):
            if change[foot] > 0.0:
                set_down(m, foot)
            elif change[foot] < 0.0:
                lift_off(m, foot)
        trust = m.contact[TRUST]
        assert ((trust >= 0.0) & (trust <= p + CERTAIN)).all()
        assert (trust[m.contact[AGE] < 0.0] == 0.0).all()


TWO = np.array([1.0, 0.0, 0.0, 1.0])
BLOCK = slice(VELOCITY, VELOCITY + 3)


def settled(tilt=0.1):
    m = random_memory(1)
    m.q[3:7] = quaternion_from_rotation(exp3(np.array([0.0, tilt, 1.2])))
    m.P[:] = 1e-4 * np.eye(SIZE)
    m.contact[AGE] = 0.3
    return m


def all_feet(residual):
    return np.tile(residual, (4, 1))


def freedom(m):
    """What the velocity's variance was given, world axes."""
    R = rotation_from_quaternion(m.q[3:7])
    return R @ (m.P[BLOCK, BLOCK] - 1e-4 * np.eye(3)) @ R.T


@pytest.mark.parametrize("jump", [[1.0, 0.0, 0.0], [0.0, -0.5, 0.0], [0.3, 0.4, 0.05]])
def test_a_shared_jump_frees_the_velocity_along_it(jump):
    m = settled()
    assert watch_for_jump(m, all_feet(jump), TWO, DT, PARAMETERS)
    along = np.array([jump[0], jump[1], 0.0]) / np.hypot(jump[0], jump[1])
    across = np.array([-along[1], along[0], 0.0])
    variance, share = JUMP_NOISE**2 * DT, JUMP_SIDEWAYS**2
    wanted = variance * (np.outer(along, along) + share * np.outer(across, across))
    assert_allclose(freedom(m), wanted, atol=1e-12)
    rest = m.P.copy()
    rest[BLOCK, BLOCK] = 1e-4 * np.eye(3)
    assert_array_equal(rest, 1e-4 * np.eye(SIZE))


@pytest.mark.parametrize("up, is_push", [(0.15, True), (-0.15, True), (0.3, False), (-0.3, False)])
def test_feet_that_rise_as_fast_as_they_slide_take_off(up, is_push):
    m = settled()
    assert watch_for_jump(m, all_feet([0.2, -0.2, up]), TWO, DT, PARAMETERS) is is_push
    assert (freedom(m).trace() > 1e-9) == is_push


def test_feet_stand_level_on_unknown_ground():
    """Also where the fore feet have stepped up."""
    m = settled()
    m.normal[:] = 0.0, 0.0, 1.0
    m.contact[TRUST] = 0.0
    m.footprint[:, :2] = [[0.2, -0.1], [0.2, 0.1], [-0.2, -0.1], [-0.2, 0.1]]
    m.footprint[:2, 2] = 0.08
    look_below(m, LEGS, unknown_ground())
    assert_array_equal(m.normal, np.tile([0.0, 0.0, 1.0], (4, 1)))
    assert (m.ground[VARIANCE] > 0.0).all()


@given(st.floats(0.0, 3.0), st.floats(0.0, 2 * np.pi), st.floats(0.1, 1.0))
def test_feet_that_lag_behind_get_less_share(lag, yaw, trust):
    """And turning the world changes nothing."""
    residuals = all_feet([4.0, 0.0, 0.0])
    residuals[3, 0] -= lag
    trusts = np.array([1.0, 1.0, 1.0, trust])
    share = followers(residuals, trusts)
    assert_allclose(share[:3], 1.0)
    assert share[3] == approx(max(0.02, np.exp(-((lag / JUMP_SELECTION) ** 2))))
    turn = exp3(np.array([0.0, 0.0, yaw]))
    assert_allclose(followers(residuals @ turn.T, trusts), share, atol=1e-9)
