"""Lemke's method: against enumeration, on degenerate problems, and where there is no solution."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from saltation.impacts.lemke import solve_lcp, tableau
from saltation.impacts.lemke_kernel import solves


def enumerated(W, q):
    """Solutions of an LCP, one complementary basis after another."""
    n, found = len(q), []
    for choice in product((False, True), repeat=n):
        free, z = np.array(choice), np.zeros(n)
        if free.any():
            block = W[np.ix_(free, free)]
            if abs(np.linalg.det(block)) < 1e-12:
                continue
            z[free] = np.linalg.solve(block, -q[free])
        if z.min() >= -1e-9 and (W @ z + q).min() >= -1e-9:
            found.append(z)
    return found


def assert_solves(W, q, solution):
    size = 1.0 + np.abs(q).max()
    assert solution.ok
    assert solution.z.min() >= 0.0
    assert (W @ solution.z + q).min() >= -1e-8 * size
    assert abs(solution.z @ (W @ solution.z + q)) <= 1e-7 * size**2


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_a_positive_definite_problem_has_the_enumerated_solution(n, seed):
    rng = np.random.default_rng(seed)
    A, skew = rng.normal(size=(2, n, n))
    W = A @ A.T + 0.1 * np.eye(n) + skew - skew.T
    q = rng.normal(size=n)
    solution = solve_lcp(W, q)
    assert_solves(W, q, solution)
    (expected,) = enumerated(W, q)
    assert_allclose(solution.z, expected, atol=1e-7)


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_degenerate_problems_in_small_integers_are_solved_for_any_covering_vector(n, seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-1, 2, size=(n, n)).astype(float)
    W = A @ A.T  # positive semidefinite, singular more often than not
    q = W @ rng.integers(0, 2, n) * -1.0 + rng.integers(0, 2, n)  # feasible, full of ties
    for d in (np.ones(n), 0.1 + rng.random(n)):
        assert_solves(W, q, solve_lcp(W, q, d))


def test_a_problem_without_a_solution_ends_on_a_ray():
    solution = solve_lcp(np.zeros((2, 2)), np.array([-1.0, 1.0]))
    assert (solution.status, solution.ok) == ("ray", False)
    assert not solution.z.any()


def test_a_limit_of_pivots_is_a_status():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(8, 8))
    solution = solve_lcp(A @ A.T, -np.ones(8), max_pivots=2)
    assert (solution.status, solution.pivots) == ("pivot_limit", 2)


def test_what_rounding_made_no_solution_is_told_from_one():
    W, q = np.array([[1.0, 2.0], [2.0, 1.0]]), -np.ones(2)
    for z, right in (((1.0, 0.0), True), ((1.0 / 3.0, 1.0 / 3.0), True), ((0.4, 0.0), False),
                     ((1.0, 1e-5), False)):  # fmt: skip
        assert solves(tableau(W), q, np.ones(2), np.array(z)) == right


@pytest.mark.parametrize(
    "W, q, more",
    [
        (np.eye(2), np.ones(3), {}),
        (np.eye(2), np.array([1.0, np.nan]), {}),
        (np.eye(2), np.ones(2), {"covering": np.array([1.0, 0.0])}),
        (np.eye(2), np.ones(2), {"floor": np.ones(1)}),
    ],
)
def test_what_is_no_problem_is_refused(W, q, more):
    with pytest.raises(ValueError, match="fit together|finite"):
        solve_lcp(W, q, **more)
