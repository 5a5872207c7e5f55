"""One compiled tick against the same tick put together in Python, with Pinocchio's dynamics."""

import numpy as np
import pytest

from estimator import rows
from estimator.salted.advance import (
    OFF_THE_LINE,
    advance,
    before_prediction,
    correct_all,
    modes_after_prediction,
    timed_reset,
)
from estimator.salted.contacts import lift_off, set_down
from estimator.salted.measurements import mirror, take_accelerometer
from estimator.salted.memory import AGE, HELD, PROBABILITY, SIZE, STATES, TRUST, new_memory
from estimator.salted.memory import ROBOT as ROBOT_STATES
from estimator.salted.prediction import coast, predict, reset
from robots.contact_dynamics import ContactDynamics
from robots.mujoco_model import load_mujoco
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.stance_dynamics import stance_model_of
from robots.state import integrate
from robots.touchdown import touchdown
from tests.a1 import A1
from tests.estimator.salted_case import ALL_SOUND, LEGS, PARAMETERS, RECORD, random_memory

MODEL = load_pinocchio(A1)
DYNAMICS, ROBOT = ContactDynamics(MODEL, foot_frame_ids(MODEL)), stance_model_of(load_mujoco(A1))
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


def in_python(m, row, dt):
    """The tick, and how many impacts there were."""
    if dt > 1.5 * TICK:
        if dt - TICK > PARAMETERS.longest_bridge:
            coast(m, dt - TICK, PARAMETERS)
        else:
            bridge(m, row[rows.ACCELERATION : rows.POSITION], round(dt / TICK) - 1)
        dt = TICK
    jumping, share = before_prediction(m, LEGS, row, ALL_SOUND, dt, PARAMETERS)
    load = flow(m, m.contact[AGE] >= 0.0, dt)
    change = modes_after_prediction(m, LEGS, row, ALL_SOUND, dt, PARAMETERS, load)
    for foot in np.flatnonzero(change < 0.0):
        lift_off(m, foot)
    for foot in np.flatnonzero(change > 0.0):
        hit = touchdown(DYNAMICS, m.q, m.v, m.torque, m.contact[AGE] >= 0.0, int(foot))
        assert hit.status == "ok"
        timed = timed_reset(hit, PARAMETERS.terrain_noise, PARAMETERS.touchdown_delay)
        reset(m, LEGS, hit.v_plus, timed.jacobian, timed.noise, PARAMETERS)
        set_down(m, foot)
    sound = correct_all(m, LEGS, row, ALL_SOUND, jumping, share, load, dt, PARAMETERS)
    return sound, int((change > 0.0).sum())


def bridge(m, force, ticks):
    standing, line = m.contact[AGE] >= 0.0, np.linspace(m.force, force, ticks + 2)
    for between in line[1:-1]:
        standing &= ~(flow(m, standing, TICK) < 0.0)
        d = np.zeros(SIZE)
        take_accelerometer(m, d, between, OFF_THE_LINE * np.abs(force - m.force), TICK, PARAMETERS)
        mirror(m.P)
        m.q[:], m.v[:] = integrate(m.q, m.v, d[:ROBOT_STATES])
        m.bias[:] += d[ROBOT_STATES:STATES]


def flow(m, standing, dt):
    load = DYNAMICS.acceleration(m.q, m.v, m.torque, standing)[1][:, 2].copy()
    A, _ = DYNAMICS.step_derivatives(m.q, m.v, m.torque, standing, dt)
    q, v = DYNAMICS.step(m.q, m.v, m.torque, standing, dt)
    predict(m, q, v, A, dt, PARAMETERS)
    return load


@pytest.mark.parametrize("dt", [1e-3, 0.9e-3, 2e-3, 0.006, 0.05])
def test_a_tick_is_its_parts_with_pinocchios_dynamics(dt):
    impacts = 0
    for seed in range(12):
        m, row = case(seed)
        wanted = m.copy()
        sound, landed = in_python(wanted, row, dt)
        assert advance(m, RECORD[0], ROBOT, row, ALL_SOUND, dt, PARAMETERS) == sound
        impacts += landed
        for name in m.dtype.names[1:]:  # past the monitor's
            mine, theirs = getattr(m, name), getattr(wanted, name)
            scale = max(1e-3, np.abs(theirs).max())
            np.testing.assert_allclose(mine, theirs, atol=1e-8 * scale, err_msg=name)
    assert impacts > 3


@pytest.mark.parametrize("junk", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("part", ["q", "v", "torque", "P"])
def test_a_memory_of_junk_is_told_and_raises_nothing(part, junk):
    for seed in range(6):
        m, row = case(seed)
        getattr(m, part)[seed] = junk
        row[rows.TORQUE : rows.FORCE] = m.torque
        sound = advance(m, RECORD[0], ROBOT, row, ALL_SOUND, TICK, PARAMETERS)
        # A place 1e300 m away is one.
        assert not sound or (part == "q" and junk == 1e300)


@pytest.mark.parametrize(("force", "jumps"), [(60.0, True), (5.0, False)])
def test_feet_that_have_lost_their_load_tell_of_no_jump(force, jumps):
    m, row = new_memory(RECORD)[0], np.zeros(rows.ROW)
    m.P[:] = 1e-4 * np.eye(len(m.P))
    m.contact[AGE], m.contact[TRUST], m.contact[HELD] = 0.3, 1.0, 0.1
    row[rows.POSITION : rows.VELOCITY], row[rows.FORCE :] = m.q[7:], force
    m.v[0] = 1.0
    assert before_prediction(m, LEGS, row, ALL_SOUND, TICK, PARAMETERS)[0] == jumps
