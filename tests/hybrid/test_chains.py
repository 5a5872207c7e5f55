"""Events that a reset sets off at once: their first-order map is that of the whole chain."""

import numpy as np
import pytest

from hybrid.chains import chains, merge_chain
from hybrid.hilqr import Policies, compose
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.transition_cost import QuadraticTransitionCost
from hybrid.saltations import saltation
from hybrid.simulation import simulate_step
from hybrid.systems import Mode, System, Transition
from hybrid.variational import fundamental_matrix
from studies.kong.systems.tube_ball import UNCONSTRAINED, tube_ball

H = 1e-6


def slopes(function, x):
    """Derivative of a function of x (n,) by central differences, (..., n)."""
    return np.stack(
        [(function(x + H * e) - function(x - H * e)) / (2 * H) for e in np.eye(len(x))], axis=-1
    )


def relay():
    """Two resets at one instant that know time and input, and a third mode with its own flow."""
    modes = {
        1: Mode("first", 2, 1, lambda t, x, u: np.array([x[1], u[0] - 9.8 + 0.3 * np.sin(t)])),
        2: Mode("passed", 3, 1, lambda t, x, u: np.array([x[1], 5.0 + x[2], -x[0]])),
        3: Mode("last", 2, 1, lambda t, x, u: np.array([2.0 * x[1], 0.5 * u[0] - x[0]])),
    }
    hit = Transition(
        1,
        2,
        guard=lambda t, x, u: x[0] - 0.1 * np.sin(3.0 * t) - 0.05 * u[0],
        reset=lambda t, x, u: np.array([x[0], -0.6 * x[1] + 0.2 * t * t, u[0] * x[1]]),
        name="hit",
    )
    throw = Transition(
        2,
        3,
        guard=lambda t, x, u: x[1] - 50.0,
        reset=lambda t, x, u: np.array([x[0] * x[1] + t, x[2] + 0.4 * u[0] ** 2]),
        name="throw",
    )
    return System(modes, (hit, throw))


def test_a_ball_that_a_force_pulls_off_the_wall_it_strikes():
    """Impact and liftoff at one instant: the map is neither the product of both nor D_x R's."""
    system, x, u = tube_ball(), np.array([0.3, -1.2, 0.4, -9.0]), np.array([0.0, 40.0])

    def end(y):
        return simulate_step(system, UNCONSTRAINED, y, 0.2, u).state

    step = simulate_step(system, UNCONSTRAINED, x, 0.2, u)
    assert [event.transition.name for event in step.events] == ["impact", "liftoff"]
    assert step.events[0].time == step.events[1].time
    found = fundamental_matrix(system, UNCONSTRAINED, x, 0.2, u)
    assert found.ok
    np.testing.assert_allclose(found.Phi, slopes(end, x), atol=1e-7)
    parts = [saltation(system, e.transition, e.time, e.state_before, u).matrix for e in step.events]
    (chain,) = chains(system, step.events)
    whole = merge_chain(chain)
    together = saltation(system, whole.transition, whole.time, whole.state_before, u)
    assert np.max(abs(parts[1] @ parts[0] - together.matrix)) > 1.0


@pytest.mark.parametrize("timestep", [0.1, 0.8])
def test_hilqr_has_the_gradients_of_the_simulated_cost(timestep):
    cost = QuadraticCost(np.array([0.5, 0.0, 0.3]), 0.1 * np.eye(3), 1e-2 * np.eye(1), np.eye(3))

    class EveryTransition(QuadraticTransitionCost):
        """The state counts up to its own dimension."""

        def value(self, x):
            return float(np.sum(np.arange(1.0, 1.0 + len(x)) * x**2))

        def gradient(self, x):
            return 2.0 * np.arange(1.0, 1.0 + len(x)) * x

        def hessian(self, x):
            return 2.0 * np.diag(np.arange(1.0, 1.0 + len(x)))

    every = EveryTransition(np.zeros(2), np.zeros((2, 2)))
    model = EventDrivenModel(relay(), 1, timestep, cost, event_at="exact", transition_cost=every)
    inputs = 0.7 + 0.1 * np.sin(np.arange(round(0.8 / timestep)))[:, None]
    N = len(inputs)

    def roll(x, u):
        policies = Policies.of(np.zeros((N + 1, 3)), u, np.zeros((N, 1, 3)))
        return model.roll_out(x, policies).select(0)

    x0 = np.array([1.0, 0.5])
    nominal = roll(x0, inputs)
    assert [e.event.transition.name for e in nominal.aux.events] == ["hit", "throw"]
    A, B = compose(model.linearise(nominal))
    expansion = model.quadratise(nominal)
    adjoint, by_input = expansion.l_x[-1], np.empty(N)
    for k in range(N - 1, -1, -1):
        by_input[k] = (expansion.l_u[k] + B[k].T @ adjoint)[0]
        adjoint = expansion.l_x[k] + A[k].T @ adjoint
    by_state = slopes(lambda x: roll(x, inputs).cost, x0)
    np.testing.assert_allclose(adjoint[:2], by_state, rtol=1e-6, atol=1e-5)
    measured = slopes(lambda v: roll(x0, v[:, None]).cost, inputs[:, 0])
    np.testing.assert_allclose(by_input, measured, rtol=1e-6, atol=1e-5)
