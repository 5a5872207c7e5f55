"""What standing feet tell, against a batch update with an H by finite differences."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from estimator.salted.measurements import foot_rows, take_standing_feet
from estimator.salted.memory import AGE, POSITION, SIZE, VELOCITY
from tests.differences import slopes
from tests.estimator.salted_case import (
    LEGS,
    PARAMETERS,
    check_rows,
    disturbed,
    random_memory,
    with_options,
)

NOISY = with_options(foot_velocity_noise=0.5, foot_vertical_noise=0.9, height_noise=0.3, huber=1e6)
FIRST = np.array([1.0, 0.0, 0.0, 0.0])
TILTED = np.array([[0.3, 0.0, 1.0], [-0.1, 0.2, 1.0], [0.0, -0.4, 1.0], [0.0, 0.0, 1.0]])


def standing(seed):
    """Feet about on the ground, for long but for one in the air."""
    m = random_memory(seed)
    m.q[2] += 0.02 - foot_rows(LEGS, m.q, m.v, np.zeros(4), m.normal).height.mean()
    m.contact[AGE] = [5.0, 5.0, 5.0, -1.0]
    return m


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_standing_feet(seed):
    """Without load, on slopes; untrusted feet say nothing, half trusted ones half."""
    m = standing(seed)
    m.normal[:] = TILTED / np.linalg.norm(TILTED, axis=1, keepdims=True)
    axes = [np.vstack((np.linalg.svd(up[None])[2][1:], up)) for up in m.normal[:3]]
    load, trust = np.array([0.0, -5.0, 0.0, 20.0]), np.array([1.0, 0.5, 1.0, 0.04])

    def residual(m):
        feet = foot_rows(LEGS, m.q, m.v, np.full(4, 0.02), m.normal)
        velocity = [each @ v for each, v in zip(axes, feet.velocity, strict=False)]
        return -np.column_stack((velocity, feet.height[:3] - 0.02)).ravel()

    H = -slopes(lambda d: residual(disturbed(m, d)), np.zeros(SIZE))
    deviations = np.array([0.5, 0.5, 0.9, 0.3]) / trust[:3, None]
    check_rows(
        m,
        lambda m, d: take_standing_feet(m, LEGS, d, load, trust, True, NOISY),
        H,
        residual(m),
        deviations.ravel(),
    )


def found_by_first_foot(load):
    """Height and velocity of the base that foot 0 with a turning calf asks for, all else known."""
    m, d = standing(3), np.zeros(SIZE)
    m.q[3:7], m.v[:], m.P[:] = [0.0, 0.0, 0.0, 1.0], 0.0, 0.0
    m.v[8] = 4.0
    for i in (POSITION + 2, VELOCITY, VELOCITY + 1, VELOCITY + 2):
        m.P[i, i] = 1e6
    take_standing_feet(m, LEGS, d, np.full(4, load), FIRST, True, PARAMETERS)
    return d[POSITION + 2], d[VELOCITY : VELOCITY + 3]


def test_a_load_presses_the_foot_in_and_it_rolls_on_half_that_less():
    height, velocity = found_by_first_foot(0.0)
    sunk = []
    for load in (10.0, 30.0, 60.0):
        pressed, slower = found_by_first_foot(load)
        sunk.append(height - pressed)
        lost = np.linalg.norm(slower - velocity)
        assert_allclose(lost, 4.0 * 0.5 * sunk[-1], rtol=1e-4)
    assert 0.0 < sunk[0] < sunk[1] < sunk[2] < 0.004


def correction(jumping, speed, age=5.0):
    """Size of the correction by one foot that moves at `speed`, with P as small as its noise."""
    m, d = standing(3), np.zeros(SIZE)
    m.contact[AGE, 0] = age
    m.v[:] = 0.0
    m.v[0], m.P[:] = speed, 1e-4 * np.eye(SIZE)
    options = with_options(height_noise=1e3, foot_velocity_noise=0.01, foot_vertical_noise=0.06)
    take_standing_feet(m, LEGS, d, np.zeros(4), FIRST, jumping, options)
    return float(np.linalg.norm(d))


def test_a_foot_that_contradicts_the_state_counts_less_unless_a_jump_is_under_way():
    assert correction(False, 1e-3) == correction(True, 1e-3)
    assert 0.0 < correction(False, 2.0) < 0.3 * correction(True, 2.0)
    assert correction(False, 1.0) < correction(False, 2.0)  # Huber's: never less for more
