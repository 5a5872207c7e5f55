"""A ball on a slanted surface: the thesis's worked example (3.40)-(3.57), and as a rigid body."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid.examples import slope_ball as ball
from hybrid.guard_states import GuardState, random_guard_states
from hybrid.rigid_body.dynamics import Contact, vector_field
from hybrid.rigid_body.hybrid_system import rigid_body_system
from hybrid.rigid_body.impacts import impact_reset
from hybrid.saltation import saltation
from hybrid.saltation_check import saltation_errors
from hybrid.simulation import simulate_step

angles = st.floats(-1.2, 1.2)
seeds = st.integers(0, 2**32 - 1)


def landing(theta, seed, sticks):
    """A system, its impact, and a state at which the ball hits the slope."""
    rng = np.random.default_rng(seed)
    system = ball.slope_ball(theta, sticks=sticks)
    tangent, normal = (
        np.array([-np.cos(theta), np.sin(theta)]),
        np.array([np.sin(theta), np.cos(theta)]),
    )
    velocity = rng.normal() * tangent - (0.5 + abs(rng.normal())) * normal
    x = np.concatenate((rng.normal() * tangent, velocity))
    return system, system.outgoing(ball.APPROACHING)[0], x, rng.normal(size=2)


@given(angles, seeds)
def test_sliding_impact(theta, seed):
    """(3.50), (3.51), (3.56)."""
    system, impact, x, u = landing(theta, seed, sticks=False)
    found = saltation(system, impact, 0.0, x, u).matrix
    c, s = np.cos(theta), np.sin(theta)
    block = np.array([[c * c, -c * s], [-c * s, s * s]])
    np.testing.assert_allclose(found, np.kron(np.eye(2), block), atol=1e-12)
    np.testing.assert_allclose(block @ [s, c], 0.0, atol=1e-15)
    np.testing.assert_allclose(block @ [-c, s], [-c, s], atol=1e-15)


@given(angles, seeds)
def test_sticking_impact(theta, seed):
    """(3.54), (3.55), (3.57)."""
    system, impact, x, u = landing(theta, seed, sticks=True)
    found = saltation(system, impact, 0.0, x, u).matrix
    c, s, qd = np.cos(theta), np.sin(theta), x[2:]
    block = np.array([[qd[1] * c, -qd[0] * c], [-qd[1] * s, qd[0] * s]])
    block /= qd[1] * c + qd[0] * s
    np.testing.assert_allclose(found[:2, :2], block, atol=1e-12)
    np.testing.assert_array_equal(found[2:], 0.0)
    np.testing.assert_array_equal(found[:2, 2:], 0.0)
    np.testing.assert_allclose(block @ qd, 0.0, atol=1e-12)
    np.testing.assert_allclose(block @ [-c, s], [-c, s], atol=1e-12)


@pytest.mark.parametrize("sticks", [False, True])
def test_impact_as_simulated(sticks):
    system = ball.slope_ball(sticks=sticks)
    impact, _, apex = system.transitions
    rng = np.random.default_rng(0)
    for transition in (impact, apex):
        points = random_guard_states(
            system,
            transition,
            lambda: GuardState(0.0, rng.normal(size=4), rng.normal(size=2)),
            10,
            minimum_rate=0.1,
        )
        assert np.max(saltation_errors(system, transition, points)) < 1e-9


@given(angles, seeds)
def test_as_a_rigid_body(theta, seed):
    """Flows (3.42), (3.44), (3.46) and resets (3.43), (3.47) are those of 3.6's general body."""
    body = ball.slope_ball_body(theta, mass=2.0)
    for sticks, mode, contact in (
        (False, ball.SLIDING, Contact.FORWARD),
        (True, ball.STICKING, Contact.STICKING),
    ):
        _, _, x, u = landing(theta, seed, sticks)
        system = ball.slope_ball(theta, mass=2.0, sticks=sticks)
        impact = system.outgoing(ball.APPROACHING)[0]
        for number, touching in ((ball.APPROACHING, Contact.NONE), (mode, contact)):
            np.testing.assert_allclose(
                system.modes[number].flow(0.0, x, u),
                vector_field(body, touching)(0.0, x, u),
                atol=1e-10,
            )
        np.testing.assert_allclose(
            impact.reset(0.0, x, u), impact_reset(body, contact)(0.0, x, u), atol=1e-12
        )


def test_drops_slides_and_is_lifted_off():
    system = ball.slope_ball()
    start = np.array([0.0, 1.0, 0.0, 0.0])
    fall = np.sqrt(2.0 / ball.GRAVITY)
    step = simulate_step(system, ball.APPROACHING, start, 1.0, np.zeros(2))
    assert (step.mode, step.status) == (ball.SLIDING, "ok")
    assert step.events[0].time == pytest.approx(fall, abs=1e-10)
    downhill = np.array([np.cos(ball.SLOPE), -np.sin(ball.SLOPE)])
    speed = ball.GRAVITY * np.sin(ball.SLOPE)  # of falling and of sliding alike: 1 s of it
    np.testing.assert_allclose(step.state[2:], speed * downhill, atol=1e-9)
    lifted = simulate_step(system, step.mode, step.state, 0.1, np.array([0.0, 20.0]), 1.0)
    assert (lifted.mode, lifted.status) == (ball.SEPARATING, "ok")


def test_the_rigid_body_moves_the_same():
    u, start = np.array([0.3, -0.5]), np.array([0.2, 1.0, -0.4, 0.1])
    ours = simulate_step(ball.slope_ball(), ball.APPROACHING, start, 1.0, u)
    system = rigid_body_system(ball.slope_ball_body())
    general = simulate_step(system, ball.APPROACHING, start, 1.0, u)
    assert len(ours.events) == 1
    np.testing.assert_allclose(general.state, ours.state, atol=1e-8)
