"""The compiled contact dynamics and touchdowns are Pinocchio's, with any feet standing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from robots.mujoco_model import load_mujoco
from robots.stance_dynamics import stance_model_of, stance_step
from robots.stance_touchdown import MINIMUM_APPROACH_SPEED, land
from robots.touchdown import UP, touchdown
from tests.a1 import A1

SUBSETS = [np.array([float(mask >> i & 1) for i in range(4)]) for mask in range(16)]


@pytest.fixture(scope="module")
def robot():
    return stance_model_of(load_mujoco(A1))


@pytest.mark.parametrize("contacts", SUBSETS)
def test_a_step_and_its_map_are_pinocchios(robot, dynamics, random_state, contacts):
    for dt in (1e-4, 1e-2):
        q, v, tau = random_state()
        step = stance_step(robot, q, v, tau, contacts, dt)
        for mine, theirs in zip(step[:2], dynamics.step(q, v, tau, contacts, dt), strict=True):
            assert_allclose(mine, theirs, atol=1e-9 * np.abs(theirs).max())
        A = np.empty((36, 36))
        dynamics.step_derivatives_into(q, v, tau, contacts, dt, A, np.empty((36, 12)))
        assert_allclose(step.A, A, atol=1e-9 * np.abs(A).max())
        f = dynamics.acceleration(q, v, tau, contacts)[1]
        assert_allclose(step.load, f[:, 2], atol=1e-9 * max(1.0, np.abs(f).max()))


@pytest.mark.parametrize("junk", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("where", range(3))
def test_numbers_that_cannot_be_raise_nothing_and_are_seen(robot, random_state, junk, where):
    for i in range(12):
        parts = random_state()
        parts[where][-1 - i] = junk
        step = stance_step(robot, *parts, SUBSETS[9], 1e-3)
        if not np.isfinite(junk):
            assert not (np.isfinite(step.q).all() and np.isfinite(step.v).all())
        landing = land(robot, *parts, SUBSETS[1], 2, MINIMUM_APPROACH_SPEED, UP)
        told = landing.transverse and np.isfinite(landing.v_plus).all()
        assert where == 2 or np.isfinite(junk) or not told


@pytest.mark.parametrize("normal", [UP, np.array([-0.3, 0.2, 0.933])])
@pytest.mark.parametrize("foot", range(4))
@pytest.mark.parametrize("contacts", SUBSETS)
def test_a_touchdown_is_pinocchios(robot, dynamics, random_state, contacts, foot, normal):
    slowest = MINIMUM_APPROACH_SPEED
    if contacts[foot]:
        return
    for sign in (1.0, -1.0):
        q, v, tau = random_state()
        wanted = touchdown(dynamics, q, sign * v, tau, contacts, foot, normal=normal)
        landing = land(robot, q, sign * v, tau, contacts, foot, slowest, normal)
        assert landing.transverse == (wanted.transverse)
        assert landing.normal_velocity == approx(wanted.normal_velocity, abs=1e-12)
        if landing.transverse:
            for name in ("v_plus", "reset_jacobian", "saltation", "guard_shift"):
                theirs = getattr(wanted, name)
                mine, scale = getattr(landing, name), np.abs(theirs).max()
                assert_allclose(mine, theirs, atol=1e-8 * scale, err_msg=name)
