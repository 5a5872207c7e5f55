"""The particle filter: closed forms, the same draws interpreted and compiled, bad measurements."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx
from scipy.linalg import expm

from saltation.filters.bank import BankOptions
from saltation.filters.consistency import ConsistencyOptions
from saltation.filters.kernels.cloud import Cloud, effective_size, resample
from saltation.filters.manifolds import Circle
from saltation.filters.model import ProcessNoise
from saltation.filters.particle import ParticleFilter, ParticleOptions
from saltation.options import SimulationOptions
from saltation.systems import Mode, System
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow
from tests.saltation.filters.models import EYE, NONE, model_of, particles, van_loan

MANY = particles(20_000)


def flow_model(Q=0.01, V=1.0, **others):
    return model_of(constant_flow(), Q, V, **others)


def start(x=-2.5, spread=0.1):
    return LEFT, np.array([x, 0.0]), spread * EYE


@given(weights=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40), key=st.integers(0, 2**32))
def test_resampling_keeps_each_particle_as_often_as_its_weight_says(weights, key):
    weights = np.array(weights)
    assume(weights.sum() > 1e-3)
    weights /= weights.sum()
    cloud = Cloud.empty(len(weights), 1)
    with np.errstate(divide="ignore"):
        cloud.log_weights[:] = np.log(weights)
    cloud.states[:, 0] = np.arange(len(weights))
    resample(cloud, np.uint64(key))
    copies = np.bincount(cloud.states[:, 0].astype(int), minlength=len(weights))
    assert (np.abs(copies - len(weights) * weights) < 1.0 + 1e-9).all()
    assert not copies[weights == 0.0].any()
    assert effective_size(cloud.log_weights) == approx(len(weights))


@pytest.mark.parametrize("steps", [1, 5])
def test_white_noise_is_van_loans_integral_in_long_and_in_short_steps(steps):
    """Of a spring that is pulled by white noise, which has no noise on its place itself."""
    F, Q, h = np.array([[0.0, 1.0], [-4.0, -0.3]]), np.diag([0.0, 0.3]), 1.5
    spring = System({1: Mode("spring", 2, 0, lambda t, x, u: F @ x)}, ())
    options = SimulationOptions(rtol=1e-6, atol=1e-8)
    model, start = model_of(spring, Q, power=1, options=options), np.array([1.0, 0.0])
    one = particles(4000)(model, 1, start, 0.01 * EYE)
    for _ in range(steps):
        belief = one.step(NONE, None, h / steps)
    expected = 0.01 * expm(F * h) @ expm(F * h).T + van_loan(F, Q, h)
    spread = np.sqrt(np.outer(np.diag(expected), np.diag(expected)) + expected**2)
    assert (abs(belief.Sigma - expected) < 4.0 * spread / np.sqrt(4000)).all()


CROSSED = {(LEFT, RIGHT): np.diag([0.0, 0.05])}


@pytest.mark.parametrize(
    "power, Q_left, Q_right, W_R, after",
    [
        # noise of each timestep is added once, in the mode that it ends in
        (0, (9.0, 9.0), (0.2, 0.2), {}, (0.2, 0.2)),
        # all cross after 1 s: the held disturbance and the reset's noise are drawn anew (4.12)
        (2, (0.0, 0.1), (0.0, 0.1), CROSSED, (0.0, 0.25)),
    ],
)
def test_noise_through_a_transition(power, Q_left, Q_right, W_R, after):
    noises = {
        LEFT: ProcessNoise(np.diag(Q_left), power),
        RIGHT: ProcessNoise(np.diag(Q_right), power),
    }
    model = dataclasses.replace(flow_model(reset_noise=W_R), process=noises)
    belief = MANY(model, *start(-1.0, 0.0)).step(NONE, None, 2.0)
    assert (belief.mode, belief.transitions, belief.time) == (RIGHT, 1, 2.0)
    assert_allclose(belief.mean, [1.0, 0.0], atol=0.02)
    assert_allclose(belief.Sigma, np.diag(after), atol=0.01)


def test_a_linear_step_is_the_kalman_filters():
    y, predicted = np.array([-8.2, -1.4]), np.array([-8.0, -1.0])
    belief = particles(40_000)(flow_model(V=0.2), *start(-9.0)).step(NONE, y, 1.0)
    gain = (0.1 + 0.01) / (0.1 + 0.01 + 0.2)
    assert_allclose(belief.mean, predicted + gain * (y - predicted), atol=0.01)
    assert_allclose(belief.Sigma, 0.2 * gain * EYE, atol=0.01)


@pytest.mark.parametrize("threads", [1, 3])
def test_compiled_and_interpreted_particles_are_the_same(threads):
    rng = np.random.default_rng(2)
    model = flow_model(Q=0.1, V=0.3, reset_noise={(LEFT, RIGHT): 0.01 * EYE})
    options = {"resample_below": 0.9, "seed": 7, "threads": threads}
    pair = [particles(40, compiled=c, **options)(model, *start(-1.0)) for c in (True, False)]
    for k in range(6):
        y = np.array([-1.0 + 0.5 * k, 0.0]) + 0.5 * rng.standard_normal(2)
        one, other = (each.step(NONE, y, 0.4) for each in pair)
        assert one[:2] == other[:2] and one[4:] == other[4:]
        assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-9)
        assert_allclose(one.Sigma, other.Sigma, rtol=1e-9, atol=1e-9)


BOTH = pytest.mark.parametrize("compiled", [True, False])


@BOTH
@pytest.mark.parametrize(
    "y, status", [([np.nan, 0.0], "not_finite"), ([1e6, 0.0], "rejected"), ([0.0], "rejected")]
)
def test_a_measurement_that_says_nothing_leaves_the_prediction(y, status, compiled):
    one, plain = (particles(30, compiled=compiled)(flow_model(), *start()) for _ in range(2))
    found, expected = one.step(NONE, np.array(y), 0.5), plain.step(NONE, None, 0.5)
    assert found.status == status and found.time == 0.5
    assert_array_equal(found.mean, expected.mean)
    assert_array_equal(found.Sigma, expected.Sigma)
    assert one.step(NONE, np.array([-1.5, -1.0]), 0.5).status == "ok"


@BOTH
def test_particles_that_cannot_be_followed_are_dropped_until_none_is_left(compiled):
    def flow(t, x, u):
        return np.array([np.nan if x[0] > 0.5 else 1.0])

    model = model_of(System({1: Mode("away", 1, 0, flow)}, ()), V=1.0)
    one = particles(200, compiled=compiled)(model, 1, np.zeros(1), 0.01 * np.eye(1))
    some = one.step(NONE, np.array([0.4]), 0.45)
    assert some.status == "ok" and some.mean[0] < 0.5
    assert 0 < np.sum(one.weights == 0.0) < 200
    lost = one.step(NONE, np.array([1.4]), 1.0)
    assert lost.status == "simulation_failed" and lost.time == 1.45
    assert_allclose(lost.mean, some.mean, atol=0.02)  # resampled once
    assert one.step(NONE, None, np.nan).status == "not_finite"


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: ParticleOptions(particles=0), "particles 0"),
        (lambda: BankOptions(certain=0.7), r"certain=0\.7"),
        (lambda: ConsistencyOptions(window=0), "window=0"),
        (lambda: ParticleFilter(flow_model(V=0.0), *start()), "positive definite"),
        (lambda: ParticleFilter(flow_model(), *start(spread=-1.0)), "Sigma of mode 1"),
        (lambda: ParticleFilter(flow_model(np.eye(1), manifolds={LEFT: Circle(), RIGHT: Circle()}),
                                *start()), "manifolds"),
    ],
)  # fmt: skip
def test_what_cannot_be_filtered_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
