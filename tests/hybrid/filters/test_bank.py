"""The bank of salted filters: one filter far from guards, exact moments where a guard splits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid.examples.bouncing_ball import FALLING, bouncing_ball
from hybrid.filters.bank import BankOptions, SaltedBank
from hybrid.filters.interface import HybridFilter
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.particle import ParticleFilter, ParticleOptions
from hybrid.filters.salted import SaltedKalmanFilter
from studies.kong.systems.aslip import FLIGHT, aslip, at_rest
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow

NONE = np.zeros(0)


def whole(t, x, u):
    return x.copy()


def model_of(system, Q=0.01, V=1.0, power=2, **kw):
    n = system.state_dim
    return FilterModel(
        system,
        {mode: ProcessNoise(Q * np.eye(n), power) for mode in system.modes},
        {mode: Measurement(whole, V * np.eye(n)) for mode in system.modes},
        **kw,
    )


def same(one, other):
    assert (one.time, one.mode, *one[4:]) == (other.time, other.mode, *other[4:])
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.Sigma, other.Sigma)


def plain(mode, x):
    return x


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0, 1, 2]))
def test_with_no_guard_near_it_is_one_salted_filter(seed, power):
    rng, model = np.random.default_rng(seed), model_of(constant_flow(), power=power)
    start = LEFT, rng.normal([-9.0, 0.0], 1.0), 0.1 * np.eye(2)
    bank, salted = SaltedBank(model, *start), SaltedKalmanFilter(model, *start)
    for _ in range(5):
        y = salted.belief.mean + [1.0, -1.0] + rng.standard_normal(2)
        same(bank.step(NONE, y, 0.3), salted.step(NONE, y, 0.3))
    assert len(bank.hypotheses) == 1


def test_a_ball_whose_impact_is_sure_bounces_as_in_one_salted_filter():
    """Wholly above the floor at one step's end, wholly on its way up at the next."""
    model = model_of(bouncing_ball(restitution=0.8), Q=1e-8, V=1e-4)
    start = FALLING, np.array([1.0, 0.0]), 1e-8 * np.eye(2)
    bank, salted = SaltedBank(model, *start), SaltedKalmanFilter(model, *start)
    crossed = 0
    for _ in range(20):
        crossed += salted.step(np.zeros(1), None, 0.05).transitions
        same(bank.step(np.zeros(1), None, 0.05), salted.belief)
    assert crossed >= 2


def test_a_split_gaussian_without_noise_keeps_its_exact_moments():
    """Half of it crosses: mean and covariance over both modes are those of the truth."""
    model = model_of(constant_flow(), Q=0.0)
    Sigma = np.array([[0.1, 0.03], [0.03, 0.2]])
    bank = SaltedBank(model, LEFT, np.array([-1.0, 0.0]), Sigma)
    bank.step(NONE, None, 1.1)
    x = np.random.default_rng(1).multivariate_normal([-1.0, 0.0], Sigma, 400_000)
    x[:, 1] += np.where(x[:, 0] < 0.0, -1.1 + 2.0 * np.maximum(0.0, x[:, 0] + 1.1), 1.1)
    x[:, 0] += 1.1
    right = x[:, 0] > 0.0
    shares = bank.mode_probabilities
    assert shares[RIGHT] == pytest.approx(right.mean(), abs=0.003)
    assert shares[LEFT] + shares[RIGHT] == pytest.approx(1.0)
    assert bank.belief.mode == RIGHT and bank.belief.transitions == 1
    for one in bank.hypotheses:
        part = x[right] if one.belief.mode == RIGHT else x[~right]
        np.testing.assert_allclose(one.belief.mean, part.mean(axis=0), atol=0.005)
        np.testing.assert_allclose(one.belief.Sigma, np.cov(part.T), atol=0.005)
    np.testing.assert_allclose(bank.mean_of(plain), x.mean(axis=0), atol=0.005)


def test_noise_of_each_timestep_is_added_once_to_each_part_of_a_split_gaussian():
    parts = []
    for Q in (0.0, 0.5):
        model = model_of(constant_flow(), Q=Q, power=0)
        bank = SaltedBank(model, LEFT, np.array([-1.0, 0.0]), 0.1 * np.eye(2))
        bank.step(NONE, None, 1.1)
        parts.append(bank.hypotheses)
    assert len(parts[0]) == 2
    for quiet, noisy in zip(*parts, strict=True):
        np.testing.assert_allclose(noisy.weight, quiet.weight)
        np.testing.assert_allclose(noisy.belief.Sigma, quiet.belief.Sigma + 0.5 * np.eye(2))


def test_white_noise_of_a_split_gaussian_is_that_of_the_whole_step():
    """On constant flow W(h) = h Q whatever crosses: over both modes the variance of x_1 has it."""
    model = model_of(constant_flow(), Q=0.2, power=1)
    bank = SaltedBank(model, LEFT, np.array([-1.0, 0.0]), 0.1 * np.eye(2))
    bank.step(NONE, None, 1.1)
    assert len(bank.hypotheses) == 2
    mean = bank.mean_of(plain)[0]
    variance = sum(
        one.weight * (one.belief.Sigma[0, 0] + (one.belief.mean[0] - mean) ** 2)
        for one in bank.hypotheses
    )
    assert variance == pytest.approx(0.1 + 1.1 * 0.2, rel=1e-6)


def test_it_is_nearer_to_the_exact_posterior_than_one_salted_filter():
    """Short steps while the guard passes through the distribution, against 2e4 particles."""
    model, rng = model_of(constant_flow(), V=0.5), np.random.default_rng(4)
    start = LEFT, np.array([-1.0, 0.0]), 0.1 * np.eye(2)
    exact = ParticleFilter(model, *start, options=ParticleOptions(particles=20_000, seed=1))
    bank, salted = SaltedBank(model, *start), SaltedKalmanFilter(model, *start)
    x, errors = np.array([-1.1, 0.2]), np.zeros(2)
    for _ in range(40):
        x = x + 0.05 * np.array([1.0, -1.0 if x[0] < 0.0 else 1.0])
        y = x + np.sqrt(0.5) * rng.standard_normal(2)
        for one in (exact, bank, salted):
            belief = one.step(NONE, y, 0.05)
            assert belief.status == "ok" or (one is salted and "splits" in belief.message)
        mean = exact.mean_of(plain)
        errors += [np.sum((f - mean) ** 2) for f in (bank.mean_of(plain), salted.belief.mean)]
        assert sum(bank.mode_probabilities.values()) == pytest.approx(1.0)
    assert errors[0] < 0.25 * errors[1]
    assert bank.mode_probabilities[RIGHT] == pytest.approx(1.0, abs=1e-3)


def test_a_contact_sensor_weighs_the_modes():
    model = model_of(constant_flow())
    bank = SaltedBank(model, LEFT, np.array([-1.0, 0.0]), 0.1 * np.eye(2))
    bank.step(NONE, None, 1.0)
    assert bank.mode_probabilities[RIGHT] == pytest.approx(0.5, abs=0.01)
    bank.sense({LEFT: np.log(0.1), RIGHT: np.log(0.9)})
    assert bank.mode_probabilities[RIGHT] == pytest.approx(0.9, abs=0.01)
    before = bank.hypotheses
    assert bank.sense({LEFT: -np.inf, RIGHT: -np.inf}).status == "rejected"
    for one, other in zip(bank.hypotheses, before, strict=True):
        assert one.weight == other.weight
        same(one.belief, other.belief)
    assert bank.sense({LEFT: -np.inf}).mode == RIGHT
    assert len(bank.hypotheses) == 1


@pytest.mark.parametrize("y", [[np.nan, 0.0], [0.0]])
def test_a_measurement_that_says_nothing_leaves_the_prediction(y):
    model, start = model_of(constant_flow()), (LEFT, np.array([-1.0, 0.0]), 0.1 * np.eye(2))
    bank, other = SaltedBank(model, *start), SaltedBank(model, *start)
    found, expected = bank.step(NONE, np.array(y), 1.0), other.step(NONE, None, 1.0)
    assert found.status in ("not_finite", "rejected") and expected.status == "ok"
    np.testing.assert_array_equal(found.mean, expected.mean)
    assert bank.mode_probabilities == other.mode_probabilities
    assert bank.step(NONE, None, np.nan).status == "simulation_failed"


def test_a_hopping_robot_is_followed_through_two_hops():
    model = model_of(aslip(), Q=1e-4, V=1e-3)
    mean = at_rest(np.array([0.0, 1.8, 5 * np.pi / 12, 0.0, -1.0, 0.0]))
    bank: HybridFilter = SaltedBank(model, FLIGHT, mean, 1e-4 * np.eye(8), options=BankOptions())
    modes = []
    for _ in range(60):
        belief = bank.step(NONE, None, 0.01)
        modes.append(belief.mode)
        assert belief.status == "ok"
        assert np.linalg.eigvalsh(belief.Sigma).min() > -1e-9
    assert modes[0] == modes[-1] == FLIGHT and 2 in modes


def test_options_are_checked():
    with pytest.raises(ValueError, match="certain lies between"):
        BankOptions(certain=0.7)
