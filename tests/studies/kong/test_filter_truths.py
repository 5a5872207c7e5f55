"""Noisy trials: what the noise adds up to, and that there is none where none was asked for."""

import numpy as np
import pytest

from hybrid.batch import simulate_batch
from hybrid.examples.bouncing_ball import FALLING, bouncing_ball
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.systems import Mode, System, Transition
from studies.kong.filters.truths import simulate_truths
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow

Q = np.array([[0.5, 0.2], [0.2, 0.3]])
MANY = 4000


def whole(t, x, u):
    return x.copy()


def model(system, Q, V, power=2, reset_noise=None):
    return FilterModel(
        system,
        dict.fromkeys(system.modes, ProcessNoise(Q, power)),
        dict.fromkeys(system.modes, Measurement(whole, V)),
        reset_noise or {},
    )


def assert_covariance(samples, expected):
    """Within five standard deviations of what so many samples give."""
    spread = np.sqrt(np.outer(np.diag(expected), np.diag(expected)) + expected**2)
    apart = abs(np.cov(samples.T) - expected)
    assert np.all(apart <= 5.0 * spread / np.sqrt(len(samples)) + 1e-12)


def test_without_noise_it_is_the_simulation():
    system, none, u = bouncing_ball(), np.zeros((2, 2)), np.array([0.2])
    states = np.random.default_rng(0).normal([2.0, -1.0], 0.3, (6, 2))
    truths = simulate_truths(model(system, none, none), FALLING, states, 0.25, 6, 3, u)
    batch = simulate_batch(system, FALLING, states, 1.5, u)
    np.testing.assert_allclose(truths.states[:, -1], batch.states, atol=1e-9)
    np.testing.assert_array_equal(truths.modes[:, -1], batch.modes)
    np.testing.assert_array_equal(truths.measurements, truths.states[:, 1:])
    assert truths.ok.all() and len(np.unique(truths.modes)) == 2


@pytest.mark.parametrize("power", [1, 2])
def test_the_flow_over_a_timestep_adds_w(power):
    """W(h) = h^power Q a timestep, independent from one to the next; V on measurements."""
    h, V = 0.5, np.array([[0.4, -0.1], [-0.1, 0.2]])
    states = np.tile([-9.0, 0.0], (MANY, 1))
    truths = simulate_truths(model(constant_flow(), Q, V, power), LEFT, states, h, 3, 1)
    steps = np.diff(truths.states, axis=1)
    np.testing.assert_allclose(steps.mean(axis=0), [[h, -h]] * 3, atol=5.0 * h / np.sqrt(MANY))
    for k in range(3):
        assert_covariance(steps[:, k], h**power * Q)
    assert_covariance(truths.states[:, -1], 3 * h**power * Q)
    assert_covariance((truths.measurements - truths.states[:, 1:])[:, 1], V)


def test_another_disturbance_acts_after_a_transition():
    """(4.12): with the event at h_1, x_2 has h_1^2 + h_2^2 of Q to first order, not h^2."""
    Q2, h, h_1 = np.diag([0.0, 0.3]), 1.0, 0.25
    truths = simulate_truths(
        model(constant_flow(), Q2, np.eye(2)), LEFT, np.tile([-h_1, 0.0], (MANY, 1)), h, 1, 2
    )
    expected = 0.3 * (h_1**2 + (h - h_1) ** 2)
    assert (truths.modes[:, 1] == RIGHT).all()
    assert np.var(truths.states[:, 1, 1]) == pytest.approx(expected, rel=0.12)
    assert abs(expected / (0.3 * h**2) - 1.0) > 0.3, "else the test could not tell"


def test_resets_have_noise_of_their_own():
    noise = np.array([[0.0, 0.0], [0.0, 0.5]])
    known = model(constant_flow(), np.zeros((2, 2)), np.eye(2), 2, {(LEFT, RIGHT): noise})
    truths = simulate_truths(known, LEFT, np.tile([-0.5, 1.0], (MANY, 1)), 1.0, 1, 4)
    assert_covariance(truths.states[:, 1], noise)


def test_a_state_that_a_reset_leaves_behind_the_way_back_comes_out_first():
    """A leg that is too long when it lands does not jump at once, and lifts off after all."""
    modes = {
        1: Mode("down", 2, 0, lambda t, x, u: np.array([-1.0, 0.0])),
        2: Mode("spring", 2, 0, lambda t, x, u: np.array([x[1], -100.0 * x[0]])),
    }
    land = Transition(1, 2, lambda t, x, u: x[0], lambda t, x, u: np.array([0.01, -1.0]))
    lift = Transition(2, 1, lambda t, x, u: -x[0], lambda t, x, u: np.array([3.0, 0.0]))
    none = np.zeros((2, 2))
    known = model(System(modes, (land, lift)), none, np.eye(2))
    truths = simulate_truths(known, 1, np.array([[0.05, 0.0]]), 0.1, 5, 0)
    assert truths.modes[0].tolist() == [1, 2, 2, 2, 1, 1] and truths.ok.all()


def test_a_failure_is_a_status_and_nan_follows_it():
    away = Mode("away", 1, 0, lambda t, x, u: x * x)
    known = FilterModel(
        System({1: away}, ()), {1: ProcessNoise(np.zeros((1, 1)))},
        {1: Measurement(whole, np.eye(1))},
    )  # fmt: skip
    truths = simulate_truths(known, 1, np.array([[0.1], [2.0]]), 0.3, 3, 0)
    assert truths.status[0] == "ok" and truths.status[1] in ("not_finite", "too_stiff")
    assert np.isfinite(truths.states[0]).all() and np.isnan(truths.states[1, -1]).all()
