import numpy as np
import pinocchio as pin
import pytest
from pytest import approx

from robots.state import (
    difference,
    difference_jacobian,
    integrate,
    mujoco_from_pinocchio,
    pinocchio_from_mujoco,
)


@pytest.fixture
def tangent():
    rng = np.random.default_rng(7)
    return lambda: rng.uniform(-1.0, 1.0, size=36)


def test_integrate_inverts_difference(random_state):
    for _ in range(20):
        (q, v, _), (q2, v2, _) = random_state(), random_state()
        q3, v3 = integrate(q, v, difference(q, v, q2, v2))
        sign = np.sign(q3[3:7] @ q2[3:7])  # q and -q are one attitude
        q3[3:7] *= sign
        assert q3 == approx(q2, abs=1e-12)
        assert v3 == approx(v2, abs=1e-12)


def test_a_state_does_not_differ_from_itself_whatever_the_quaternion_sign(random_state):
    q, v, _ = random_state()
    other = q.copy()
    other[3:7] *= -1.0
    assert np.abs(difference(q, v, other, v)).max() < 1e-15


def test_agrees_with_pinocchio_to_first_order(model, random_state, tangent):
    q, v, _ = random_state()
    direction = tangent()
    errors = []
    for size in (1e-2, 1e-3):
        q2, _ = integrate(q, v, size * direction)
        ours = difference(q, v, q2, v)[:18]
        errors.append(np.abs(pin.difference(model, q, q2) - ours).max())
    assert errors[0] < 1e-3
    assert errors[1] < errors[0] / 80.0  # the two part at second order


def test_difference_jacobian_is_the_derivative(random_state, tangent):
    h = 1e-6
    for _ in range(5):
        q_ref, v, _ = random_state()
        q, _ = integrate(q_ref, v, tangent())
        columns = []
        for e in np.eye(36)[:6]:
            plus, minus = (integrate(q, v, s * h * e)[0] for s in (1.0, -1.0))
            change = difference(q_ref, v, plus, v) - difference(q_ref, v, minus, v)
            columns.append(change[:6] / (2.0 * h))
        assert difference_jacobian(q_ref, q) == approx(np.array(columns).T, abs=1e-8)


def test_mujoco_convention_round_trip_and_meaning(random_state):
    q, v, _ = random_state()
    qpos, qvel = mujoco_from_pinocchio(q, v)
    q_back, v_back = pinocchio_from_mujoco(qpos, qvel)
    assert np.all(q_back == q)
    assert v_back == approx(v, abs=1e-14)
    assert qpos[3] == q[6]
    assert np.linalg.norm(qvel[:3]) == approx(np.linalg.norm(v[:3]))
    assert np.all(qvel[3:] == v[3:])
