"""Contraction of any vector field: metrics, their gradients, and (2.2)-(2.4) on flows."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from controller.convergent.contraction import (
    metric_gradients,
    metrics_of,
    symmetric_part,
)
from controller.convergent.contraction_bounds import bounds_along
from controller.convergent.hill import SINE_HILL
from controller.convergent.power_controller import velocity
from tests.differences import slopes

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


@settings(max_examples=25)
@given(seed=SEEDS, n=st.integers(1, 4))
def test_gradients_of_the_metrics_against_differences(seed, n):
    rng = np.random.default_rng(seed)
    field, jacobian = waves(n, 2, rng)
    z = rng.normal(size=n + 2)
    found = metric_gradients(field, 0.3, z[:n], z[n:])
    assume(found.gap > 1e-2)  # or the differences below would see the kink

    def metrics(z):
        return np.array(metrics_of(symmetric_part(jacobian(0.3, z[:n], z[n:]))))

    average, maximum = slopes(metrics, z, 1e-5)
    assert found.status == "ok"
    assert_allclose(np.r_[found.average_x, found.average_u], average, atol=1e-6)
    assert_allclose(np.r_[found.maximum_x, found.maximum_u], maximum, atol=1e-5)


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
    assert_allclose(np.log(np.linalg.det(found.fundamental)), found.log_volume, atol=1e-8)  # (2.4)
