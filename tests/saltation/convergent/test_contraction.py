"""Contraction of any vector field: (2.2)-(2.4) on flows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from saltation.convergent.contraction_bounds import bounds_along
from saltation.convergent.hill import SINE_HILL
from saltation.convergent.power_controller import velocity


def waves(n, m, rng):
    """A smooth field with all kinds of Jacobians."""
    W, V, B = rng.normal(size=(n, n)), rng.normal(size=(n, n)), rng.normal(size=(n, m))
    return lambda t, x, u: W @ np.sin(V @ x + B @ u + t)


def on_the_hill(t, z, u):
    """The power controller with its heading, scale and power as the input."""
    at = SINE_HILL.at(z[0], z[1])
    return np.stack(velocity(at.h_x, at.h_y, u[0], u[1], u[2]))


FIELDS = {
    "waves": (waves(3, 2, np.random.default_rng(5)), np.ones(3), np.array([0.2, -0.1])),
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
