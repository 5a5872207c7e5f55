"""First-order maps through chains of events, against finite differences and by their laws."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hybrid.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import Mode, System, Transition
from hybrid.variational import (
    fundamental_matrix,
)
from studies.kong.systems.vibrating_table import vibrating_table


def changing_dimensions():
    """Three coordinates, then two, then three again; the flow and one guard depend on time."""

    def free(t, x, u):
        return np.array([x[1], -1.0 - 0.3 * x[1] + 0.2 * np.sin(4.0 * t), 0.5 * x[0] - x[2]])

    def held(t, x, u):
        return np.array([0.4 + 0.1 * x[1], np.cos(3.0 * t) - x[0] * x[1]])

    land = Transition(
        0,
        1,
        guard=lambda t, x, u: x[0] - 0.1 * np.sin(2.0 * t),
        reset=lambda t, x, u: np.array([x[0] * x[2], x[1] + 0.3 * t]),
        name="land",
    )
    leave = Transition(
        1,
        2,
        guard=lambda t, x, u: 0.3 - x[0] + 0.05 * x[1],
        reset=lambda t, x, u: np.array([1.0 + x[0] ** 2, x[1], x[0] - x[1]]),
        name="leave",
    )
    modes = {0: Mode("free", 3, 0, free), 1: Mode("held", 2, 0, held), 2: Mode("off", 3, 0, free)}
    return System(modes, (land, leave))


def differences(system, mode, x, duration, t, h=2e-4):
    """Fourth-order differences of the simulation (n_end, n_start), with the events unchanged."""
    u = np.zeros(system.modes[mode].input_dim)
    names = [e.transition.name for e in simulate_step(system, mode, x, duration, u, t).events]

    def end(y):
        step = simulate_step(system, mode, y, duration, u, t)
        assert [e.transition.name for e in step.events] == names
        return step.state

    columns = [
        (end(x - 2 * h * e) - 8 * end(x - h * e) + 8 * end(x + h * e) - end(x + 2 * h * e))
        / (12 * h)
        for e in np.eye(len(x))
    ]
    return np.column_stack(columns), names


def assert_is_derivative(system, mode, x, duration, t, at_least):
    found = fundamental_matrix(system, mode, x, duration, t=t)
    expected, names = differences(system, mode, x, duration, t)
    assert found.ok and len(names) == len(found.events) >= at_least
    scale = max(1.0, np.max(abs(expected)))
    np.testing.assert_allclose(found.Phi, expected, atol=1e-6 * scale)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_through_impact_and_apex(seed):
    rng = np.random.default_rng(seed)
    x = np.array([rng.uniform(0.5, 1.0), rng.uniform(-1.0, 0.5)])
    mode = FALLING if x[1] < 0.0 else RISING
    assert_is_derivative(bouncing_ball(), mode, x, 1.0, 0.0, 2)


@pytest.mark.parametrize("seed", range(4))
def test_through_modes_of_other_dimensions_that_depend_on_time(seed):
    rng = np.random.default_rng(seed)
    x = np.array([0.4, -0.8, 1.0]) + rng.uniform(-0.1, 0.1, 3)
    found = assert_is_derivative(changing_dimensions(), 0, x, 2.0, rng.uniform(0.0, 1.0), 2)
    assert found.Phi.shape == (3, 3) and np.linalg.matrix_rank(found.Phi, 1e-9) == 2
    to_two = fundamental_matrix(changing_dimensions(), 0, x, 0.75, t=0.0)
    assert to_two.mode == 1 and to_two.Phi.shape == (2, 3)


@settings(max_examples=12)
@given(part=st.floats(0.0, 1.0), speed=st.floats(-1.0, -0.5))
def test_composition(part, speed):
    """Phi(t2, t0) = Phi(t2, t1) Phi(t1, t0), wherever t1 lies between, before or after events."""
    system, x, t0, total = changing_dimensions(), np.array([0.4, speed, 1.0]), 0.3, 1.6
    t1 = t0 + part * total
    first = fundamental_matrix(system, 0, x, t1 - t0, t=t0)
    second = fundamental_matrix(system, first.mode, first.state, t0 + total - t1, t=t1)
    whole = fundamental_matrix(system, 0, x, total, t=t0)
    assert len(first.events) + len(second.events) == len(whole.events)
    np.testing.assert_allclose(second.Phi @ first.Phi, whole.Phi, atol=1e-7)


numbers = st.floats(-2.0, 2.0)


@given(
    root=st.lists(numbers, min_size=4, max_size=4),
    height=st.floats(0.2, 1.5),
    speed=st.floats(-3.0, -0.1),
    duration=st.floats(0.1, 2.0),
    driven=st.booleans(),
)
def test_covariance_stays_symmetric_and_positive(root, height, speed, duration, driven):
    """(3.36), (3.37): through any chain of impacts and apexes, on still and moving tables."""
    system = vibrating_table() if driven else bouncing_ball()
    half = np.array(root).reshape(2, 2)
    Sigma = half @ half.T  # may be singular
    options = SimulationOptions(max_events=200)
    variation = fundamental_matrix(
        system, FALLING, np.array([height, speed]), duration, options=options
    )
    assume(variation.ok)  # neither Zeno nor grazed
    after = variation.covariance(Sigma)
    np.testing.assert_array_equal(after, after.T)
    size = np.linalg.norm(variation.Phi, 2) ** 2 * (1.0 + np.max(Sigma))
    assert np.min(np.linalg.eigvalsh(after)) >= -1e-12 * size


def test_jumping_over_a_guard_names_mode_time_and_state():
    """A start inside the guard: when the event happens does not depend on the state, (3.11)."""
    still = Mode("still", 1, 0, lambda t, x, u: np.array([0.0]))
    edge = Transition(0, 1, lambda t, x, u: x[0], lambda t, x, u: x + 1.0, name="cross")
    system = System({0: still, 1: still}, (edge,))
    found = fundamental_matrix(system, 0, np.array([-1e-3]), 0.1, t=2.0)
    assert found.status == "not_transverse"
    assert (
        "cross (0, 1)" in found.message
        and "in mode still (0) at t = 2 s, x = [-0.001]" in found.message
    )
