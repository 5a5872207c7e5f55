"""Beside the public package hybrid-tools 0.1.0: the same saltation matrices, the same end states.

The package integrates with scipy's standard tolerance (1e-3 relative), so the ends of simulations
are compared to that, and ours to the closed form besides.
"""

import numpy as np
import pytest
from hybrid_tools import HybridDynamicalSystem, HybridSimulator, ModeNoise
from hybrid_tools.basic_hybrid_systems import bouncing_ball as peer_ball
from hybrid_tools.basic_hybrid_systems import simple_system as peer_flow
from hybrid_tools.hybrid_helper_functions import compute_saltation_matrix
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, RISING, bouncing_ball
from hybrid.saltations import saltation
from hybrid.simulation import simulate
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow

BALL = np.array([RESTITUTION, GRAVITY])
PEER_BALL = peer_ball()
PEER_FLOW = peer_flow()
PEER_TOLERANCE = 1e-3  # of scipy's solve_ivp


def peer_saltation(system, x, u, parameters, modes):
    return compute_saltation_matrix(x, u, 0.1, parameters, *modes, system)


def peer_end(system, x, u, duration, parameters):
    """End of the package's own simulation from mode I, without noise."""
    none = ModeNoise(np.zeros((len(u), len(u))), np.zeros((len(x), len(x))))
    quiet = HybridDynamicalSystem(
        system.dynamics, system.resets, system.guards, dict.fromkeys(system.dynamics, none)
    )
    simulator = HybridSimulator(x, "I", duration, parameters, quiet)
    simulator.simulate_timestep(0.0, u)
    return simulator.current_mode, simulator.get_state()


@given(velocity=st.floats(-6.0, -0.2), force=st.floats(-3.0, 3.0))
def test_saltation_of_an_impact(velocity, force):
    system, x, u = bouncing_ball(), np.array([0.0, velocity]), np.array([force])
    ours = saltation(system, system.outgoing(FALLING)[0], 0.0, x, u)
    theirs = peer_saltation(PEER_BALL, x, u, BALL, ("I", "J"))
    assert ours.ok
    np.testing.assert_allclose(ours.matrix, theirs, rtol=1e-12, atol=1e-12)


@given(height=st.floats(0.0, 4.0), force=st.floats(-3.0, 3.0))
def test_saltation_of_an_apex(height, force):
    system, x, u = bouncing_ball(), np.array([height, 0.0]), np.array([force])
    ours = saltation(system, system.outgoing(RISING)[0], 0.0, x, u)
    theirs = peer_saltation(PEER_BALL, x, u, BALL, ("J", "I"))
    np.testing.assert_allclose(ours.matrix, theirs, atol=1e-12)


@given(height=st.floats(-3.0, 3.0))
def test_saltation_of_constant_flow(height):
    system, x = constant_flow(), np.array([0.0, height])
    ours = saltation(system, system.outgoing(LEFT)[0], 0.0, x, np.zeros(0))
    theirs = peer_saltation(PEER_FLOW, x, np.zeros(2), np.zeros(0), ("I", "J"))
    np.testing.assert_allclose(ours.matrix, theirs, atol=1e-14)
    np.testing.assert_allclose(ours.matrix, [[1.0, 0.0], [2.0, 1.0]], atol=1e-14)


@settings(max_examples=20)
@given(height=st.floats(0.3, 2.0), velocity=st.floats(-3.0, 0.0), force=st.floats(-2.0, 2.0))
def test_end_of_a_ball_after_one_impact(height, velocity, force):
    x, u, a = np.array([height, velocity]), np.array([force]), GRAVITY - force
    speed = np.sqrt(velocity**2 + 2.0 * a * height)
    impact = (speed + velocity) / a
    after = 0.5 * RESTITUTION * speed / a  # half the time to the apex
    ours = simulate(bouncing_ball(), FALLING, x, impact + after, u)
    rebound = RESTITUTION * speed
    exact = [rebound * after - 0.5 * a * after**2, rebound - a * after]
    assert ours.final_mode == RISING
    assert ours.events[0].time == pytest.approx(impact, abs=1e-11)
    np.testing.assert_allclose(ours.final_state, exact, atol=1e-11)
    mode, end = peer_end(PEER_BALL, x, u, impact + after, BALL)
    assert mode == "J"
    np.testing.assert_allclose(end, ours.final_state, rtol=PEER_TOLERANCE, atol=PEER_TOLERANCE)


@settings(max_examples=20)
@given(distance=st.floats(0.05, 2.0), height=st.floats(-2.0, 2.0), beyond=st.floats(0.05, 2.0))
def test_end_of_constant_flow(distance, height, beyond):
    x, duration = np.array([-distance, height]), distance + beyond
    ours = simulate(constant_flow(), LEFT, x, duration)
    assert ours.final_mode == RIGHT
    np.testing.assert_allclose(ours.final_state, [beyond, height - distance + beyond], atol=1e-12)
    mode, end = peer_end(PEER_FLOW, x, np.zeros(2), duration, np.zeros(0))
    assert mode == "J"
    np.testing.assert_allclose(end, ours.final_state, rtol=PEER_TOLERANCE, atol=PEER_TOLERANCE)


def test_several_impacts_in_one_timestep():
    """Ours stays with the closed form; the package with its own tolerance, as far as it goes."""
    x, u = np.array([1.0, 0.0]), np.zeros(1)
    fall = np.sqrt(2.0 / GRAVITY)
    second = fall * (1.0 + 2.0 * RESTITUTION)
    ours = simulate(bouncing_ball(), FALLING, x, second + 0.1, u)
    rebound = RESTITUTION**2 * GRAVITY * fall
    exact = [0.1 * rebound - 0.005 * GRAVITY, rebound - 0.1 * GRAVITY]
    np.testing.assert_allclose(ours.final_state, exact, atol=1e-11)
    mode, end = peer_end(PEER_BALL, x, u, second + 0.1, BALL)
    assert mode == "J"
    np.testing.assert_allclose(end, exact, rtol=PEER_TOLERANCE, atol=PEER_TOLERANCE)
