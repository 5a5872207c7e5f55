"""Ball on a spring-damper (5.4.2): closed forms, signs, energy, and saltation at its events."""

import numpy as np
import pytest

from hybrid.derivatives import jacobian
from hybrid.hilqr import Hilqr, HilqrOptions, Policies
from hybrid.integration import integrate
from hybrid.saltations import saltation
from hybrid.simulation import simulate_step
from studies.kong.systems.spring_damper_ball import (
    AERIAL,
    DAMPING,
    GRAVITY,
    MASS,
    SPRING,
    SPRING_DAMPER,
    START,
    STIFFNESS,
    spring_damper_ball,
    spring_damper_problem,
)

SYSTEM = spring_damper_ball()
TOUCHDOWN, TURN, RELEASE = SYSTEM.transitions
NONE = np.zeros(1)


def energy(x):
    """Kinetic, of gravity, and of the spring while it is pressed."""
    return MASS * (0.5 * x[1] ** 2 + GRAVITY * x[0]) + 0.5 * STIFFNESS * min(x[0], 0.0) ** 2


def on_guard(transition, rng):
    """A state at which the guard is crossed, and an input."""
    if transition is TURN:
        return np.array([-rng.uniform(0.3, 1.0), 0.0]), rng.uniform(-5, 5, 1)
    speed = rng.uniform(1.0, 8.0)
    return np.array([0.0, -speed if transition is TOUCHDOWN else speed]), rng.uniform(-5, 5, 1)


@pytest.mark.parametrize("number", [AERIAL, SPRING_DAMPER, SPRING])
def test_closed_form_solves_the_flow_and_derivatives_are_its_own(number):
    mode, rng = SYSTEM.modes[number], np.random.default_rng(number)
    assert mode.flow_map is not None
    state, jacobians = mode.flow_map
    for h in (0.3, -0.2, 1e-3):
        x, u = rng.normal(size=2), 10.0 * rng.normal(size=1)
        expected = integrate(lambda t, y, u=u: mode.flow(t, y, u), 0.0, x, h)
        np.testing.assert_allclose(state(0.0, x, u, h), expected, atol=1e-9)
        A, B = jacobians(0.0, x, u, h)
        by_state = jacobian(lambda y, u=u, h=h: state(0.0, y, u, h), x)
        by_input = jacobian(lambda v, x=x, h=h: state(0.0, x, v, h), u)
        np.testing.assert_allclose(A, by_state, atol=1e-9)
        np.testing.assert_allclose(B, by_input, atol=1e-9)


def test_the_ground_pushes_up_and_its_damper_takes_energy():
    """An unforced fall: down in the spring-damper, up in the spring, and lower than before."""
    step = simulate_step(SYSTEM, AERIAL, np.array(START), 1.0, NONE)
    assert [event.transition for event in step.events] == [TOUCHDOWN, TURN, RELEASE]
    touchdown, turn, release = step.events
    assert turn.state_before[0] < -0.3
    before, pressed, after = (energy(event.state_before) for event in (touchdown, turn, release))
    assert before == pytest.approx(energy(np.array(START)), abs=1e-10)
    assert pressed < 0.9 * before
    assert after == pytest.approx(pressed, abs=1e-10)
    fall = (-2.0 + np.sqrt(4.0 + 6.0 * GRAVITY)) / GRAVITY
    assert touchdown.time == pytest.approx(fall, abs=1e-10)


@pytest.mark.parametrize("transition", SYSTEM.transitions, ids=lambda edge: edge.name)
def test_saltation_matrices(transition):
    """Only touchdown's is not the identity: the damper's force appears with the ball's speed."""
    rng = np.random.default_rng(5)
    expected = np.eye(2)
    if transition is TOUCHDOWN:
        expected[1, 0] = -DAMPING / MASS
    for _ in range(20):
        x, u = on_guard(transition, rng)
        found = saltation(SYSTEM, transition, 0.0, x, u)
        assert found.ok
        np.testing.assert_allclose(found.matrix, expected, atol=1e-12)


def test_a_ground_that_does_not_oscillate_is_refused():
    with pytest.raises(ValueError, match="lower the damping"):
        spring_damper_ball(damping=20.0)


def test_true_derivatives_converge_quadratically_and_reset_jacobians_settle_above():
    """Identity resets: without saltation nothing says that the damper waits at the ground."""
    steps = 100
    model = spring_damper_problem(1.0 / steps, 0.1 / steps, event_at="exact")
    seed = Policies.of(np.zeros((steps + 1, 2)), np.zeros((steps, 1)), np.zeros((steps, 1, 2)))
    xi, dxr = (
        Hilqr(model, HilqrOptions(variant=variant, tolerance=1e-6)).solve(np.array(START), seed)
        for variant in ("xi", "dxr")
    )
    assert xi.status == "converged" and xi.iterations <= 8
    assert xi.trajectory is not None and dxr.trajectory is not None
    assert dxr.trajectory.cost > xi.trajectory.cost + 0.05
