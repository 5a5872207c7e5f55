"""What the filter makes of a change of modes: the impact's velocity, its map of the errors."""

import numpy as np
import pinocchio as pin
import pytest

from estimator.salted.advance import change_modes, timed_reset
from estimator.salted.memory import AGE, Memory
from estimator.salted.prediction import reset
from robots.contact_dynamics import ContactDynamics
from robots.mujoco_model import load_mujoco
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.stance_dynamics import stance_model_of
from robots.touchdown import impact, touchdown
from tests.a1 import A1
from tests.estimator.salted_case import LEGS, PARAMETERS, copy, random_memory

MODEL = load_pinocchio(A1)
DYNAMICS = ContactDynamics(MODEL, foot_frame_ids(MODEL))
ROBOT = stance_model_of(load_mujoco(A1))
SENSED = np.array([True, True, False, True])
ONE = np.array([1.0, 0.0, 0.0, 0.0])


def landing(seed: int, foot: int) -> Memory:
    """Foot 0 stands still; `foot` comes down at more than 0.3 m/s."""
    m = random_memory(seed)
    m.contact[AGE] = [0.1, -1.0, -1.0, -1.0]
    m.v[:] = impact(DYNAMICS, m.q, m.v, ONE).v_plus
    frame = foot_frame_ids(MODEL)[foot]
    J = pin.computeFrameJacobian(MODEL, MODEL.createData(), m.q, frame, pin.LOCAL_WORLD_ALIGNED)
    down = float(J[2] @ m.v)
    assert abs(down) > 0.3
    m.v[:] *= -np.sign(down)
    return m


def change(m: Memory, changes: list[float]) -> Memory:
    after = copy(m)
    change_modes(after, LEGS, ROBOT, np.array(changes), SENSED, PARAMETERS)
    return after


@pytest.mark.parametrize(("foot", "delay"), [(1, None), (2, np.inf)])
def test_a_foot_that_lands_resets_the_state_by_its_impact(foot: int, delay: float | None) -> None:
    """With its force sensor at fault the guard alone says when: then the map is Xi itself."""
    m, changes = landing(1, foot), [0.0] * 4
    changes[foot] = 1.0
    hit = touchdown(DYNAMICS, m.q, m.v, m.torque, ONE, foot)
    delay = PARAMETERS.touchdown_delay if delay is None else delay
    timed = timed_reset(hit, PARAMETERS.terrain_noise, delay)
    after, wanted = change(m, changes), copy(m)
    reset(wanted, LEGS, hit.v_plus, timed.jacobian, timed.noise, PARAMETERS)
    assert np.linalg.norm(hit.v_plus - m.v) > 0.1
    np.testing.assert_allclose(after.v, wanted.v, atol=1e-9)
    np.testing.assert_allclose(after.P, wanted.P, atol=1e-9 * wanted.P.max())
    np.testing.assert_array_equal(after.q, m.q)
    assert after.contact[AGE, foot] == 0.0
    assert (timed.kappa == 1.0) == np.isinf(delay)


def test_two_feet_land_one_after_the_other_and_then_both_rest() -> None:
    m = landing(1, 1)
    after = change(m, [0.0, 1.0, 1.0, 0.0])
    together = impact(DYNAMICS, m.q, m.v, np.array([1.0, 1.0, 1.0, 0.0])).v_plus
    one = change(m, [0.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(after.contact[AGE], [0.1, 0.0, 0.0, -1.0])
    v = change(one, [0.0, 0.0, 1.0, 0.0]).v
    np.testing.assert_allclose(change(m, [0.0, 1.0, 1.0, 0.0]).v, v, atol=1e-12)
    # The second stop of a foot that rests changes nothing: the impact is a projection.
    np.testing.assert_allclose(v, together, atol=1e-8)


def test_lifting_off_changes_neither_state_nor_covariance() -> None:
    m = landing(1, 1)
    after = change(m, [-1.0, 0.0, 0.0, 0.0])
    for name in ("q", "v", "bias", "previous", "P"):
        np.testing.assert_array_equal(getattr(after, name), getattr(m, name))
    assert after.contact[AGE, 0] == -1.0


@pytest.mark.parametrize("factor", [0.0, -1.0])
def test_a_foot_that_does_not_come_down_has_no_impact(factor: float) -> None:
    """Grazing or going up, it begins to stand all the same."""
    m = landing(1, 1)
    m.v[:] *= factor
    after = change(m, [0.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(after.v, m.v)
    np.testing.assert_array_equal(after.P, m.P)
    assert after.contact[AGE, 1] == 0.0
