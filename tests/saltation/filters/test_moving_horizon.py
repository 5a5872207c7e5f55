"""Moving-horizon estimation: least squares in closed form, and beside the salted filter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from saltation.filters.model import FilterModel, Measurement, ProcessNoise
from saltation.filters.moving_horizon import Window, estimate
from saltation.filters.salted import SaltedKalmanFilter
from saltation.hilqr.options import HilqrOptions
from saltation.simulation import simulate
from saltation.systems import Mode, System, Transition
from tests.saltation.driven_systems import fall, height
from tests.saltation.filters.models import EYE, NONE

h, Q, V, P = 0.02, np.diag([1e-3, 1e-2]), 1e-4, 0.01 * EYE
FALL = Mode("falls", 2, 0, fall)
BOUNCE = Transition(1, 1, height, lambda t, x, u: np.array([x[0], -0.75 * x[1]]))


def filtered(edges, steps, seed):
    """The window of a filter's run, its means (N, 2) and the true states (N + 1, 2)."""
    rng, system = np.random.default_rng(seed), System({1: FALL}, edges)
    place = Measurement(lambda t, x, u: x[:1], V * np.eye(1))
    model = FilterModel(system, {1: ProcessNoise(Q)}, {1: place})
    run = simulate(system, 1, rng.multivariate_normal([1.0, 0.0], P), steps * h)
    truth = run.at(h * np.arange(steps + 1))[1]
    ys = list(truth[1:, :1] + np.sqrt(V) * rng.normal(size=(steps, 1)))
    skf = SaltedKalmanFilter(model, 1, [1.0, 0.0], P)
    window = Window(model, skf.belief, ys, h, NONE)
    return window, np.array([skf.step(NONE, y, h).mean for y in ys]), truth


def test_without_events_it_is_least_squares():
    window = filtered([], 10, 0)[0]
    A, B = np.array([[1.0, h], [0.0, 1.0]]), np.array([[h, h * h / 2], [0.0, h]])
    D, x = np.eye(2, 22), np.array([1.0, 0.0])  # by the first state and disturbances; without any
    rows, right = [D / 0.1], [np.zeros(2)]
    for k, y in enumerate(window.measurements):
        D, x = A @ D, A @ x + B @ [0.0, -9.8]
        D[:, 2 * k + 2 : 2 * k + 4] += B
        rows.append(D[:1] / 0.01)
        right.append((y - x[:1]) / 0.01)
    rows.append(np.kron(np.eye(10), np.diag(Q.diagonal() ** -0.5)) @ np.eye(22)[2:])
    right.append(np.zeros(20))
    z = np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)[0]
    solution = estimate(window, HilqrOptions(tolerance=1e-12))
    assert solution.status == "converged"
    assert_allclose(solution.trajectory.states[-1], x + D @ z, atol=1e-8)
    assert_allclose(solution.trajectory.states[0], [1.0, 0.0] + z[:2], atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_through_an_impact_it_knows_the_whole_window_better_than_the_filter(seed):
    window, means, truth = filtered([BOUNCE], 30, seed)
    solution = estimate(window, HilqrOptions(tolerance=1e-6))
    (event,), states = solution.trajectory.aux.events, solution.trajectory.states
    assert solution.status == "converged" and abs(states[-1] - means[-1]).max() < 1e-3
    impact = simulate(window.model.system, 1, truth[0], 0.6).events[0].time
    assert abs(event.event.time - impact) < 2e-3
    errors = [np.mean((each - truth[1:]) ** 2, axis=0) for each in (states[1:], means)]
    assert np.all(errors[0] < 0.5 * errors[1])
