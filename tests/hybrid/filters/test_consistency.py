"""A filter's test of itself: chi-square bounds, and a status where a guard splits its Gaussian."""

import numpy as np
import pytest
from scipy.stats import chi2

from hybrid.filters.bank import SaltedBank
from hybrid.filters.consistency import ConsistencyOptions, ConsistencyTest, consistency_of
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.particle import ParticleFilter, ParticleOptions
from hybrid.filters.salted import SaltedKalmanFilter
from studies.kong.systems.constant_flow import LEFT, constant_flow

NONE, DT = np.zeros(0), 0.1


def whole(t, x, u):
    return x.copy()


def model(Q=0.01, V=0.04):
    system = constant_flow()
    return FilterModel(
        system,
        dict.fromkeys(system.modes, ProcessNoise(Q * np.eye(2), power=1)),
        dict.fromkeys(system.modes, Measurement(whole, V * np.eye(2))),
    )


def particle_filter(*arguments):
    return ParticleFilter(*arguments, options=ParticleOptions(particles=1000))


FILTERS = pytest.mark.parametrize("kind", [SaltedKalmanFilter, SaltedBank, particle_filter])


def run(kind, noise, seed=0, steps=60):
    """Lead a filter that believes in V = 0.04 through measurements of another noise."""
    rng, x = np.random.default_rng(seed), np.array([-20.0, 0.0])
    one = kind(model(), LEFT, x, 0.01 * np.eye(2))
    x = x + 0.1 * rng.standard_normal(2)
    statuses = []
    for _ in range(steps):
        x = x + DT * np.array([1.0, -1.0]) + np.sqrt(0.01 * DT) * rng.standard_normal(2)
        belief = one.step(NONE, x + np.sqrt(noise) * rng.standard_normal(2), DT)
        statuses.append(belief.status)
    return one, statuses, belief


@FILTERS
def test_a_filter_that_is_right_is_ok(kind):
    one, statuses, _ = run(kind, 0.04)
    assert set(statuses) == {"ok"} and one.consistency.verdict == "ok"
    assert one.consistency.sum / one.consistency.degrees == pytest.approx(1.0, abs=0.35)


@FILTERS
def test_a_filter_that_trusts_its_sensor_too_much_says_so_in_its_status(kind):
    one, _, belief = run(kind, 0.4)
    assert belief.status == "inconsistent" and one.consistency.verdict == "optimistic"
    assert "times as large as the filter says" in belief.message


@FILTERS
def test_a_filter_that_trusts_its_sensor_too_little_is_pessimistic_and_ok(kind):
    one, statuses, _ = run(kind, 0.0004)
    assert one.consistency.verdict == "pessimistic" and set(statuses) == {"ok"}


def test_bounds_are_those_of_chi_squared():
    test = ConsistencyTest(ConsistencyOptions(window=3, probability=0.01))
    assert test.result.verdict == "unknown"
    for squared in (100.0, 1.0, 2.0, 3.0):  # the first has left the window
        test.add(squared, 2)
    result = test.result
    assert (result.sum, result.degrees) == (6.0, 6)
    assert result.low == pytest.approx(chi2.ppf(0.01, 6))
    assert result.high == pytest.approx(chi2.ppf(0.99, 6))
    test.add(np.nan, 2)
    assert test.result == result


def test_a_consistent_filter_fails_as_often_as_it_is_said():
    rng = np.random.default_rng(0)
    verdicts = [
        consistency_of([(squared, 2) for squared in rng.chisquare(2, 50)], 0.05).verdict
        for _ in range(2000)
    ]
    assert verdicts.count("optimistic") == pytest.approx(100, abs=40)
    assert verdicts.count("pessimistic") == pytest.approx(100, abs=40)


def test_a_salted_filter_says_while_a_guard_splits_its_gaussian():
    """3.09 standard deviations of 0.1 before the guard and behind it, at a speed of 1."""
    one = SaltedKalmanFilter(model(Q=0.0), LEFT, np.array([-1.0, 0.0]), 0.01 * np.eye(2))
    for k in range(20):
        belief, time = one.step(NONE, None, DT), (k + 1) * DT
        split = abs(time - 1.0) < 0.309
        assert belief.status == ("inconsistent" if split else "ok"), time
        assert ("use SaltedBank" in belief.message) == split


def test_a_contact_sensor_that_reports_a_transition_ends_the_split():
    system = model(Q=0.0)
    one = SaltedKalmanFilter(system, LEFT, np.array([-1.0, 0.0]), 0.01 * np.eye(2))
    assert one.step(NONE, None, 0.9).status == "inconsistent"
    one.force(system.system.transitions[0], NONE)
    assert one.step(NONE, None, 0.05).status == "ok"


def test_options_are_checked():
    with pytest.raises(ValueError, match="window of at least 1"):
        ConsistencyOptions(window=0)
