"""The hopper that calibrates the event-selected integrator: its closed form."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from studies.anderson_revzen.systems.spring_hopper import GRAVITY, LENGTH, MASS, STIFFNESS, exact


def test_the_closed_form_is_the_flow():
    def field(t, x):
        return [x[1], max(LENGTH - x[0], 0.0) * STIFFNESS / MASS - GRAVITY]

    start, times = np.array([1.3, 0.7]), np.linspace(0.0, 5.0, 501)
    found = solve_ivp(field, (0.0, 5.0), start, "DOP853", times, rtol=1e-12, atol=1e-12).y.T
    assert_allclose(exact(start, times), found, atol=1e-7)
