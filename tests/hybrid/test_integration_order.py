"""Orders of convergence, measured: fixed steps, fixed steps through an event, dense output."""

import numpy as np
import pytest

from hybrid.integration import dense_output, dormand_prince_stages, integrate
from hybrid.simulation import simulate
from saltus.studies.convergence import (
    EXACT,
    START,
    Errors,
    dense_output_errors,
    driven,
    event_errors,
    fixed,
    integrator_errors,
    striking,
)


def test_fixed_steps_are_of_fifth_order():
    assert 4.7 < integrator_errors().order < 5.6


@pytest.mark.parametrize("wall_moves", [False, True])
def test_fixed_steps_are_of_fifth_order_through_an_event(wall_moves):
    states, times = event_errors(wall_moves)
    assert 4.5 < states.order < 5.8
    assert times.order > 4.5


def test_steps_of_fixed_length_are_fixed():
    """That the measurement above measures what it says."""
    execution = simulate(striking(), 1, START, 2.0, options=fixed(0.05))
    lengths = [np.diff(segment.times) for segment in execution.segments]
    assert len(lengths) == 2
    for each in lengths:
        np.testing.assert_allclose(each[:-1], 0.05, rtol=1e-12)


def local_errors(sizes, parts):
    """Largest error of dense output within one step from the same exact state."""
    errors = []
    for h in sizes:
        end, slopes = dormand_prince_stages(driven, 0.0, START, h, driven(0.0, START))
        errors.append(
            max(
                np.max(
                    abs(
                        dense_output(START, end, slopes, h, part)
                        - integrate(driven, 0.0, START, part * h, EXACT)
                    )
                )
                for part in parts
            )
        )
    return errors


def test_dense_output_is_of_fourth_order():
    """An extension of order four makes an error of h to the fifth within a step."""
    sizes = 0.4 * 0.5 ** np.arange(4, dtype=np.float64)
    assert 4.6 < Errors(sizes, np.array(local_errors(sizes, (0.2, 0.4, 0.6, 0.8)))).order < 5.6


@pytest.mark.parametrize("degree, exact", [(1, True), (3, True), (4, True), (5, False)])
def test_dense_output_of_polynomials(degree, exact):
    def power(t, y):
        return np.array([degree * t ** (degree - 1)])

    start = np.array([0.3**degree])
    end, slopes = dormand_prince_stages(power, 0.3, start, 0.9, power(0.3, start))
    parts = np.linspace(0.0, 1.0, 11)
    found = [dense_output(start, end, slopes, 0.9, part)[0] for part in parts]
    error = np.max(abs(found - (0.3 + 0.9 * parts) ** degree))
    assert (error < 1e-14) == exact


def test_dense_output_meets_values_and_slopes_at_both_ends():
    h, d = 0.3, 1e-6
    end, slopes = dormand_prince_stages(driven, 0.0, START, h, driven(0.0, START))

    def at(part):
        return dense_output(START, end, slopes, h, part)

    np.testing.assert_array_equal(at(0.0), START)
    np.testing.assert_allclose(at(1.0), end, atol=1e-15)
    np.testing.assert_allclose((at(d) - at(0.0)) / (h * d), slopes[0], atol=1e-4)
    np.testing.assert_allclose((at(1.0) - at(1.0 - d)) / (h * d), slopes[6], atol=1e-4)


def test_dense_output_of_an_execution_is_of_fourth_order_through_an_event():
    assert dense_output_errors().order > 3.9
