import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from robots.rotations import (
    exp3,
    log3,
    log3_jacobian,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
    skew,
)
from tests.differences import slopes

VECTORS = st.tuples(*[st.floats(-10.0, 10.0)] * 3).map(np.array)
FOURS = st.tuples(*[st.floats(-1.0, 1.0)] * 4).map(np.array)
QUATERNIONS = FOURS.filter(lambda x: np.linalg.norm(x) > 0.1).map(lambda x: x / np.linalg.norm(x))


@given(QUATERNIONS, QUATERNIONS)
def test_product_of_quaternions_is_the_product_of_rotations(a, b):
    together = rotation_from_quaternion(quaternion_product(a, b))
    R = rotation_from_quaternion(a) @ rotation_from_quaternion(b)
    assert together == approx(R, abs=1e-14)
    assert R @ R.T == approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(R) == approx(1.0)


@given(QUATERNIONS)
def test_quaternion_and_rotation_are_inverse(quaternion):
    back = quaternion_from_rotation(rotation_from_quaternion(quaternion))
    assert back[3] >= 0.0
    assert min(np.abs(back - quaternion).max(), np.abs(back + quaternion).max()) < 1e-14


@settings(max_examples=100)
@given(VECTORS)
def test_log_inverts_exp_up_to_whole_turns(phi):
    R = exp3(phi)
    back = log3(R)
    assert np.linalg.norm(back) <= np.pi + 1e-12
    assert exp3(back) == approx(R, abs=1e-12)
    if np.linalg.norm(phi) < np.pi - 1e-3:
        assert back == approx(phi, abs=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 9.9e-5, 1.01e-4, 1e-2, np.pi - 1e-6, np.pi])
def test_exp_and_log_are_accurate_at_their_thresholds(angle):
    axis = np.array([0.6, 0.0, -0.8])
    cross = skew(axis)
    rodrigues = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    assert exp3(angle * axis) == approx(rodrigues, abs=1e-14)
    error = np.abs(log3(rodrigues) - angle * axis).max()
    if angle == np.pi:  # both directions are right half a turn away
        error = min(error, np.abs(log3(rodrigues) + angle * axis).max())
    assert error < 1e-9


@pytest.mark.parametrize("size", [0.0, 1e-6, 9e-4, 1.1e-3, 0.5, 3.0])
def test_log_jacobian_is_the_derivative(size):
    phi = size * np.array([0.36, -0.48, 0.8])
    found = slopes(lambda d: log3(exp3(phi) @ exp3(d)), np.zeros(3))
    assert log3_jacobian(phi) == approx(found, abs=1e-8)
