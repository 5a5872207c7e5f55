"""Contraction of any vector field: metrics, their gradients, and (2.2)-(2.4) on flows."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from controller.convergent.contraction import (
    metric_gradients,
    metrics_of,
    symmetric_jacobian,
    symmetric_part,
)
from controller.convergent.contraction_bounds import bounds_along
from controller.convergent.hill import SINE_HILL
from controller.convergent.power_controller import velocity

SEEDS = st.integers(0, 2**31)


def waves(n, m, rng):
    """A smooth field with all kinds of Jacobians, and its Jacobian: W sin(V x + B u + t)."""
    W, V, B = rng.normal(size=(n, n)), rng.normal(size=(n, n)), rng.normal(size=(n, m))
    field = lambda t, x, u: W @ np.sin(V @ x + B @ u + t)  # noqa: E731
    return field, lambda t, x, u: W @ (np.cos(V @ x + B @ u + t)[:, None] * V)


def on_the_hill(t, z, u):
    """The power controller with its heading, scale and power as the input."""
    at = SINE_HILL.at(z[0], z[1])
    return np.stack(velocity(at.h_x, at.h_y, u[0], u[1], u[2]))


@given(seed=SEEDS, n=st.integers(1, 5))
def test_the_symmetric_jacobian_of_a_field_is_that_of_its_given_jacobian(seed, n):
    rng = np.random.default_rng(seed)
    field, jacobian = waves(n, 2, rng)
    x, u = rng.normal(size=n), rng.normal(size=2)
    F = symmetric_jacobian(field, 0.3, x, u)
    np.testing.assert_allclose(F, symmetric_part(jacobian(0.3, x, u)), atol=1e-12)
    np.testing.assert_array_equal(F, F.T)


@given(seed=SEEDS, n=st.integers(1, 5))
def test_metrics_are_the_mean_and_largest_rate_over_directions(seed, n):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(4, n, n))
    found = metrics_of(symmetric_part(J))
    directions = rng.normal(size=(200, n))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    rates = np.einsum("di,kij,dj->kd", directions, J, directions)  # d/dt log ||dx||, (2.2)
    assert np.all(rates <= found.maximum[:, None] + 1e-12)
    np.testing.assert_allclose(n * found.average, np.trace(J, axis1=1, axis2=2), atol=1e-12)
    one = metrics_of(symmetric_part(J[0]))
    np.testing.assert_allclose([*one], [found.average[0], found.maximum[0]], rtol=1e-12)


@settings(max_examples=25)
@given(seed=SEEDS, n=st.integers(1, 4))
def test_gradients_of_the_metrics_against_differences(seed, n):
    rng = np.random.default_rng(seed)
    field, jacobian = waves(n, 2, rng)
    z, step = rng.normal(size=n + 2), 1e-5
    found = metric_gradients(field, 0.3, z[:n], z[n:])
    assume(found.gap > 1e-2)  # or the differences below would see the kink

    def metrics(z):
        return np.array(metrics_of(symmetric_part(jacobian(0.3, z[:n], z[n:]))))

    moved = [(metrics(z + step * e) - metrics(z - step * e)) / (2 * step) for e in np.eye(n + 2)]
    average, maximum = np.array(moved).T
    assert found.status == "ok"
    np.testing.assert_allclose(np.r_[found.average_x, found.average_u], average, atol=1e-6)
    np.testing.assert_allclose(np.r_[found.maximum_x, found.maximum_u], maximum, atol=1e-5)


def test_a_repeated_largest_eigenvalue_is_a_status_and_its_gradient_a_generalised_one():
    field = lambda t, x, u: x * (1.0 + u)  # noqa: E731  F = diag(1 + u): double at equal inputs
    found = metric_gradients(field, 0.0, np.ones(2), np.zeros(2))
    assert found.status == "repeated"
    assert found.gap == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(found.average_u, [0.5, 0.5], atol=1e-8)
    # the generalised gradients are the convex hull of (1, 0) and (0, 1)
    assert found.maximum_u.min() > -1e-8
    assert found.maximum_u.sum() == pytest.approx(1.0, abs=1e-8)
    apart = metric_gradients(field, 0.0, np.ones(2), np.array([0.0, 0.1]))
    assert apart.status == "ok"
    np.testing.assert_allclose(apart.maximum_u, [0.0, 1.0], atol=1e-8)


FIELDS = {
    "waves": (waves(3, 2, np.random.default_rng(5))[0], np.ones(3), np.array([0.2, -0.1])),
    "hill": (on_the_hill, np.array([-1.2, 0.4]), np.array([0.4, 0.3, 1.7])),
}


@pytest.mark.parametrize("name", FIELDS)
def test_distances_and_volumes_keep_what_contraction_promises(name):
    field, x, u = FIELDS[name]
    found = bounds_along(field, x, u, np.linspace(0.0, 1.5, 7))
    assert found.status == "ok"
    stretches = np.linalg.svd(found.fundamental, compute_uv=False)
    assert np.ptp(np.log(stretches[-1])) > 0.1  # there is something to bound
    assert np.all(np.log(stretches[:, 0]) <= found.log_farthest + 1e-8)  # (2.3)
    assert np.all(np.log(stretches[:, -1]) >= found.log_nearest - 1e-8)
    np.testing.assert_allclose(
        np.log(np.linalg.det(found.fundamental)), found.log_volume, atol=1e-8
    )  # (2.4)


def test_neighbours_are_where_the_fundamental_matrix_takes_them():
    field, x, u = FIELDS["hill"]
    times, step = np.array([0.0, 1.0]), 1e-4
    found = bounds_along(field, x, u, times)
    ends = [
        [bounds_along(field, x + sign * step * e, u, times).states[-1] for sign in (1, -1)]
        for e in np.eye(2)
    ]
    moved = np.array([(ahead - behind) / (2 * step) for ahead, behind in ends]).T
    np.testing.assert_allclose(found.fundamental[-1], moved, atol=1e-5)


def test_the_bounds_are_tight_for_a_symmetric_linear_field():
    A = np.array([[-1.0, 0.4], [0.4, -0.2]])
    found = bounds_along(lambda t, x, u: A @ x, np.ones(2), np.zeros(0), np.array([0.0, 2.0]))
    stretches = np.log(np.linalg.svd(found.fundamental[-1], compute_uv=False))
    np.testing.assert_allclose(
        stretches, [found.log_farthest[-1], found.log_nearest[-1]], atol=1e-7
    )
    np.testing.assert_allclose(found.log_farthest[-1], 2.0 * np.linalg.eigvalsh(A)[-1], atol=1e-7)


def test_an_integration_that_breaks_off_is_a_status():
    found = bounds_along(lambda t, x, u: x * x, np.ones(1), np.zeros(0), np.array([0.0, 0.5, 2.0]))
    assert found.status == "integration_failed"
    assert found.message
    assert len(found.times) == len(found.states) == len(found.log_volume) == 2
