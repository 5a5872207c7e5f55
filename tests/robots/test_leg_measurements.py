"""The measurement model against finite differences of positions and rotations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots.legs import leg_measurements, slip_speeds
from robots.rotations import exp3, log3
from tests.a1 import A1
from tests.differences import slopes

STEP = 1e-6


def random_case(seed):
    random = np.random.default_rng(seed)
    return (
        exp3(random.uniform(-2.0, 2.0, 3)),
        random.uniform(-3.0, 3.0, 3),
        random.uniform(A1.legs.lower, A1.legs.upper),
        random.uniform(-5.0, 5.0, 12),
    )


@pytest.mark.parametrize("seed", range(5))
def test_velocities_are_the_time_derivative_of_positions(seed):
    rotation, omega, joints, rates = random_case(seed)
    _, velocities, _ = leg_measurements(
        A1.legs, rotation, omega, joints, rates, A1.legs.foot_radius
    )

    def positions(t):
        turned, moved = rotation @ exp3(t * omega), joints + t * rates
        return leg_measurements(A1.legs, turned, omega, moved, rates, 0.02)[0]

    assert_allclose(velocities, slopes(positions, 0.0), atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_a_rolling_foot_rests_at_its_contact_point(seed):
    """The calf's angular velocity, differenced from its rotation, times the foot's radius."""
    rotation, omega, joints, rates = random_case(seed)
    _, _, rolling = leg_measurements(A1.legs, rotation, omega, joints, rates, A1.legs.foot_radius)

    def calf(i, time):
        hip, thigh, knee = (joints + time * rates)[3 * i : 3 * i + 3]
        leg = exp3(np.array([hip, 0.0, 0.0])) @ exp3(np.array([0.0, thigh + knee, 0.0]))
        return rotation @ exp3(time * omega) @ leg

    for i in range(4):
        turn = log3(calf(i, STEP) @ calf(i, -STEP).T) / (2.0 * STEP)
        centre_from_contact = np.array([0.0, 0.0, A1.legs.foot_radius])
        assert_allclose(rolling[i], np.cross(turn, centre_from_contact), atol=1e-7)


def test_feet_slip_at_the_speed_at_which_they_are_dragged():
    q = np.concatenate([np.zeros(6), [1.0], A1.stand])
    v = np.concatenate([[0.3, 0.4, 0.7], np.zeros(15)])
    assert_allclose(slip_speeds(A1.legs, q, v), 0.5)
