"""One scalar row at a time against the textbook's update, and under junk."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator.salted.measurements import correct, mirror
from tests.estimator.salted_case import batch_update, random_covariance

SIZE, ROWS = 12, 7


def random_rows(seed: int) -> tuple:
    """P, columns (ROWS, 4), entries (ROWS, 4), residuals and variances (ROWS)."""
    random = np.random.default_rng(seed)
    columns = np.array([random.choice(SIZE, 4, replace=False) for _ in range(ROWS)])
    entries = random.standard_normal((ROWS, 4)) * 10.0 ** random.uniform(-1, 1, (ROWS, 1))
    P = random_covariance(random, SIZE)
    return P, columns, entries, random.standard_normal(ROWS), random.uniform(0.01, 1.0, ROWS)


@given(st.integers(0, 10_000), st.permutations(range(ROWS)))
def test_rows_in_any_order_equal_one_batch_update(seed: int, order: list[int]) -> None:
    P, columns, entries, residuals, variances = random_rows(seed)
    H = np.zeros((ROWS, SIZE))
    np.put_along_axis(H, columns, entries, axis=1)
    wanted_d, wanted_P = batch_update(P, H, residuals, variances)
    d = np.zeros(SIZE)
    for i in order:
        correct(P, d, columns[i], entries[i], residuals[i], variances[i])
    mirror(P)
    np.testing.assert_allclose(d, wanted_d, atol=1e-9)
    np.testing.assert_allclose(P, wanted_P, atol=1e-10)


@given(
    st.integers(0, 10_000),
    st.lists(
        st.tuples(st.floats(-6, 6), st.floats(-12, 6), st.floats(-1e6, 1e6)),
        min_size=1,
        max_size=40,
    ),
)
def test_junk_rows_leave_a_symmetric_positive_covariance(seed: int, rows: list) -> None:
    """Entries over twelve decades, variances over eighteen, repeated: positive up to rounding."""
    P, columns, entries, _, _ = random_rows(seed)
    before, d = np.linalg.eigvalsh(P).max(), np.zeros(SIZE)
    for k, (size, variance, residual) in enumerate(rows):
        trace = np.trace(P)
        h = entries[k % ROWS] * 10.0**size
        correct(P, d, columns[k % ROWS], h, residual, 10.0**variance)
        assert np.trace(P) <= trace * (1.0 + 1e-12)
    mirror(P)
    assert np.isfinite(d).all()
    assert np.linalg.eigvalsh(P).min() > -1e-12 * before


@pytest.mark.parametrize("junk", [np.nan, np.inf, -np.inf])
def test_a_residual_that_is_no_number_spoils_the_corrections_and_not_the_covariance(
    junk: float,
) -> None:
    P, columns, entries, _, variances = random_rows(3)
    wanted, d = P.copy(), np.zeros(SIZE)
    correct(wanted, np.zeros(SIZE), columns[0], entries[0], 0.0, variances[0])
    correct(P, d, columns[0], entries[0], junk, variances[0])
    assert not np.isfinite(d).any()
    np.testing.assert_array_equal(P, wanted)
