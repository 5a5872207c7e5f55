"""Manifolds and the tangent versions of Jacobians, against differences and by their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid.filters.kernels import functions
from hybrid.filters.manifolds import Circle, Euclidean, Product, retraction_slope, tangent_part
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.tables import model_tables
from hybrid.systems import Mode, System

SWING = Product((Circle(), 2), (Euclidean(2), 2))
angles = st.floats(-3.0, 3.0)


def unit(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def kernel_tables(*places):
    """Of modes 0, 1, ... with given state dimensions on given manifolds, None for R^n."""

    def still(t, x, u):
        return 0.0 * x

    modes = {i: Mode(f"mode {i}", n, 0, still) for i, (_, n) in enumerate(places)}
    manifolds = {i: one for i, (one, _) in enumerate(places) if one is not None}
    dims = [n if one is None else one.tangent_dim for one, n in places]
    return model_tables(
        FilterModel(
            System(modes, ()),
            {i: ProcessNoise(np.eye(k)) for i, k in enumerate(dims)},
            {i: Measurement(lambda t, x, u: x[:1], np.eye(1)) for i in modes},
            manifolds=manifolds,
        )
    ).tables


def differences(function, x, h=1e-6):
    columns = [(function(x + h * e) - function(x - h * e)) / (2.0 * h) for e in np.eye(len(x))]
    return np.column_stack(columns)


@given(angle=angles, turn=st.floats(-3.1, 3.1), a=angles, b=angles)
def test_minus_undoes_plus(angle, turn, a, b):
    x, d = np.array([*unit(angle), a, b]), np.array([turn, b, a])
    y = SWING.plus(x, d)
    assert np.hypot(y[0], y[1]) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(SWING.minus(y, x), d, atol=1e-13)
    np.testing.assert_allclose(SWING.plus(x, np.zeros(3)), x, atol=1e-14)


@given(angle=angles, a=angles)
def test_basis_and_part_are_derivatives(angle, a):
    x = np.array([*unit(angle), a, -a])
    E, D = retraction_slope(SWING, x, np.zeros(3)), tangent_part(SWING, x)
    np.testing.assert_allclose(E, differences(lambda d: SWING.plus(x, d), np.zeros(3)), atol=1e-8)
    np.testing.assert_allclose(D, differences(lambda y: SWING.minus(y, x), x), atol=1e-8)
    np.testing.assert_allclose(D @ E, np.eye(3), atol=1e-9)


@given(angle=angles, a=angles)
def test_the_map_of_tangent_vectors_is_a_derivative(angle, a):
    """From angle and two lengths to angle and one: minus(f(plus(x, d)), f(x)) by d."""
    end = Product((Circle(), 2), (Euclidean(1), 1))

    def f(z):
        turn = 0.3 * z[2] * z[3]
        return np.array(
            [
                z[0] * np.cos(turn) - z[1] * np.sin(turn),
                z[0] * np.sin(turn) + z[1] * np.cos(turn),
                z[2] * z[1],
            ]
        )

    x = np.array([*unit(angle), a, 0.7])
    f_tables = kernel_tables((SWING, 4), (end, 3))
    found = functions.tangent_map(f_tables, differences(f, x), 0, x, 1, f(x))
    expected = differences(lambda d: end.minus(f(SWING.plus(x, d)), f(x)), np.zeros(3))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_in_r_n_nothing_changes():
    M, x, Sigma, tables = np.ones((2, 3)), np.ones(3), np.eye(3), kernel_tables((None, 3))
    np.testing.assert_array_equal(functions.tangent_map(tables, M, 0, x, 0, x), M)
    np.testing.assert_array_equal(functions.project(tables, 0, x), x)
    np.testing.assert_array_equal(functions.transport_covariance(tables, 0, x, x, Sigma), Sigma)


def test_a_state_off_the_manifold_is_put_back():
    tables = kernel_tables((Circle(), 2))
    found = functions.project(tables, 0, 1.1 * unit(0.4))
    np.testing.assert_allclose(found, unit(0.4), atol=1e-15)


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

    x, d = np.array([1.0, 2.0, 0.3]), np.array([0.1, -0.2, np.pi / 2])
    tables = kernel_tables((Heading(), 3))
    found = functions.transport_covariance(tables, 0, x, d, np.diag([4.0, 1.0, 0.5]))
    np.testing.assert_allclose(found, np.diag([1.0, 4.0, 0.5]), atol=1e-9)
