"""A ball on a slanted surface: the thesis's worked example (3.40)-(3.57), and as a rigid body."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid.rigid_body.hybrid_system import rigid_body_system
from hybrid.saltations import saltation
from hybrid.simulation import simulate_step
from studies.kong.systems import slope_ball as ball

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
    np.testing.assert_allclose(found[2:], 0.0, atol=1e-12)
    np.testing.assert_allclose(found[:2, 2:], 0.0, atol=1e-12)
    np.testing.assert_allclose(block @ qd, 0.0, atol=1e-12)
    np.testing.assert_allclose(block @ [-c, s], [-c, s], atol=1e-12)


@given(angles, seeds)
def test_flows_and_resets_of_the_thesis(theta, seed):
    """Flows (3.42), (3.44), (3.46) and resets (3.43), (3.47)."""
    m, g, c, s = 2.0, ball.GRAVITY, np.cos(theta), np.sin(theta)
    downhill = np.array([c, -s])
    for sticks, number in ((False, ball.SLIDING), (True, ball.STICKING)):
        _, _, x, u = landing(theta, seed, sticks)
        system = ball.slope_ball(theta, mass=m, sticks=sticks)
        along = (c * u[0] - s * (u[1] - m * g)) / m
        accelerations = {
            ball.APPROACHING: [u[0] / m, u[1] / m - g],
            number: np.zeros(2) if sticks else along * downhill,
        }
        for mode, acceleration in accelerations.items():
            flow = system.modes[mode].flow(0.0, x, u)
            np.testing.assert_allclose(flow, [*x[2:], *acceleration], atol=1e-10)
        after = np.zeros(2) if sticks else (downhill @ x[2:]) * downhill
        reset = system.outgoing(ball.APPROACHING)[0].reset(0.0, x, u)
        np.testing.assert_allclose(reset, [*x[:2], *after], atol=1e-12)
        force = system.outgoing(number)[0].guard(0.0, x, u)
        assert force == pytest.approx(-s * u[0] + c * (m * g - u[1]), abs=1e-10)


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
