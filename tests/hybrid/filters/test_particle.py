"""The particle filter: closed forms, the same draws interpreted and compiled, bad measurements."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.stats import kstest

from hybrid.filters.draws import normals, python_subkey
from hybrid.filters.interface import HybridFilter
from hybrid.filters.kernels.cloud import Cloud, effective_size, resample
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.particle import ParticleFilter, ParticleOptions
from hybrid.options import SimulationOptions
from hybrid.systems import Mode, System
from studies.kong.systems.aslip import FLIGHT, aslip, at_rest
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow

NONE = np.zeros(0)
LOOSE = SimulationOptions(rtol=1e-6, atol=1e-8)


def whole(t, x, u):
    return x.copy()


def flow_model(Q=0.01, V=1.0, **kw):
    modes = (LEFT, RIGHT)
    return FilterModel(
        constant_flow(),
        {mode: ProcessNoise(Q * np.eye(2)) for mode in modes},
        {mode: Measurement(whole, V * np.eye(2)) for mode in modes},
        **kw,
    )


def start(x=-2.5, spread=0.1, mode=LEFT):
    return mode, np.array([x, 0.0]), spread * np.eye(2)


def test_draws_are_standard_normal_and_apart():
    draws = np.empty((4000, 3))
    for b in range(len(draws)):
        normals(python_subkey(np.uint64(5), b), draws[b])
    assert kstest(draws.ravel(), "norm").pvalue > 0.01
    np.testing.assert_allclose(np.cov(draws.T), np.eye(3), atol=0.06)
    assert abs(np.corrcoef(draws[1:, 0], draws[:-1, 0])[0, 1]) < 0.05


@settings(max_examples=30, deadline=None)
@given(weights=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40), key=st.integers(0, 2**32))
def test_resampling_keeps_each_particle_as_often_as_its_weight_says(weights, key):
    weights = np.array(weights)
    if weights.sum() < 1e-3:
        return
    weights /= weights.sum()
    cloud = Cloud.empty(len(weights), 1)
    with np.errstate(divide="ignore"):
        cloud.log_weights[:] = np.log(weights)
    cloud.states[:, 0] = np.arange(len(weights))
    resample(cloud, np.uint64(key))
    copies = np.bincount(cloud.states[:, 0].astype(int), minlength=len(weights))
    assert (np.abs(copies - len(weights) * weights) < 1.0 + 1e-9).all()
    assert not copies[weights == 0.0].any()
    assert effective_size(cloud.log_weights) == pytest.approx(len(weights))


def test_prediction_has_the_closed_form_of_a_disturbance_held():
    """In one mode x = x0 + (F + omega) h: covariance Sigma + h^2 Q after one step (4.6)."""
    particles = ParticleFilter(
        flow_model(Q=0.3), *start(-9.0), options=ParticleOptions(particles=20_000)
    )
    belief = particles.step(NONE, None, 1.5)
    np.testing.assert_allclose(belief.mean, [-7.5, -1.5], atol=0.03)
    np.testing.assert_allclose(belief.Sigma, (0.1 + 1.5**2 * 0.3) * np.eye(2), atol=0.03)
    assert (belief.mode, belief.time, belief.transitions, belief.status) == (LEFT, 1.5, 0, "ok")


@pytest.mark.parametrize("steps", [1, 5])
def test_white_noise_is_van_loans_integral_in_long_and_in_short_steps(steps):
    """Of a spring that is pulled by white noise, which has no noise on its place itself."""
    Q, h = np.diag([0.0, 0.3]), 1.5
    spring = Mode("spring", 2, 0, lambda t, x, u: np.array([x[1], -4.0 * x[0] - 0.3 * x[1]]))
    model = FilterModel(
        System({1: spring}, ()), {1: ProcessNoise(Q, 1)}, {1: Measurement(whole, np.eye(2))},
        options=LOOSE,
    )  # fmt: skip
    F = np.array([[0.0, 1.0], [-4.0, -0.3]])
    W = expm(h * np.block([[-F, Q], [np.zeros((2, 2)), F.T]]))  # Van Loan 1978
    A = W[2:, 2:].T
    expected = A @ (0.01 * np.eye(2)) @ A.T + A @ W[:2, 2:]
    particles = ParticleFilter(
        model, 1, np.array([1.0, 0.0]), 0.01 * np.eye(2), options=ParticleOptions(20_000)
    )
    for _ in range(steps):
        belief = particles.step(NONE, None, h / steps)
    spread = np.sqrt(np.outer(np.diag(expected), np.diag(expected)) + expected**2)
    assert (abs(belief.Sigma - expected) < 4.0 * spread / np.sqrt(20_000)).all()


def test_noise_of_each_timestep_is_added_once_in_the_mode_that_it_ends_in():
    noises = {LEFT: ProcessNoise(9.0 * np.eye(2), 0), RIGHT: ProcessNoise(0.2 * np.eye(2), 0)}
    model = dataclasses.replace(flow_model(), process=noises)
    particles = ParticleFilter(model, *start(-1.0, 0.0), options=ParticleOptions(20_000))
    belief = particles.step(NONE, None, 2.0)
    assert (belief.mode, belief.transitions) == (RIGHT, 1)
    np.testing.assert_allclose(belief.Sigma, 0.2 * np.eye(2), atol=0.01)


def test_a_transition_draws_the_disturbance_and_the_reset_noise_anew():
    """All cross after about 1 s: variance along the guard is (1 + 1) Q + W_R (4.12)."""
    reset = {(LEFT, RIGHT): np.diag([0.0, 0.05])}
    model = flow_model(Q=0.0, reset_noise=reset)
    Q = np.diag([0.0, 0.1])
    model = dataclasses.replace(model, process={m: ProcessNoise(Q) for m in (LEFT, RIGHT)})
    particles = ParticleFilter(model, *start(-1.0, 0.0), options=ParticleOptions(particles=20_000))
    belief = particles.step(NONE, None, 2.0)
    assert (belief.mode, belief.transitions) == (RIGHT, 1)
    np.testing.assert_allclose(belief.mean, [1.0, 0.0], atol=0.02)
    np.testing.assert_allclose(belief.Sigma, np.diag([0.0, 0.25]), atol=0.01)


def test_a_linear_step_is_the_kalman_filters():
    particles = ParticleFilter(
        flow_model(V=0.2), *start(-9.0), options=ParticleOptions(particles=40_000)
    )
    y = np.array([-8.2, -1.4])
    belief = particles.step(NONE, y, 1.0)
    gain = (0.1 + 0.01) / (0.1 + 0.01 + 0.2)
    np.testing.assert_allclose(belief.mean, [-8.0, -1.0] + gain * (y - [-8.0, -1.0]), atol=0.01)
    np.testing.assert_allclose(belief.Sigma, 0.2 * gain * np.eye(2), atol=0.01)


def test_modes_are_weighed_and_a_mean_is_taken_over_all_of_them():
    particles = ParticleFilter(
        flow_model(Q=0.0), *start(-1.0), options=ParticleOptions(particles=20_000)
    )
    particles.step(NONE, None, 1.1)
    crossed = particles.mode_probabilities
    assert crossed[RIGHT] == pytest.approx(0.624, abs=0.01)  # Phi(0.1 / sqrt(0.1))
    assert sum(crossed.values()) == pytest.approx(1.0)
    mean = particles.mean_of(lambda mode, x: x)
    assert mean[0] == pytest.approx(0.1, abs=0.01)
    assert particles.belief.mean[0] > 0.1


@pytest.mark.parametrize("threads", [1, 3])
def test_compiled_and_interpreted_particles_are_the_same(threads):
    rng = np.random.default_rng(2)
    reset = {(LEFT, RIGHT): 0.01 * np.eye(2)}
    model = flow_model(Q=0.1, V=0.3, reset_noise=reset)
    pair = [
        ParticleFilter(
            model, *start(-1.0), options=ParticleOptions(40, 0.9, 7, threads, as_compiled)
        )
        for as_compiled in (True, False)
    ]
    for k in range(6):
        y = np.array([-1.0 + 0.5 * k, 0.0]) + 0.5 * rng.standard_normal(2)
        one, other = (particles.step(NONE, y, 0.4) for particles in pair)
        assert one[:2] == other[:2] and one[4:] == other[4:]
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.Sigma, other.Sigma, rtol=1e-9, atol=1e-9)


def test_a_hopping_robot_is_followed_through_its_stance():
    model = FilterModel(
        aslip(),
        {mode: ProcessNoise(1e-4 * np.eye(8)) for mode in (1, 2)},
        {mode: Measurement(whole, 0.01 * np.eye(8)) for mode in (1, 2)},
        options=LOOSE,
    )
    mean = at_rest(np.array([0.0, 1.8, 5 * np.pi / 12, 0.0, -1.0, 0.0]))
    hop = FLIGHT, mean, 1e-6 * np.eye(8)
    particles = ParticleFilter(model, *hop, options=ParticleOptions(particles=200, threads=2))
    modes = [particles.step(NONE, None, 0.02).mode for _ in range(20)]
    assert modes[0] == modes[-1] == 1 and 2 in modes
    assert particles.belief.status == "ok"


@pytest.mark.parametrize("as_compiled", [True, False])
@pytest.mark.parametrize(
    ("y", "status"),
    [
        ([np.nan, 0.0], "not_finite"),
        ([1e6, 0.0], "rejected"),
        ([0.0], "rejected"),
        (None, "ok"),
    ],
)
def test_a_measurement_that_says_nothing_leaves_the_prediction(y, status, as_compiled):
    options = ParticleOptions(particles=30, compiled=as_compiled)
    particles, plain = (ParticleFilter(flow_model(), *start(), options=options) for _ in range(2))
    found = particles.step(NONE, None if y is None else np.array(y), 0.5)
    expected = plain.step(NONE, None, 0.5)
    assert found.status == status and found.time == 0.5
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.Sigma, expected.Sigma)
    assert particles.step(NONE, np.array([-1.5, -1.0]), 0.5).status == "ok"


def escaping(limit):
    def flow(t, x, u):
        return np.array([np.nan if x[0] > limit else 1.0])

    return System({1: Mode("away", 1, 0, flow)}, ())


@pytest.mark.parametrize("as_compiled", [True, False])
def test_particles_that_cannot_be_followed_are_dropped_until_none_is_left(as_compiled):
    model = FilterModel(
        escaping(0.5), {1: ProcessNoise(0.01 * np.eye(1))}, {1: Measurement(whole, np.eye(1))}
    )
    first = 1, np.zeros(1), 0.01 * np.eye(1)
    particles = ParticleFilter(model, *first, options=ParticleOptions(200, compiled=as_compiled))
    some = particles.step(NONE, np.array([0.4]), 0.45)
    assert some.status == "ok" and some.mean[0] < 0.5
    assert 0 < np.sum(particles.weights == 0.0) < 200
    lost = particles.step(NONE, np.array([1.4]), 1.0)
    assert lost.status == "simulation_failed" and lost.time == 1.45
    np.testing.assert_allclose(lost.mean, some.mean, atol=0.02)  # resampled once
    assert particles.step(NONE, None, np.nan).status == "not_finite"


def test_what_cannot_be_filtered_is_refused_with_what_to_do():
    with pytest.raises(ValueError, match="particles on"):
        ParticleOptions(particles=0)
    with pytest.raises(ValueError, match="positive definite.*give every measurement"):
        ParticleFilter(flow_model(V=0.0), *start())
    with pytest.raises(ValueError, match="Sigma of mode 1 is no covariance"):
        ParticleFilter(flow_model(), *start(spread=-1.0))

    class Circle:
        tangent_dim = 1

    model = FilterModel(
        constant_flow(),
        {mode: ProcessNoise(np.eye(1)) for mode in (LEFT, RIGHT)},
        {mode: Measurement(whole, np.eye(2)) for mode in (LEFT, RIGHT)},
        manifolds={mode: Circle() for mode in (LEFT, RIGHT)},
    )
    with pytest.raises(ValueError, match="manifolds.*coordinates"):
        ParticleFilter(model, *start())


def test_it_is_a_hybrid_filter():
    held: HybridFilter = ParticleFilter(flow_model(), *start())
    assert held.belief.mode == LEFT
