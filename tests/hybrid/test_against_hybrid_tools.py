"""Beside the public package hybrid-tools 0.1.0: the same saltation matrices, the same end states.

The package integrates with scipy's standard tolerance (1e-3 relative), so the ends of simulations
are compared to that, and ours to the closed form besides.
"""

import numpy as np
import pytest
from hybrid_tools import HybridDynamicalSystem, HybridSimulator, ModeNoise
from hybrid_tools.basic_hybrid_systems import bouncing_ball as peer_ball
from hybrid_tools.hybrid_helper_functions import compute_saltation_matrix
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, RISING, bouncing_ball
from hybrid.saltations import saltation
from hybrid.simulation import simulate

BALL = np.array([RESTITUTION, GRAVITY])
PEER_BALL = peer_ball()
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
