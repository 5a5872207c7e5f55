"""First-order maps through chains of events: against central differences, and by their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from saltation.examples.bouncing_ball import FALLING, bouncing_ball
from saltation.simulation import simulate
from saltation.systems import Mode, System, Transition
from saltation.variational import fundamental_matrix
from tests.differences import slopes
from tests.saltation.driven_systems import driven, relay

DRIVEN = driven()
CASES = {
    "constant": (DRIVEN, [0.3, -0.5], np.array([0.7, -0.4]), 1.2, None),
    "one row": (DRIVEN, [0.3, -0.5], np.array([[0.7, -0.4]]), 1.2, 1.2),
    "sequence": (DRIVEN, [0.3, -0.5], np.array([[0.7, -0.4], [0.2, 0.9], [1.5, 0.3]]), 1.2, 0.45),
    "constant in timesteps": (DRIVEN, [0.3, -0.5], np.array([0.7, -0.4]), 1.2, 0.3),
    "impact and apex": (bouncing_ball(), [0.7, -0.4], np.array([0.3]), 1.0, None),
    "chain": (relay(), [1.0, 0.5], np.array([[0.7], [0.5], [0.4], [0.9]]), 0.8, 0.2),
}


@pytest.mark.parametrize("name", CASES)
def test_central_differences_of_simulations(name):
    system, start, inputs, duration, timestep = CASES[name]
    x, t = np.array(start), 0.3

    def run(y, v):
        end = simulate(system, 1, y, duration, v, t=t, timestep=timestep)
        assert end.status == "ok" and len(end.events) >= 2
        return np.append(end.final_state, [event.time for event in end.events])

    found = fundamental_matrix(system, 1, x, duration, inputs, t, timestep=timestep)
    E, n, m = len(found.events), len(found.state), system.input_dim
    by_state = slopes(lambda y: run(y, inputs), x, 1e-5)
    by_input = slopes(lambda v: run(x, v), inputs, 1e-5)
    if np.ndim(inputs) == 2:
        by_input = np.moveaxis(by_input.reshape(n + E, len(inputs), m), 1, 0)
    assert found.ok and E >= 2 and np.max(abs(by_input)) > 0.1
    assert_allclose(found.Phi, by_state[:n], rtol=1e-6, atol=1e-6)
    assert_allclose(found.event_times_state, by_state[n:], rtol=1e-6, atol=1e-6)
    assert_allclose(found.Gamma, by_input[..., :n, :], rtol=1e-6, atol=1e-6)
    assert_allclose(found.event_times_input, by_input[..., n:, :], rtol=1e-6, atol=1e-6)


def test_an_event_that_the_next_input_sets_off_keeps_its_time():
    """The contact force of the second input pulls the guard below zero: D_x R is the derivative."""
    off = Transition(1, 2, lambda t, x, u: x[0] - u[0], lambda t, x, u: x * (1.0 + u[0]))
    flow = Mode("flow", 1, 1, lambda t, x, u: np.array([-0.1 * x[0] + 0.2 * u[0]]))
    system, x, inputs = System({1: flow, 2: flow}, (off,)), np.array([1.0]), [[0.0], [2.0], [0.5]]
    found = fundamental_matrix(system, 1, x, 0.3, inputs, timestep=0.1)

    def end(v):
        return simulate(system, 1, x, 0.3, v, timestep=0.1).final_state

    assert found.ok and found.events[0].time == approx(0.1)
    assert_array_equal(found.event_times_state, [[0.0]])
    assert_array_equal(found.event_times_input, np.zeros((3, 1, 1)))
    expected = slopes(end, inputs, 1e-5).transpose(1, 0, 2)
    assert_allclose(found.Gamma, expected, rtol=1e-7)
    assert found.Phi[0, 0] == approx(3.0 * np.exp(-0.03), rel=1e-9)


@settings(max_examples=12)
@given(part=st.floats(0.0, 1.0), speed=st.floats(-1.0, -0.5))
def test_composition(part, speed):
    """Phi(t2, t0) = Phi(t2, t1) Phi(t1, t0), wherever t1 lies between, before or after events."""
    system, x, u, t0, total = DRIVEN, np.array([0.3, speed]), np.array([0.7, -0.4]), 0.3, 1.2
    t1 = t0 + part * total
    first = fundamental_matrix(system, 1, x, t1 - t0, u, t0)
    second = fundamental_matrix(system, first.mode, first.state, t0 + total - t1, u, t1)
    whole = fundamental_matrix(system, 1, x, total, u, t0)
    assert len(first.events) + len(second.events) == len(whole.events) >= 2
    assert_allclose(second.Phi @ first.Phi, whole.Phi, atol=1e-7)


def test_a_failed_simulation_has_no_derivatives():
    found = fundamental_matrix(bouncing_ball(), FALLING, np.array([0.1, -0.1]), 5.0)
    assert found.status == "zeno" and found.Gamma.shape == (2, 1)
    shapes = found.event_times_state.shape, found.event_times_input.shape
    assert shapes == ((len(found.events), 2), (len(found.events), 1))
    for matrix in (found.Gamma, found.event_times_state, found.event_times_input):
        assert np.isnan(matrix).all()
