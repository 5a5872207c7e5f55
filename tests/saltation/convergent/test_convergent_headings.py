"""The power controller's contraction in closed form: Lemma 1, Lemma 2 and its converse."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from saltation.convergent.contraction import metrics_of, symmetric_jacobian, symmetric_part
from saltation.convergent.convergent_headings import convergent_headings
from saltation.convergent.hill import HillDerivatives
from saltation.convergent.planar_contraction import (
    gaussian_curvature,
    gradient_jacobian,
    heading_terms,
    largest_eigenvalue,
)
from saltation.convergent.power_controller import divergence_metrics, jacobian, velocity

ALL_ROUND = np.linspace(-np.pi, np.pi, 721)  # headings
_slopes = st.floats(-3.0, 3.0, allow_subnormal=False)


@st.composite
def places(draw):
    """What of a hill matters in a place: the height's first and second derivatives there."""
    steep, way = draw(st.floats(0.1, 5.0)), draw(st.floats(-np.pi, np.pi))
    bends = [draw(_slopes) for _ in range(3)]
    return HillDerivatives(0.0, steep * np.cos(way), steep * np.sin(way), *bends)


def random_hill(rng):
    """Three waves on a slope: the gradient as a function of the position, and all derivatives."""
    wave, phase, slope = rng.normal(size=(3, 2)), rng.normal(size=3), 3.0 * rng.normal(size=2)

    def derivatives(z):
        c, s = np.cos(wave @ z + phase), -np.sin(wave @ z + phase)
        H = np.einsum("k,ki,kj->ij", s, wave, wave)
        g = slope + c @ wave
        return HillDerivatives(0.0, g[0], g[1], H[0, 0], H[0, 1], H[1, 1])

    return derivatives


def bend(at):
    """The determinant of the Hessian, which has the sign of the curvature."""
    return at.h_xx * at.h_yy - at.h_xy**2


def largest(at, p, theta=ALL_ROUND):
    """lambda_max of F over headings, alpha = 1, from the controller's Jacobian and eigvalsh."""
    v_x, v_y = velocity(at.h_x, at.h_y, theta, 1.0, p)
    entries = jacobian(*at[1:], v_x, v_y, p)
    J = np.moveaxis(np.array(np.broadcast_arrays(*entries)), 0, -1).reshape(-1, 2, 2)
    return metrics_of(symmetric_part(J)).maximum


@given(seed=st.integers(0, 2**31), p=st.floats(-1.0, 3.0), theta=st.floats(-np.pi, np.pi))
def test_closed_form_against_the_derivative_of_the_controller(seed, p, theta):
    rng = np.random.default_rng(seed)
    hill, z = random_hill(rng), rng.normal(size=2)
    at = hill(z)
    assume(np.hypot(at.h_x, at.h_y) > 0.1)

    def field(t, z, u):
        here = hill(z)
        return np.stack(velocity(here.h_x, here.h_y, theta, 1.0, p))

    F = symmetric_jacobian(field, 0.0, z, np.zeros(0))
    D_G = gradient_jacobian(at, p)
    scale = 1.0 + np.abs(D_G).max()
    top = largest_eigenvalue(heading_terms(D_G), theta)
    assert_allclose(top, np.linalg.eigvalsh(F)[-1], atol=1e-8 * scale)  # (2.10)


@given(at=places())
def test_lemma_1_a_constant_speed_controller_has_no_contraction_region(at):
    assert largest(at, 1.0).min() >= -1e-12 * (1.0 + np.abs(gradient_jacobian(at, 1.0)).max())
    assert convergent_headings(at, 1.0).half_width == 0.0


@given(at=places(), p=st.floats(-1.0, 3.0))
def test_lemma_2_and_its_converse(at, p):
    """Some heading has lambda_max < 0 if and only if sign K = sign(1 - p): the scan says if."""
    sign = np.sign(gaussian_curvature(at)) * np.sign(1.0 - p)
    assert np.sign(gaussian_curvature(at)) == np.sign(bend(at))
    found = convergent_headings(at, p)
    assert np.sign(found.half_width) == (sign > 0)
    if found.half_width > 0.02 and sign > 0:  # wide enough for the grid of headings
        assert largest(at, p).min() < 0.0
    if sign <= 0:
        assert largest(at, p).min() >= -1e-9 * (1.0 + np.abs(gradient_jacobian(at, p)).max())


@given(at=places(), p=st.floats(0.0, 2.0))
def test_best_heading_and_the_edges_of_the_interval(at, p):
    found = convergent_headings(at, p)
    speed = float(np.hypot(*velocity(at.h_x, at.h_y, 0.0, 1.0, p)))
    at_best = largest(at, p, np.array([found.best]))[0] / speed
    steep, scale = np.hypot(at.h_x, at.h_y), 1.0 + np.abs(at[3:]).max()
    scale *= 1e-9 * (1.0 + 1.0 / steep)
    assert at_best == approx(found.maximum, abs=scale)
    assert np.all(largest(at, p) / speed >= found.maximum - scale)
    if found.half_width > 0.0:
        edges = largest(at, p, found.best + found.half_width * np.array([-1.0, 1.0])) / speed
        assert_allclose(edges, 0.0, atol=scale)
    v = np.array([np.cos(found.course), np.sin(found.course)])
    average, maximum = divergence_metrics(*jacobian(*at[1:], *v, p))
    assert (average, maximum) == approx((found.average, found.maximum), abs=scale)
    opposite = divergence_metrics(*jacobian(*at[1:], *-v, p))  # phi: the worst heading
    assert opposite[0] == approx(-found.average, abs=scale)
