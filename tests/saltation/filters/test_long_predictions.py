"""Predictions much longer than what happens in them, and those that end in a mode of rest."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pytest import approx
from scipy.integrate import quad
from scipy.special import erf

from saltation.filters.bank import SaltedBank
from saltation.filters.salted import SaltedKalmanFilter
from saltation.systems import Mode, System
from tests.saltation.driven_systems import SETTLE, one_mode_ball
from tests.saltation.filters.models import NONE, model_of, particles

FLIGHT, REST = 1, 2
WIDTH, DURATION = 0.05, 1.9  # of a pulse about 1 s, and of the prediction [s]


few_particles = particles(5)
FILTERS = pytest.mark.parametrize("kind", [SaltedKalmanFilter, SaltedBank, few_particles])


def integral_of_pulse(start, end):
    ends = erf((end - 1.0) / WIDTH) - erf((start - 1.0) / WIDTH)
    return 0.5 * np.sqrt(np.pi) * WIDTH * ends


@pytest.mark.parametrize("kind", [SaltedKalmanFilter, SaltedBank])
@pytest.mark.parametrize("power", [1, 2])
def test_a_covariance_grows_in_a_pulse_as_its_closed_form(kind, power):
    """x' = 8 p(t) x: A(h, s) = exp(8 int_s^h p)."""

    def grow(t, x, u):
        return 8.0 * np.exp(-(((t - 1.0) / 0.05) ** 2)) * x

    def A(s):
        return np.exp(8.0 * integral_of_pulse(s, DURATION))

    model = model_of(System({FLIGHT: Mode("growth", 1, 0, grow)}, ()), 0.3, power=power)
    belief = kind(model, FLIGHT, np.ones(1), 0.2 * np.eye(1)).step(NONE, None, DURATION)
    white = 0.3 * quad(lambda s: A(s) ** 2, 0.0, DURATION, points=[0.9, 1.0, 1.1])[0]
    W = white if power == 1 else 0.3 * DURATION**2
    assert belief.mean[0] == approx(A(0.0), rel=1e-7)
    assert belief.Sigma[0, 0] == approx(0.2 * A(0.0) ** 2 + W, rel=1e-6)


@FILTERS
@pytest.mark.parametrize("drop, status", [(0.01, "ok"), (0.0, "not_transverse")])
def test_a_ball_that_bounces_without_end_or_lies_comes_to_rest(kind, drop, status):
    """A ball that lies on the floor grazes it: (3.11) fails, and salted filters say so."""
    start = FLIGHT, np.array([drop, 0.0]), 1e-8 * drop * np.eye(2)
    one = kind(model_of(one_mode_ball(SETTLE), 0.0), *start)
    belief = one.step(NONE, None, 2.0)
    assert belief.mode == REST and belief.time == 2.0
    assert_array_equal(belief.mean, np.zeros(2))
    assert_array_equal(belief.Sigma, np.zeros((2, 2)))
    assert belief.status == ("ok" if kind is few_particles else status)
    restless = kind(model_of(one_mode_ball(), 0.0), *start)
    assert restless.step(NONE, None, 2.0).status == "simulation_failed"
