"""The bank of salted filters: one filter far from guards, exact moments where a guard splits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from saltation.filters.bank import SaltedBank
from saltation.filters.salted import SaltedKalmanFilter
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow
from tests.saltation.filters.models import EYE, NONE, model_of, particles

START = LEFT, np.array([-1.0, 0.0]), 0.1 * EYE


def same(one, other):
    assert (one.time, one.mode, *one[4:]) == (other.time, other.mode, *other[4:])
    assert_array_equal(one.mean, other.mean)
    assert_array_equal(one.Sigma, other.Sigma)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from([0, 1, 2]))
def test_with_no_guard_near_it_is_one_salted_filter(seed, power):
    rng, model = np.random.default_rng(seed), model_of(constant_flow(), V=1.0, power=power)
    start = LEFT, rng.normal([-9.0, 0.0], 1.0), 0.1 * EYE
    bank, salted = SaltedBank(model, *start), SaltedKalmanFilter(model, *start)
    for _ in range(5):
        y = salted.belief.mean + [1.0, -1.0] + rng.standard_normal(2)
        same(bank.step(NONE, y, 0.3), salted.step(NONE, y, 0.3))
    assert len(bank.hypotheses) == 1


@pytest.mark.parametrize("power, Q", [(2, 0.0), (0, 0.5), (1, 0.2)])
def test_a_split_gaussian_keeps_its_exact_moments(power, Q):
    """Half of it crosses: mean and covariance over both modes are those of the truth.

    Noise of each timestep is added once to both parts; on constant flow white noise is h Q in x_1.
    """
    Sigma, h = np.array([[0.1, 0.03], [0.03, 0.2]]), 1.1
    bank = SaltedBank(model_of(constant_flow(), Q, power=power), LEFT, START[1], Sigma)
    bank.step(NONE, None, h)
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal(START[1], Sigma, 400_000)
    x[:, 1] += np.where(x[:, 0] < 0.0, -h + 2.0 * np.maximum(0.0, x[:, 0] + h), h)
    x[:, 0] += h
    right = x[:, 0] > 0.0
    shares = bank.mode_probabilities
    assert shares[LEFT] + shares[RIGHT] == approx(1.0)
    assert bank.belief.mode == RIGHT and bank.belief.transitions == 1
    if power == 1:
        mean = bank.mean_of(lambda mode, x: x)[0]
        spreads = [
            one.weight * (one.belief.Sigma[0, 0] + (one.belief.mean[0] - mean) ** 2)
            for one in bank.hypotheses
        ]
        assert sum(spreads) == approx(0.1 + h * Q, rel=1e-6) and len(spreads) == 2
        return
    assert shares[RIGHT] == approx(right.mean(), abs=0.003)
    for one in bank.hypotheses:
        part = x[right] if one.belief.mode == RIGHT else x[~right]
        assert_allclose(one.belief.mean, part.mean(axis=0), atol=0.005)
        assert_allclose(one.belief.Sigma, np.cov(part.T) + Q * EYE, atol=0.005)
    assert_allclose(bank.mean_of(lambda mode, x: x), x.mean(axis=0), atol=0.005)


def test_it_is_nearer_to_the_exact_posterior_than_one_salted_filter():
    """Short steps while the guard passes through the distribution, against 5000 particles."""
    model, rng = model_of(constant_flow(), V=0.5), np.random.default_rng(4)
    exact = particles(5000, seed=1)(model, *START)
    bank, salted = SaltedBank(model, *START), SaltedKalmanFilter(model, *START)
    x, errors = np.array([-1.1, 0.2]), np.zeros(2)
    for _ in range(40):
        x = x + 0.05 * np.array([1.0, -1.0 if x[0] < 0.0 else 1.0])
        y = x + np.sqrt(0.5) * rng.standard_normal(2)
        for one in (exact, bank, salted):
            one.step(NONE, y, 0.05)
        mean = exact.mean_of(lambda mode, x: x)
        found = bank.mean_of(lambda mode, x: x), salted.belief.mean
        errors += [np.sum((f - mean) ** 2) for f in found]
        assert bank.belief.status == "ok"
    assert errors[0] < 0.25 * errors[1]
    assert bank.mode_probabilities[RIGHT] == approx(1.0, abs=1e-3)


def test_a_contact_sensor_weighs_the_modes():
    bank = SaltedBank(model_of(constant_flow()), *START)
    bank.step(NONE, None, 1.0)
    bank.sense({LEFT: np.log(0.1), RIGHT: np.log(0.9)})
    assert bank.mode_probabilities[RIGHT] == approx(0.9, abs=0.01)
    before = bank.mode_probabilities
    assert bank.sense({LEFT: -np.inf, RIGHT: -np.inf}).status == "rejected"
    assert bank.mode_probabilities == before
    assert bank.sense({LEFT: -np.inf}).mode == RIGHT and len(bank.hypotheses) == 1


@pytest.mark.parametrize("y", [[np.nan, 0.0], [0.0]])
def test_a_measurement_that_says_nothing_leaves_the_prediction(y):
    model = model_of(constant_flow())
    bank, other = SaltedBank(model, *START), SaltedBank(model, *START)
    found, expected = bank.step(NONE, np.array(y), 1.0), other.step(NONE, None, 1.0)
    assert found.status == "rejected" and expected.status == "ok"
    assert_array_equal(found.mean, expected.mean)
    assert bank.mode_probabilities == other.mode_probabilities
    assert bank.step(NONE, None, np.nan).status == "simulation_failed"
