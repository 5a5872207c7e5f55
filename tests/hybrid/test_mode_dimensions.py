"""Modes that take inputs of different numbers, and a mode with no state at all."""

import numpy as np
import pytest

from hybrid.simulation import simulate_step
from hybrid.systems import Mode, System, Transition
from hybrid.variational import fundamental_matrix

DOWN, UP, REST = 1, 2, 3


def tank():
    """Empties on its own, is filled by a pump (the only input) against a leak."""
    modes = {
        DOWN: Mode("emptying", 1, 0, lambda t, x, u: np.array([-1.0 - 0.2 * x[0]])),
        UP: Mode("filling", 1, 1, lambda t, x, u: np.array([1.0 + u[0] - 0.3 * x[0]])),
    }
    edges = (
        Transition(DOWN, UP, lambda t, x, u: x[0], lambda t, x, u: 0.5 * x + 0.1, name="low"),
        Transition(UP, DOWN, lambda t, x, u: 1.0 - x[0], lambda t, x, u: x.copy(), name="full"),
    )
    return System(modes, edges, "tank")


def stopped():
    """A point that runs to zero and is then in a mode with no state."""
    modes = {
        DOWN: Mode("running", 1, 0, lambda t, x, u: np.array([-1.0])),
        REST: Mode("resting", 0, 0, lambda t, x, u: np.zeros(0)),
    }
    stop = Transition(DOWN, REST, lambda t, x, u: x[0], lambda t, x, u: np.zeros(0), name="stop")
    return System(modes, (stop,), "stopped")


def test_an_input_is_as_wide_as_that_of_the_mode_that_takes_most():
    system, x, u = tank(), np.array([0.5]), np.array([0.2])
    found, h = fundamental_matrix(system, DOWN, x, 1.0, u), 1e-6
    ends = [simulate_step(system, DOWN, x + s * h, 1.0, u).state for s in (1.0, -1.0)]
    assert found.ok and found.mode == UP
    assert found.Phi[0] == pytest.approx((ends[0] - ends[1]) / (2.0 * h), rel=1e-7)
    np.testing.assert_allclose(
        fundamental_matrix(system, DOWN, x, 1.0).Phi,
        fundamental_matrix(system, DOWN, x, 1.0, np.zeros(1)).Phi,
    )


def test_a_mode_with_no_state_is_simulated():
    step = simulate_step(stopped(), DOWN, np.array([0.5]), 1.0, np.zeros(0))
    assert (step.status, step.mode, step.state.shape) == ("ok", REST, (0,))
    assert step.events[0].time == pytest.approx(0.5, abs=1e-12)
    assert fundamental_matrix(stopped(), DOWN, np.array([0.5]), 1.0).Phi.shape == (0, 1)
