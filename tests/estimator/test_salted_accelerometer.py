"""The accelerometer's row beside the dynamics: a whole tick by finite differences, and impacts."""

import numpy as np
import pytest

from estimator.salted.measurements import take_accelerometer
from estimator.salted.memory import PREVIOUS, ROBOT, SIZE, Memory
from estimator.salted.prediction import predict
from robots.contact_dynamics import ContactDynamics
from robots.conventions import GRAVITY
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.rotations import rotation_from_quaternion
from robots.state import integrate
from tests.a1 import A1
from tests.estimator.salted_case import (
    PARAMETERS,
    differentiate,
    random_memory,
    with_options,
)

DT = 1e-3
DIAGONAL = np.array([1.0, 0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def dynamics() -> ContactDynamics:
    model = load_pinocchio(A1)
    return ContactDynamics(model, foot_frame_ids(model))


def specific_force(q: np.ndarray, v: np.ndarray, q_new: np.ndarray, v_new: np.ndarray):
    """Mean over a tick, in the axes at its end."""
    R, R_new = rotation_from_quaternion(q[3:7]), rotation_from_quaternion(q_new[3:7])
    return (v_new[:3] - R_new.T @ R @ v[:3]) / DT + GRAVITY * R_new[2]


def rows_of_accelerometer(m: Memory) -> np.ndarray:
    """H (3, 48), read from the gains that a tiny P leads to."""
    H, small = np.empty((3, SIZE)), 1e-12
    numbers = with_options(accelerometer_noise=1.0, accelerometer_relative_noise=1e-30)
    at_rest = (m.v[:3] - m.previous) / DT + GRAVITY * rotation_from_quaternion(m.q[3:7])[2]
    for i in range(3):
        m.P[:], d = small * np.eye(SIZE), np.zeros(SIZE)
        force = at_rest + m.bias[3:6] + np.eye(3)[i]
        take_accelerometer(m, d, force, np.zeros(3), DT, numbers)
        H[i] = d / small
    return H


@pytest.mark.parametrize("seed", range(4))
def test_it_measures_a_whole_tick_of_the_dynamics(dynamics: ContactDynamics, seed: int) -> None:
    """H times the transition is how the reading depends on the state a tick before."""
    m = random_memory(seed)
    q, v = m.q.copy(), m.v.copy()

    def measured(dx: np.ndarray) -> np.ndarray:
        before = integrate(q, v, dx)
        return specific_force(*before, *dynamics.step(*before, m.torque, DIAGONAL, DT))

    q_new, v_new = dynamics.step(q, v, m.torque, DIAGONAL, DT)
    A, _ = dynamics.step_derivatives(q, v, m.torque, DIAGONAL, DT)
    predict(m, q_new, v_new, A, DT, PARAMETERS)
    H, turn = rows_of_accelerometer(m), np.zeros((3, ROBOT))
    turn[:, 18:21] = rotation_from_quaternion(q_new[3:7]).T @ rotation_from_quaternion(q[3:7])
    found = H[:, :ROBOT] @ A + H[:, PREVIOUS:] @ turn
    # What a tick turns is taken to first order: a few mm/s2 of dw times v, beside metres.
    np.testing.assert_allclose(found, differentiate(measured, ROBOT, 1e-7), atol=8e-3)
