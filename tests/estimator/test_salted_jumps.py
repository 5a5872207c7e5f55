"""Jumps of the base that all standing feet agree on, and a foot that slips alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator.salted.contacts import followers, watch_for_jump
from estimator.salted.memory import AGE, SIZE, VELOCITY, Memory
from robots.rotations import exp3, quaternion_from_rotation, rotation_from_quaternion
from tests.estimator.salted_case import PARAMETERS, random_memory

DT = 1e-3
TWO = np.array([1.0, 0.0, 0.0, 1.0])
BLOCK = slice(VELOCITY, VELOCITY + 3)


def settled(tilt: float = 0.1) -> Memory:
    m = random_memory(1)
    m.q[3:7] = quaternion_from_rotation(exp3(np.array([0.0, tilt, 1.2])))
    m.P[:] = 1e-4 * np.eye(SIZE)
    m.contact[AGE] = 0.3
    return m


def all_feet(residual: list[float]) -> np.ndarray:
    return np.tile(residual, (4, 1))


def freedom(m: Memory) -> np.ndarray:
    """What the velocity's variance was given, world axes."""
    R = rotation_from_quaternion(m.q[3:7])
    return R @ (m.P[BLOCK, BLOCK] - 1e-4 * np.eye(3)) @ R.T


@pytest.mark.parametrize("jump", [[1.0, 0.0, 0.0], [0.0, -0.5, 0.0], [0.3, 0.4, 0.05]])
def test_a_shared_jump_frees_the_velocity_along_it(jump: list[float]) -> None:
    m = settled()
    assert watch_for_jump(m, all_feet(jump), TWO, DT, PARAMETERS)
    along = np.array([jump[0], jump[1], 0.0]) / np.hypot(jump[0], jump[1])
    across = np.array([-along[1], along[0], 0.0])
    variance, share = PARAMETERS.jump_noise**2 * DT, PARAMETERS.jump_sideways**2
    wanted = variance * (np.outer(along, along) + share * np.outer(across, across))
    np.testing.assert_allclose(freedom(m), wanted, atol=1e-12)
    rest = m.P.copy()
    rest[BLOCK, BLOCK] = 1e-4 * np.eye(3)
    np.testing.assert_array_equal(rest, 1e-4 * np.eye(SIZE))


def test_the_window_closes_and_the_covariance_is_left_alone_then() -> None:
    m = settled()
    watch_for_jump(m, all_feet([1.0, 0.0, 0.0]), TWO, DT, PARAMETERS)
    m.P[:], ticks = 1e-4 * np.eye(SIZE), 0
    while watch_for_jump(m, np.zeros((4, 3)), TWO, DT, PARAMETERS):
        ticks += 1
    assert ticks == round(PARAMETERS.jump_window / DT) - 1
    before = m.P.copy()
    assert not watch_for_jump(m, np.zeros((4, 3)), TWO, DT, PARAMETERS)
    np.testing.assert_array_equal(m.P, before)


@pytest.mark.parametrize("residual", [[0.0, 0.0, -0.3], [-0.06, 0.0, -0.3], [0.1, 0.1, 1.0]])
def test_feet_that_spring_back_tell_no_jump(residual: list[float]) -> None:
    assert not watch_for_jump(settled(), all_feet(residual), np.ones(4), DT, PARAMETERS)


def test_the_window_closes_when_no_foot_stands() -> None:
    m = settled()
    assert watch_for_jump(m, all_feet([1.0, 0.0, 0.0]), TWO, DT, PARAMETERS)
    before = m.P.copy()
    m.contact[AGE] = -1.0
    assert not watch_for_jump(m, np.zeros((4, 3)), np.zeros(4), DT, PARAMETERS)
    np.testing.assert_array_equal(m.P, before)


@pytest.mark.parametrize("trust", [np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0])])
def test_one_foot_alone_tells_no_jump(trust: np.ndarray) -> None:
    assert not watch_for_jump(settled(), all_feet([2.0, 0.0, 0.0]), trust, DT, PARAMETERS)


@pytest.mark.parametrize("trust", [TWO, np.ones(4)])
@pytest.mark.parametrize("slip", [0.2, 1.0, 5.0])
def test_a_foot_that_slips_among_others_tells_no_jump(trust: np.ndarray, slip: float) -> None:
    m, residuals = settled(), np.zeros((4, 3))
    residuals[0, 1] = slip
    for _ in range(5):
        assert not watch_for_jump(m, residuals, trust, DT, PARAMETERS)


def test_noise_of_the_velocity_itself_is_no_jump() -> None:
    m = settled()
    m.P[BLOCK, BLOCK] = 0.25 * np.eye(3)
    assert not watch_for_jump(m, all_feet([0.5, 0.0, 0.0]), TWO, DT, PARAMETERS)


@given(st.floats(0.0, 3.0), st.floats(0.0, 2 * np.pi), st.floats(0.1, 1.0))
def test_feet_that_lag_behind_get_less_share(lag: float, yaw: float, trust: float) -> None:
    """And turning the world changes nothing."""
    residuals = all_feet([4.0, 0.0, 0.0])
    residuals[3, 0] -= lag
    trusts = np.array([1.0, 1.0, 1.0, trust])
    share = followers(residuals, trusts, PARAMETERS)
    np.testing.assert_allclose(share[:3], 1.0)
    assert share[3] == pytest.approx(max(0.02, np.exp(-((lag / PARAMETERS.jump_selection) ** 2))))
    turn = exp3(np.array([0.0, 0.0, yaw]))
    np.testing.assert_allclose(followers(residuals @ turn.T, trusts, PARAMETERS), share, atol=1e-9)


def test_without_residuals_every_foot_keeps_its_share() -> None:
    np.testing.assert_array_equal(followers(np.zeros((4, 3)), TWO, PARAMETERS), 1.0)
