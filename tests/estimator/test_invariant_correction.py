"""The update against the textbook, and what it does with matrices that are not positive."""

import numpy as np
import pytest

from estimator.invariant.measurements import correct, factor, solve
from estimator.invariant.state import ERRORS
from tests.estimator.invariant_case import copy, disturbed, random_case


def positive(size: int, seed: int) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((size, size))
    return root @ root.T / size + 0.1 * np.eye(size)


@pytest.mark.parametrize("size", [1, 3, 17, 31])
def test_factor_and_solve_are_choleskys(size: int) -> None:
    S = positive(size, size)
    lower, right = S.copy(), np.random.default_rng(0).standard_normal((size, 30))
    wanted = np.linalg.solve(S, right)
    assert factor(lower)
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(S), atol=1e-12)
    solve(lower, right)
    np.testing.assert_allclose(right, wanted, atol=1e-10)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_factor_refuses_what_is_not_positive(value: float) -> None:
    S = positive(5, 1)
    S[3, 3] = value
    assert not factor(S)


@pytest.mark.parametrize("rows", [3, 10, 31])
def test_correct_is_the_textbook_update(rows: int) -> None:
    random = np.random.default_rng(rows)
    memory = random_case(rows).truth
    P, N = positive(ERRORS, 7), positive(rows, 8)
    H, nu = random.standard_normal((rows, ERRORS)), 0.01 * random.standard_normal(rows)
    memory.covariance[:] = P
    K = P @ H.T @ np.linalg.inv(H @ P @ H.T + N)
    wanted = disturbed(memory, K @ nu)
    assert correct(memory, H, nu, N)
    np.testing.assert_allclose(memory.rotation, wanted.rotation, atol=1e-10)
    np.testing.assert_allclose(memory.vectors, wanted.vectors, atol=1e-10)
    np.testing.assert_allclose(memory.biases, wanted.biases, atol=1e-12)
    np.testing.assert_allclose(memory.covariance, P - K @ H @ P, atol=1e-9)
    assert np.array_equal(memory.covariance, memory.covariance.T)


def test_a_failed_update_leaves_the_state() -> None:
    memory = random_case(0).truth
    before = copy(memory)
    assert not correct(memory, np.zeros((1, ERRORS)), np.ones(1), -np.eye(1))
    assert memory.tobytes() == before.tobytes()
