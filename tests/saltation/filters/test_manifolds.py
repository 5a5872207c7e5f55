"""Filters where nothing is linear: ASLIP's coordinates, angles on a circle, turning frames."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from saltation.filters.manifolds import Circle, Euclidean, Product, retraction_slope, tangent_part
from saltation.filters.model import FilterModel, Measurement, ProcessNoise
from saltation.filters.salted import SaltedKalmanFilter
from saltation.simulation import simulate_step
from saltation.systems import Mode, System, Transition
from studies.kong.systems.pendulum import CONTACT, FREE, pendulum
from tests.differences import slopes
from tests.saltation.filters.models import NONE, whole

angles = st.floats(-3.0, 3.0)


def circular(x):
    """[cos, sin, rate] of [angle, rate]."""
    return np.array([np.cos(x[0]), np.sin(x[0]), x[1]])


def pendulum_on_circle():
    """The pendulum of 3.8.5 with its angle as a unit vector; the guards are its sine."""
    plain = pendulum()

    def lifted(mode):
        def flow(t, z, u):
            angle = 2.0 * np.arctan(z[1] / (1.0 + z[0]))  # arctan2, for complex numbers too
            rate = plain.modes[mode].flow(t, np.array([angle, z[2]]), u)
            return np.array([-z[1] * z[2], z[0] * z[2], rate[1]])

        return Mode(plain.modes[mode].name, 3, 0, flow)

    def crossing(edge, side):
        return Transition(edge.source, edge.target, lambda t, z, u: side * z[1], whole)

    edges = [crossing(e, side) for e, side in zip(plain.transitions, (1.0, -1.0), strict=True)]
    return System({mode: lifted(mode) for mode in plain.modes}, edges)


@pytest.mark.parametrize("sensitivity, power", [("saltation", 2), ("reset", 2), ("saltation", 1)])
def test_an_angle_and_a_unit_vector_are_one_filter(sensitivity, power):
    """With angles as errors the circle's tangent vectors are what a number's errors are."""
    noises = dict.fromkeys((FREE, CONTACT), ProcessNoise(np.diag([0.02, 0.05]), power))
    V, W_R = 0.01 * np.eye(2), {(FREE, CONTACT): np.diag([0.0, 0.01])}
    readings = (lambda t, x, u: np.array([np.sin(x[0]), x[1]]), lambda t, z, u: z[1:].copy())
    of_number, of_vector = (dict.fromkeys(noises, Measurement(h, V)) for h in readings)
    swing = Product((Circle(), 2), (Euclidean(1), 1))
    plain = FilterModel(pendulum(), noises, of_number, W_R)
    circle = FilterModel(pendulum_on_circle(), noises, of_vector, W_R, dict.fromkeys(noises, swing))
    x, Sigma, rng = np.array([0.5, 0.0]), np.diag([0.01, 0.02]), np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"mode 1 .*\(3, 3\).*\(2, 2\)"):
        SaltedKalmanFilter(circle, FREE, circular(x), np.eye(3))
    a = SaltedKalmanFilter(plain, FREE, x, Sigma, sensitivity=sensitivity)
    b = SaltedKalmanFilter(circle, FREE, circular(x), Sigma, sensitivity=sensitivity)
    mode, transitions = FREE, 0
    for k in range(12):
        mode, x = simulate_step(plain.system, mode, x, 0.1, NONE, 0.1 * k)[:2]
        y = np.array([np.sin(x[0]), x[1]]) + 0.1 * rng.normal(size=2)
        number, vector = a.step(NONE, y, 0.1), b.step(NONE, y, 0.1)
        transitions += number.transitions
        assert (number.mode, number.status) == (vector.mode, vector.status)
        assert_allclose(vector.mean, circular(number.mean), atol=1e-8)
        assert_allclose(vector.Sigma, number.Sigma, atol=1e-8)
        assert np.hypot(*vector.mean[:2]) == approx(1.0, abs=1e-14)
        likelihoods = a.innovation.log_likelihood, b.innovation.log_likelihood
        assert likelihoods[0] == approx(likelihoods[1], abs=1e-6)
    assert transitions >= 1


@given(angle=angles, turn=st.floats(-3.1, 3.1), a=angles, b=angles)
def test_a_circle_obeys_the_laws_of_a_manifold(angle, turn, a, b):
    """minus undoes plus; basis and part are their derivatives, and inverse to each other."""
    swing = Product((Circle(), 2), (Euclidean(2), 2))
    x, d, zero = np.array([np.cos(angle), np.sin(angle), a, b]), np.array([turn, b, a]), np.zeros(3)
    y = swing.plus(x, d)
    assert np.hypot(y[0], y[1]) == approx(1.0, abs=1e-14)
    assert_allclose(swing.minus(y, x), d, atol=1e-13)
    assert_allclose(swing.plus(x, zero), x, atol=1e-14)
    E, D = retraction_slope(swing, x, zero), tangent_part(swing, x)
    assert_allclose(E, slopes(lambda d: swing.plus(x, d), zero), atol=1e-8)
    assert_allclose(D, slopes(lambda y: swing.minus(y, x), x), atol=1e-8)
    assert_allclose(D @ E, np.eye(3), atol=1e-9)


def test_a_turned_frame_turns_the_covariance():
    """In polar errors, forward and left of a heading, a turn by d turns what is already known."""

    class Heading:
        tangent_dim = 3

        def plus(self, x, d):
            c, s = np.cos(x[2]), np.sin(x[2])
            return x + np.array([c * d[0] - s * d[1], s * d[0] + c * d[1], d[2]])

        def minus(self, y, x):
            c, s, e = np.cos(x[2]), np.sin(x[2]), y - x
            return np.array([c * e[0] + s * e[1], -s * e[0] + c * e[1], e[2]])

    model = FilterModel(
        System({0: Mode("still", 3, 0, lambda t, x, u: 0.0 * x)}, ()),
        {0: ProcessNoise(np.zeros((3, 3)))},
        {0: Measurement(lambda t, x, u: x[2:].copy(), 1e-14 * np.eye(1))},
        manifolds={0: Heading()},
    )
    one = SaltedKalmanFilter(model, 0, np.array([1.0, 2.0, 0.3]), np.diag([4.0, 1.0, 0.5]))
    belief = one.correct(NONE, np.array([0.3 + np.pi / 2]))
    assert_allclose(belief.Sigma, np.diag([1.0, 4.0, 0.0]), atol=1e-8)
