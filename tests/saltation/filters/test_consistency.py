"""A filter's test of itself: chi-square bounds, and a status where a guard splits its Gaussian."""

import numpy as np
import pytest
from pytest import approx
from scipy.stats import chi2

from saltation.filters.bank import SaltedBank
from saltation.filters.consistency import ConsistencyOptions, ConsistencyTest
from saltation.filters.salted import SaltedKalmanFilter
from studies.kong.systems.constant_flow import LEFT, constant_flow
from tests.saltation.filters.models import EYE, NONE, model_of, particles

DT = 0.1


def model(Q=0.01):
    return model_of(constant_flow(), Q, 0.04, power=1)


def run(kind, noise, seed=0, steps=60):
    """Lead a filter that believes in V = 0.04 through measurements of another noise."""
    rng, x = np.random.default_rng(seed), np.array([-20.0, 0.0])
    one = kind(model(), LEFT, x, 0.01 * EYE)
    x = x + 0.1 * rng.standard_normal(2)
    statuses = []
    for _ in range(steps):
        x = x + DT * np.array([1.0, -1.0]) + np.sqrt(0.01 * DT) * rng.standard_normal(2)
        belief = one.step(NONE, x + np.sqrt(noise) * rng.standard_normal(2), DT)
        statuses.append(belief.status)
    return one, statuses, belief


@pytest.mark.parametrize("kind", [SaltedKalmanFilter, SaltedBank, particles(1000)])
@pytest.mark.parametrize(
    "noise, verdict, status",
    [(0.04, "ok", "ok"), (0.4, "optimistic", "inconsistent"), (0.0004, "pessimistic", "ok")],
)
def test_a_filter_that_trusts_its_sensor_too_much_says_so_in_its_status(
    kind, noise, verdict, status
):
    one, statuses, belief = run(kind, noise)
    assert one.consistency.verdict == verdict and belief.status == status
    if status == "ok":
        assert set(statuses) == {"ok"}
    if verdict == "ok":
        assert one.consistency.sum / one.consistency.degrees == approx(1.0, abs=0.35)


def test_bounds_are_those_of_chi_squared():
    test = ConsistencyTest(ConsistencyOptions(window=3, probability=0.01))
    assert test.result.verdict == "unknown"
    for squared in (100.0, 1.0, 2.0, 3.0):  # the first has left the window
        test.add(squared, 2)
    result = test.result
    assert (result.sum, result.degrees) == (6.0, 6)
    assert result.low == approx(chi2.ppf(0.01, 6))
    assert result.high == approx(chi2.ppf(0.99, 6))
    test.add(np.nan, 2)
    assert test.result == result


def test_a_salted_filter_says_while_a_guard_splits_its_gaussian():
    """3.09 standard deviations of 0.1 before the guard and behind it, at a speed of 1."""
    one = SaltedKalmanFilter(model(Q=0.0), LEFT, np.array([-1.0, 0.0]), 0.01 * EYE)
    for k in range(20):
        belief, time = one.step(NONE, None, DT), (k + 1) * DT
        split = abs(time - 1.0) < 0.309
        assert belief.status == ("inconsistent" if split else "ok"), time
        assert ("SaltedBank" in belief.message) == split


def test_a_contact_sensor_that_reports_a_transition_ends_the_split():
    system = model(Q=0.0)
    one = SaltedKalmanFilter(system, LEFT, np.array([-1.0, 0.0]), 0.01 * EYE)
    assert one.step(NONE, None, 0.9).status == "inconsistent"
    one.force(system.system.transitions[0], NONE)
    assert one.step(NONE, None, 0.05).status == "ok"
