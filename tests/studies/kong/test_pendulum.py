import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid.derivatives import jacobian
from hybrid.saltations import saltation
from hybrid.simulation import simulate_step
from hybrid.variational import fundamental_matrix
from studies.kong.systems.pendulum import (
    CONTACT,
    DAMPING,
    FREE,
    GRAVITY,
    LENGTH,
    MASS,
    STIFFNESS,
    pendulum,
)

NOTHING = np.zeros(0)
START = np.array([np.pi / 4, -3.7])  # 3.8.5


def energy(mode, x):
    spring = STIFFNESS * x[0] ** 2 if mode == CONTACT else 0.0
    speed = MASS * (LENGTH * x[1]) ** 2
    return 0.5 * (speed + spring) - MASS * GRAVITY * LENGTH * np.cos(x[0])


def test_the_damper_takes_exactly_the_energy_that_is_lost():
    system = pendulum(damping=0.0)
    step = simulate_step(system, FREE, START, 2.0, NOTHING)
    assert len(step.events) >= 2
    assert energy(step.mode, step.state) == pytest.approx(energy(FREE, START), abs=1e-8)
    rng = np.random.default_rng(1)
    for x in rng.standard_normal((10, 2)):
        for mode, loss in ((FREE, 0.0), (CONTACT, DAMPING * x[1] ** 2)):
            slope = jacobian(lambda y, mode=mode: np.array([energy(mode, y)]), x)[0]
            power = slope @ pendulum().modes[mode].flow(0.0, x, NOTHING)
            assert power == pytest.approx(-loss, abs=1e-10)


def test_the_thesis_case_ends_in_contact_where_an_independent_solver_does():
    step = simulate_step(pendulum(), FREE, START, 0.3, NOTHING)
    assert step.mode == CONTACT and len(step.events) == 1

    def field(t, x):
        push = STIFFNESS * x[0] + DAMPING * x[1] if x[0] <= 0.0 else 0.0
        return [x[1], -(push + MASS * GRAVITY * LENGTH * np.sin(x[0])) / (MASS * LENGTH**2)]

    met = step.events[0].time
    before = solve_ivp(field, (0.0, met), START, rtol=1e-11, atol=1e-12).y[:, -1]
    assert before[0] == pytest.approx(0.0, abs=1e-8)
    after = solve_ivp(field, (met, 0.3), [-1e-14, before[1]], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(step.state, after.y[:, -1], atol=1e-8)


def test_saltation_at_contact_in_closed_form():
    """Identity plus the damper's sudden pull -c rate over the guard's rate."""
    system, x = pendulum(), np.array([0.0, -4.4])
    found = saltation(system, system.outgoing(FREE)[0], 0.0, x, NOTHING)
    gain = -DAMPING / (MASS * LENGTH**2)
    np.testing.assert_allclose(found.matrix, [[1.0, 0.0], [gain, 1.0]], atol=1e-12)


def test_the_fundamental_matrix_is_the_derivative_through_contact_and_release():
    system = pendulum(damping=1.0)
    Phi = fundamental_matrix(system, FREE, START, 1.2)
    assert len(Phi.events) >= 2

    def end(x):
        return simulate_step(system, FREE, x, 1.2, NOTHING).state

    h = 1e-5
    columns = [(end(START + h * e) - end(START - h * e)) / (2.0 * h) for e in np.eye(2)]
    np.testing.assert_allclose(Phi.Phi, np.array(columns).T, rtol=1e-5, atol=1e-6)
