"""The hopper that calibrates the event-selected integrator: its closed form, and (f, h)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from studies.anderson_revzen.systems.spring_hopper import (
    SpringHopper,
    exact,
)

HOPPERS = (SpringHopper(), SpringHopper(mass=0.3, stiffness=900.0, length=0.4, gravity=3.7))
TIMES = np.linspace(0.0, 5.0, 501)


@pytest.mark.parametrize("hopper", HOPPERS)
def test_the_closed_form_is_the_flow(hopper):
    def field(t, x):
        push = max(hopper.length - x[0], 0.0) * hopper.stiffness / hopper.mass
        return [x[1], push - hopper.gravity]

    start = np.array([1.3, 0.7])
    found = solve_ivp(field, (0.0, 5.0), start, "DOP853", TIMES, rtol=1e-12, atol=1e-12).y.T
    np.testing.assert_allclose(exact(hopper, start, TIMES), found, atol=1e-7)
