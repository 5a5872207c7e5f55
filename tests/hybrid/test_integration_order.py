"""Orders of convergence, measured: fixed steps, fixed steps through an event, dense output."""

import numpy as np
import pytest

from hybrid.execution import simulate
from hybrid.integration import (
    Tolerance,
    dense_output,
    dormand_prince,
    dormand_prince_stages,
    integrate,
)
from hybrid.simulation import SimulationOptions, simulate_step
from hybrid.systems import HybridSystem, Mode, Transition

EXACT = Tolerance(relative=1e-14, absolute=1e-15)
START = np.array([1.0, 0.2])


def field(t, y):
    return np.array([y[1], -4.0 * np.sin(y[0]) - 0.2 * y[1] + np.cos(3.0 * t)])


def slope(sizes, errors):
    """Order of convergence: slope of the error over the step, both as logarithms."""
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def test_fixed_steps_are_of_fifth_order():
    exact, counts = integrate(field, 0.0, START, 2.0, EXACT), np.array([20, 40, 80, 160])
    errors = []
    for count in counts:
        y, h = START, 2.0 / count
        for k in range(count):
            y, _ = dormand_prince(field, k * h, y, h)
        errors.append(np.max(abs(y - exact)))
    assert 4.7 < slope(2.0 / counts, errors) < 5.6


def striking(with_time=False):
    """The same pendulum, which strikes a wall (one that moves, with time) and changes its flow."""
    speed = 0.1 if with_time else 0.0
    swing = Mode("swing", 2, 0, lambda t, x, u: field(t, x))
    after = Mode("after", 2, 0, lambda t, x, u: field(t, x) + np.array([0.0, x[0] ** 2]))
    wall = Transition(
        1,
        2,
        guard=lambda t, x, u: x[0] + 0.2 + speed * np.sin(5.0 * t),
        reset=lambda t, x, u: np.array([x[0], -0.7 * x[1] + speed * np.cos(5.0 * t)]),
    )
    return HybridSystem({1: swing, 2: after}, (wall,))


def fixed(h):
    """Options by which every step is h, but the one that an event cuts and the one at the end."""
    tolerance = Tolerance(relative=0.0, absolute=1e12, max_step=h)
    return SimulationOptions(tolerance=tolerance)


@pytest.mark.parametrize("with_time", [False, True])
def test_fixed_steps_are_of_fifth_order_through_an_event(with_time):
    system, u = striking(with_time), np.zeros(0)
    exact = simulate_step(system, 1, 0.0, START, u, 2.0, SimulationOptions(tolerance=EXACT))
    assert len(exact.events) == 1
    sizes, errors, times = 0.1 * 0.5 ** np.arange(5), [], []
    for h in sizes:
        step = simulate_step(system, 1, 0.0, START, u, 2.0, fixed(h))
        errors.append(np.max(abs(step.state - exact.state)))
        times.append(abs(step.events[0].time - exact.events[0].time))
    assert 4.5 < slope(sizes, errors) < 5.8
    assert slope(sizes, times) > 4.5


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
        end, slopes = dormand_prince_stages(field, 0.0, START, h, field(0.0, START))
        errors.append(
            max(
                np.max(
                    abs(
                        dense_output(START, end, slopes, h, part)
                        - integrate(field, 0.0, START, part * h, EXACT)
                    )
                )
                for part in parts
            )
        )
    return errors


def test_dense_output_is_of_fourth_order():
    """An extension of order four makes an error of h to the fifth within a step."""
    sizes = 0.4 * 0.5 ** np.arange(4)
    assert 4.6 < slope(sizes, local_errors(sizes, (0.2, 0.4, 0.6, 0.8))) < 5.6


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
    end, slopes = dormand_prince_stages(field, 0.0, START, h, field(0.0, START))

    def at(part):
        return dense_output(START, end, slopes, h, part)

    np.testing.assert_array_equal(at(0.0), START)
    np.testing.assert_allclose(at(1.0), end, atol=1e-15)
    np.testing.assert_allclose((at(d) - at(0.0)) / (h * d), slopes[0], atol=1e-4)
    np.testing.assert_allclose((at(1.0) - at(1.0 - d)) / (h * d), slopes[6], atol=1e-4)


def test_dense_output_of_an_execution_is_of_fourth_order_through_an_event():
    system = striking()
    exact = simulate(system, 1, START, 2.0, options=SimulationOptions(tolerance=EXACT))
    event = exact.events[0].time
    times = [t for t in np.linspace(0.01, 1.99, 40) if abs(t - event) > 0.02]
    truth = [
        simulate_step(system, 1, 0.0, START, np.zeros(0), t, SimulationOptions(tolerance=EXACT))
        for t in times
    ]
    sizes, errors = 0.1 * 0.5 ** np.arange(4), []
    for h in sizes:
        execution = simulate(system, 1, START, 2.0, options=fixed(h))
        pairs = zip(times, truth, strict=True)
        errors.append(max(np.max(abs(execution.at(t)[1] - step.state)) for t, step in pairs))
    assert slope(sizes, errors) > 3.9
