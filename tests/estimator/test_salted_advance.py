"""One compiled tick: the gap before it, junk that is told, and feet without load."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from estimator import rows
from estimator.salted.advance import (
    advance,
    before_prediction,
    modes_after_prediction,
    start,
)
from estimator.salted.memory import AGE, HELD, PROBABILITY, TRUST, new_memory
from robots.conventions import GRAVITY
from robots.mujoco_model import load_mujoco
from robots.stance_dynamics import stance_model_of
from tests.a1 import A1
from tests.estimator.fault_scenarios import sensor_row
from tests.estimator.salted_case import (
    LEGS,
    PARAMETERS,
    RECORD,
    random_memory,
    with_options,
)
from tests.estimator.standing_robot import StandingRobot
from tests.estimator.synthetic_walk import Noise

ROBOT = stance_model_of(load_mujoco(A1))
TICK = 1e-3


def case(seed):
    """A robot with some feet on the ground, some about to land, and a reading near its state."""
    m, random = random_memory(seed), np.random.default_rng(seed)
    m.P[:] *= 1e-4
    m.contact[AGE] = random.choice([-1.0, 0.002, 0.3], 4)
    standing = m.contact[AGE] >= 0.0
    m.contact[PROBABILITY] = np.where(standing, 0.9, 0.6)
    m.contact[TRUST], m.contact[HELD] = 0.8 * standing, 0.1 * standing
    row = np.empty(rows.ROW)
    row[:4] = m.q[3:7]
    row[rows.GYRO : rows.ACCELERATION] = m.v[3:6] + 0.01 * random.standard_normal(3)
    row[rows.ACCELERATION : rows.POSITION] = 10.0 * random.standard_normal(3)
    row[rows.POSITION : rows.VELOCITY] = m.q[7:] + 1e-3 * random.standard_normal(12)
    row[rows.VELOCITY : rows.TORQUE] = m.v[6:] + 0.1 * random.standard_normal(12)
    row[rows.TORQUE : rows.FORCE] = 5.0 * random.standard_normal(12)
    row[rows.FORCE :] = random.choice([0.0, 40.0], 4)
    return m, row


@pytest.mark.parametrize("junk", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("part", ["q", "v", "torque", "P"])
def test_a_memory_of_junk_is_told_and_raises_nothing(part, junk):
    for seed in range(6):
        m, row = case(seed)
        getattr(m, part)[seed] = junk
        row[rows.TORQUE : rows.FORCE] = m.torque
        sound = advance(m, RECORD[0], ROBOT, row, TICK, PARAMETERS)
        # A place 1e300 m away is one.
        assert not sound or (part == "q" and junk == 1e300)


def test_in_a_gap_the_feet_go_on_carrying():
    m, row = new_memory(RECORD)[0], sensor_row(StandingRobot(Noise()).reading())
    start(m, LEGS, row, np.zeros(2), PARAMETERS)
    m.contact[AGE], m.past.sound[:] = 0.3, 0.0
    assert advance(m, RECORD[0], ROBOT, row, 6 * TICK, PARAMETERS)
    assert np.abs(m.v[:3]).max() < 0.1 * 6 * TICK * GRAVITY


@pytest.mark.parametrize("ticks", [1, 5])
def test_between_readings_it_moves_by_the_line_of_specific_forces(ticks):
    """In flight, where the accelerometer is exact, and all that is known of the motion."""
    m, row = new_memory(RECORD)[0], np.zeros(rows.ROW)
    m.contact[AGE], m.q[2], m.P[:] = -1.0, 5.0, 1e-6 * np.eye(len(m.P))
    m.v[0] = 1.0
    row[rows.ACCELERATION : rows.POSITION] = force = np.array([2.0, -1.0, 6.0])
    m.past.sound[:] = np.arange(rows.JUDGED) == rows.ACCELEROMETER
    exact = with_options(
        accelerometer_noise=1e-6, accelerometer_relative_noise=1e-9, acceleration_noise=1e3
    )
    assert advance(m, RECORD[0], ROBOT, row, ticks * TICK, exact)
    shares = np.linspace(0.0, 1.0, ticks + 1).sum()  # of the way from no force to that of the row
    expected = TICK * (shares * force - [0.0, 0.0, ticks * GRAVITY])
    assert_allclose(m.v[:3] - [1.0, 0.0, 0.0], expected, atol=1e-5)
    assert m.q[0] == approx(ticks * TICK, rel=0.02)


@pytest.mark.parametrize("speed, has_impact", [(0.3, True), (0.01, False)])
def test_feet_that_come_down_briskly_have_an_impact(speed, has_impact):
    m, row, feet = new_memory(RECORD)[0], np.full(rows.ROW, 60.0), np.zeros(4)
    m.contact[PROBABILITY], m.v[2] = 0.9, -speed
    change = modes_after_prediction(m, LEGS, row, TICK, PARAMETERS, feet)
    assert (change == has_impact).all() and (m.contact[AGE] < 0.0).all() == has_impact


@pytest.mark.parametrize("force, jumps", [(60.0, True), (5.0, False)])
def test_feet_that_have_lost_their_load_tell_of_no_jump(force, jumps):
    m, row = new_memory(RECORD)[0], np.zeros(rows.ROW)
    m.P[:] = 1e-4 * np.eye(len(m.P))
    m.contact[AGE], m.contact[TRUST], m.contact[HELD] = 0.3, 1.0, 0.1
    row[rows.POSITION : rows.VELOCITY], row[rows.FORCE :] = m.q[7:], force
    m.v[0] = 1.0
    assert before_prediction(m, LEGS, row, TICK, PARAMETERS)[0] == jumps
