"""Ball in a tube (5.4.3): the closed forms against (3.60) and (3.65), and what the tube does."""

import numpy as np
import pytest

from hybrid.saltations import saltation
from hybrid.simulation import simulate_step
from studies.kong.systems.tube_ball import (
    CONSTRAINED,
    GRAVITY,
    MASS,
    RADIUS,
    tube_ball,
)

SYSTEM = tube_ball()
IMPACT, LIFTOFF, APEX = SYSTEM.transitions
NONE = np.zeros(2)


def on_circle(rng, approach=0.0):
    """A state on the circle with a tangential speed, and one outwards."""
    angle = rng.uniform(0.0, 2.0 * np.pi)
    outward, along = (
        np.array([np.cos(angle), np.sin(angle)]),
        np.array([-np.sin(angle), np.cos(angle)]),
    )
    return np.concatenate((RADIUS * outward, rng.normal(scale=3.0) * along + approach * outward))


def kkt(x, right):
    """(3.60), (3.65): solve [M J'; J 0] with J = D_q a."""
    J = -2.0 * x[None, :2]
    matrix = np.block([[MASS * np.eye(2), J.T], [J, np.zeros((1, 1))]])
    return np.linalg.solve(matrix, right)


def energy(x):
    return MASS * (0.5 * x[2:] @ x[2:] + GRAVITY * x[1])


def test_sliding_is_the_solution_of_the_constrained_equations_and_the_guard_its_force():
    """With gravity N = [0, m g]; (3.60)'s multiplier is the negative of ours."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        x, u = on_circle(rng), rng.normal(scale=10.0, size=2)
        force, bend = u - [0.0, MASS * GRAVITY], 2.0 * x[2:] @ x[2:]
        solved = kkt(x, np.array([*force, bend]))
        np.testing.assert_allclose(SYSTEM.modes[CONSTRAINED].flow(0.0, x, u)[2:], solved[:2])
        assert LIFTOFF.guard(0.0, x, u) == pytest.approx(-solved[2])


def test_impact_is_plastic_and_without_friction():
    rng = np.random.default_rng(1)
    for _ in range(30):
        x = on_circle(rng, approach=rng.uniform(0.5, 5.0))
        after = IMPACT.reset(0.0, x, NONE)
        np.testing.assert_allclose(after[2:], kkt(x, np.array([*MASS * x[2:], 0.0]))[:2])
        assert abs(after[:2] @ after[2:]) < 1e-12
        np.testing.assert_allclose(IMPACT.reset(0.0, after, NONE), after, atol=1e-14)


def test_saltation_through_impact_loses_one_direction_twice():
    """Rank 2 of 4: neither distance to the circle nor speed towards it survives (3.5.3)."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        x, u = on_circle(rng, approach=rng.uniform(1.0, 5.0)), rng.normal(scale=5.0, size=2)
        found = saltation(SYSTEM, IMPACT, 0.0, x, u)
        assert found.ok and np.linalg.matrix_rank(found.matrix, tol=1e-9) == 2
        normal = np.concatenate((x[:2], np.zeros(2)))
        np.testing.assert_allclose(normal @ found.matrix, 0.0, atol=1e-9)


def test_liftoff_and_apex_have_identity_saltation():
    """(3.72): the force is zero at liftoff, so the flow does not jump."""
    rng = np.random.default_rng(6)
    seen = 0
    while seen < 20:
        x, u = on_circle(rng), rng.normal(scale=10.0, size=2)
        pull = LIFTOFF.guard(0.0, x, u) * 2.0 * RADIUS**2
        u = u - pull * x[:2] / RADIUS**2  # so that lambda is zero
        rate = SYSTEM.guard_rate(LIFTOFF, 0.0, x, u)
        if rate < -0.1:
            found = saltation(SYSTEM, LIFTOFF, 0.0, x, u)
            np.testing.assert_allclose(found.matrix, np.eye(4), atol=1e-9)
            seen += 1
    assert np.array_equal(saltation(SYSTEM, APEX, 0.0, x, u).reset_jacobian, np.eye(4))


def test_a_ball_that_slides_keeps_to_the_circle_and_its_energy():
    """Only the acceleration is constrained, (3.59): drift after one second is the integrator's."""
    x = np.array([RADIUS, 0.0, 0.0, -5.0])
    step = simulate_step(SYSTEM, CONSTRAINED, x, 1.0, NONE)
    assert step.status == "ok" and not step.events
    assert abs(IMPACT.guard(0.0, step.state, NONE)) < 1e-8
    assert energy(step.state) == pytest.approx(energy(x), abs=1e-8)


def test_a_ball_too_slow_for_the_loop_leaves_flies_and_lands_once():
    """It leaves where v^2 = g z, which is at half the radius for 3.5 g r at the bottom."""
    speed = np.sqrt(3.5 * GRAVITY * RADIUS)
    x = np.array([0.0, -RADIUS, speed, 0.0])
    step = simulate_step(SYSTEM, CONSTRAINED, x, 2.2, NONE)
    assert step.status == "ok"
    assert [event.transition for event in step.events[:3]] == [LIFTOFF, APEX, IMPACT]
    left = step.events[0].state_before
    assert left[1] == pytest.approx(RADIUS / 2.0, abs=1e-8)  # g z = 3.5 g r - 2 g (z + r)
    assert np.all(np.diff([event.time for event in step.events]) > 0.01)


@pytest.mark.parametrize("timestep", [0.1, 1e-2, 1e-3])
def test_a_push_off_the_circle_does_not_chatter(timestep):
    """An input that jumps makes the tube pull at once: leave, come back, and slide on."""
    x, mode, names = np.array([0.0, -RADIUS, 1.0, 0.0]), CONSTRAINED, []
    for k in range(round(0.6 / timestep)):
        push = np.array([0.0, 2.0 * MASS * GRAVITY if k * timestep < 0.1 - 1e-9 else 0.0])
        step = simulate_step(SYSTEM, mode, x, timestep, push, k * timestep)
        assert step.status == "ok"
        x, mode = step.state, step.mode
        names += [event.transition.name for event in step.events]
    assert names == ["liftoff", "apex", "impact"] and mode == CONSTRAINED
