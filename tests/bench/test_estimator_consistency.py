"""Normalised errors squared of Gaussian noise with a known covariance."""

import numpy as np
import pytest
from pytest import approx
from scipy.signal import lfilter

from saltus.bench.estimators import consistency, normalised

P = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 0.3]])


def noise(n, seed, memory=0.0):
    """Errors (n, 3) with covariance P that forget themselves by `memory` a tick (AR(1))."""
    rng = np.random.default_rng(seed)
    white = rng.normal(size=(n, 3)) @ np.linalg.cholesky(P).T
    white[1:] *= np.sqrt(1.0 - memory**2)
    return lfilter([1.0], [1.0, -memory], white, axis=0)


def judged(errors, scale=1.0):
    return consistency([normalised(errors, np.tile(scale * P, (len(errors), 1, 1)))])


def test_white_noise_has_three_on_average_and_95_percent_inside():
    found = judged(noise(20000, 1))
    assert found["nees_mean"] == approx(3.0, abs=0.06)
    assert found["nees_inside_percent"] == approx(95.0, abs=0.6)
    assert found["independent_samples"] == approx(20000, rel=0.1) and found["consistent"]


@pytest.mark.parametrize("scale", [0.7, 1.4])
def test_a_covariance_that_is_wrong_is_not_consistent(scale):
    found = judged(noise(20000, 2), scale)
    assert found["nees_mean"] == approx(3.0 / scale, rel=0.03) and not found["consistent"]


def test_errors_that_follow_each_other_are_fewer_samples():
    """The normalised error of AR(1) with factor a forgets itself by a^2: time (1+a^2)/(1-a^2)."""
    found = judged(noise(60000, 3, memory=0.95))
    assert found["independent_samples"] == approx(60000 * (1 - 0.95**2) / (1 + 0.95**2), rel=0.25)
    shorter = [judged(noise(4000, seed, memory=0.9))["consistent"] for seed in range(20)]
    assert sum(shorter) >= 17  # with a band for independent ticks half of these


def test_no_covariance_is_never_consistent():
    errors = noise(50, 4)
    covariances = np.tile(P, (50, 1, 1))
    covariances[3, 0, 0] = np.nan
    covariances[4] = -P
    values = normalised(errors, covariances)
    assert np.isinf(values[3:5]).all() and np.isfinite(np.delete(values, [3, 4])).all()
    found = consistency([values])
    assert not found["consistent"] and found["nees_inside_percent"] <= 96.0
