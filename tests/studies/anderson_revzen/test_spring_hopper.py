"""The hopper that calibrates the event-selected integrator: its closed form, and (f, h)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid.event_selected.integrator import integrate
from hybrid.event_selected.system import EssOptions
from studies.anderson_revzen.systems.spring_hopper import (
    DURATION,
    LAND,
    LEAVE,
    START,
    SpringHopper,
    exact,
    spring_hopper,
)

HOPPERS = (SpringHopper(), SpringHopper(mass=0.3, stiffness=900.0, length=0.4, gravity=3.7))
TIMES = np.linspace(0.0, 5.0, 501)
START_2 = np.array(START)


def energy(hopper, x):
    """Energy of body and spring [J], which the flow keeps."""
    spring = 0.5 * hopper.stiffness * max(hopper.length - x[0], 0.0) ** 2
    return float(hopper.mass * (0.5 * x[1] ** 2 + hopper.gravity * x[0]) + spring)


@pytest.mark.parametrize("hopper", HOPPERS)
def test_the_closed_form_keeps_the_energy_over_many_hops(hopper):
    states = exact(hopper, START_2, TIMES)
    kept = [energy(hopper, x) for x in states]
    np.testing.assert_allclose(kept, kept[0], rtol=1e-12)
    assert np.sum(np.diff(np.sign(states[:, 0] - hopper.length)) != 0) >= 3


@pytest.mark.parametrize("hopper", HOPPERS)
def test_the_closed_form_is_the_flow(hopper):
    def field(t, x):
        push = max(hopper.length - x[0], 0.0) * hopper.stiffness / hopper.mass
        return [x[1], push - hopper.gravity]

    start = np.array([1.3, 0.7])
    found = solve_ivp(field, (0.0, 5.0), start, "DOP853", TIMES, rtol=1e-12, atol=1e-12).y.T
    np.testing.assert_allclose(exact(hopper, start, TIMES), found, atol=1e-7)


def test_the_integrator_crosses_in_turn_and_converges_with_order_two():
    hopper, times = SpringHopper(), np.linspace(0.0, DURATION, 401)
    true, errors, epsilons = exact(hopper, START_2, times), [], np.array([3e-3, 6e-3, 12e-3])
    for epsilon in epsilons:
        options = EssOptions(
            epsilon=epsilon, max_step=2e-4
        )  # so it projects from where N^eps begins
        run = integrate(spring_hopper(hopper), START_2, DURATION, options)
        assert [crossing.guard for crossing in run.crossings] == [LAND, LEAVE] * 2
        errors.append(np.abs(run.at(times) - true).max())
    order = np.polyfit(np.log(epsilons), np.log(errors), 1)[0]
    assert 1.8 < order < 2.3
