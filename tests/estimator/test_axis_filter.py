"""One axis of the filter against the dense textbook equations."""

import numpy as np

from estimator.leg_odometry import FEET, NO_STATE, POSITION, VELOCITY, correct, predict


def random_covariance(seed: int) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((6, 6))
    return root @ root.T + 0.1 * np.eye(6)


def test_predict_is_the_textbook_prediction() -> None:
    dt, a, velocity_variance, position_variance = 0.01, 3.0, 0.2, 0.05
    x, covariance = np.arange(6.0), random_covariance(0)
    transition = np.eye(6)
    transition[POSITION, VELOCITY] = dt
    noise_input = np.array([0.5 * dt, 1.0, 0, 0, 0, 0])
    expected_x = transition @ x + a * np.array([0.5 * dt**2, dt, 0, 0, 0, 0])
    expected = transition @ covariance @ transition.T
    expected += velocity_variance * np.outer(noise_input, noise_input)
    expected[POSITION, POSITION] += position_variance
    predict(x, covariance, a, dt, velocity_variance, position_variance)
    np.testing.assert_allclose(x, expected_x, rtol=1e-14)
    np.testing.assert_allclose(covariance, expected, rtol=1e-13)


def test_scalar_corrections_equal_the_batch_whatever_their_order() -> None:
    x, covariance = np.arange(6.0), random_covariance(2)
    rows = np.array([np.eye(6)[FEET + i] - np.eye(6)[POSITION] for i in range(4)])
    rows = np.vstack([rows, np.eye(6)[VELOCITY]])
    measured, variances = np.arange(5.0), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    gain = covariance @ rows.T @ np.linalg.inv(rows @ covariance @ rows.T + np.diag(variances))
    expected_x = x + gain @ (measured - rows @ x)
    expected = covariance - gain @ rows @ covariance
    for i in (4, 2, 0, 3, 1):
        plus, minus = (VELOCITY, NO_STATE) if i == 4 else (FEET + i, POSITION)
        correct(x, covariance, plus, minus, measured[i], variances[i])
    np.testing.assert_allclose(x, expected_x, rtol=1e-10)
    np.testing.assert_allclose(covariance, expected, atol=1e-11)
    assert np.array_equal(covariance, covariance.T)
