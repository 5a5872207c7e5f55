"""HiLQR's linearisation and expansion are the gradients of the simulated cost, at any event.

Events cost something themselves (5.23), move with time and input, follow each other at one instant,
and lead to modes of other dimension.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from saltation.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from saltation.hilqr import compose
from saltation.hilqr.cost import QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.hilqr.tracking_cost import HybridReference, HybridTrackingCost
from saltation.hilqr.transition_cost import QuadraticTransitionCost
from saltation.simulation import simulate_step
from saltation.systems import Mode, System, Transition
from saltation.variational import fundamental_matrix
from studies.kong.curved_surface import UNCONSTRAINED, tube_ball
from tests.differences import slopes
from tests.saltation.driven_systems import height, relay
from tests.saltation.rollouts import roll

WEIGHT = np.array([[3.0, 0.4], [0.4, 2.0]])
HIGH = np.array([1.0, 0.0])


class EveryTransition(QuadraticTransitionCost):
    """Every transition costs sum i x_i^2, in the dimension of its own state."""

    def value(self, x):
        return float(np.sum(np.arange(1.0, 1.0 + len(x)) * x**2))

    def gradient(self, x):
        return 2.0 * np.arange(1.0, 1.0 + len(x)) * x

    def hessian(self, x):
        return 2.0 * np.diag(np.arange(1.0, 1.0 + len(x)))


def model_of(system, timestep, transition_cost=None):
    n, m = system.state_dim, system.input_dim
    target, terminal = np.array([0.5, 0.0, 0.3])[:n], np.diag([3.0, 1.0, 2.0])[:n, :n]
    cost = QuadraticCost(target, 0.1 * np.eye(n), 1e-2 * np.eye(m), terminal)
    return EventDrivenModel(
        system, 1, timestep, cost, event_at="exact", transition_cost=transition_cost
    )


def gradients(model, trajectory):
    """Of the cost by the start (n,) and by the inputs (N, m), from its derivatives."""
    (A, B), cost = compose(model.linearise(trajectory)), model.quadratise(trajectory)
    adjoint, by_input = cost.l_x[-1], np.empty_like(trajectory.inputs)
    for k in range(len(A) - 1, -1, -1):
        by_input[k] = cost.l_u[k] + B[k].T @ adjoint
        adjoint = cost.l_x[k] + A[k].T @ adjoint
    return adjoint, by_input


def doors(*places):
    """A mass under a force that bursts through doors, which give way earlier when pushed."""

    def door(source, place):
        return Transition(
            source, source + 1, lambda t, x, u: place - x[0] - 0.2 * u[0],
            lambda t, x, u: np.array([x[0], 0.5 * x[1] + 0.1 * u[0] * u[0]]), time_invariant=True,
        )  # fmt: skip

    def flow(t, x, u):
        return np.array([x[1], u[0] - 0.4 * x[1]])

    modes = {k: Mode("room", 2, 1, flow) for k in range(1, 2 + len(places))}
    return System(modes, [door(k, place) for k, place in enumerate(places, 1)])


def soaking_ball():
    """Two states and one input in the air; below the surface a third state and a second input."""

    def soak(t, x, u):
        return np.array([x[1], u[0] - 2.0 * x[1] - 30.0 * x[0] + x[2], u[1] - x[2] * x[0] - x[1]])

    modes = {
        1: Mode("free", 2, 1, lambda t, x, u: np.array([x[1], u[0] - 9.8])),
        2: Mode("soaked", 3, 2, soak),
    }
    surface = Transition(1, 2, height,
                         lambda t, x, u: np.array([x[0], 0.8 * x[1], 0.1 * x[1] ** 2]))  # fmt: skip
    leave = Transition(2, 1, lambda t, x, u: -x[0],
                       lambda t, x, u: np.array([x[0], x[1] + 0.1 * x[2]]))  # fmt: skip
    return System(modes, (surface, leave))


WAVE = np.sin(np.arange(40.0))[:, None]
EVERY = EveryTransition(np.zeros(2), np.zeros((2, 2)))
IMPACT = QuadraticTransitionCost(np.array([0.2, -3.0]), WEIGHT, 0.0, ((FALLING, RISING),))
SOAKED = model_of(soaking_ball(), 0.02), np.array([0.3, -1.0]), np.hstack((WAVE, WAVE[::-1]))
JUMP = np.array([[0.0], [0.0], [3.0], [0.0]])
CASES = {
    "impacts and apexes": (model_of(bouncing_ball(), 0.05, EVERY), HIGH, WAVE[:28], 4),
    "impacts alone": (model_of(bouncing_ball(), 0.05, IMPACT), HIGH, WAVE[:28], 4),
    "doors": (model_of(doors(0.5, 0.6), 0.05, EVERY), HIGH[::-1], 0.8 + 0.1 * WAVE[:24], 2),
    "doors in one step": (model_of(doors(0.5, 0.6), 0.6, EVERY), HIGH[::-1], 0.8 + WAVE[:2], 2),
    "jumped over": (model_of(doors(1.0), 0.1, EVERY), np.array([0.5, 0.4]), JUMP, 1),
    "other dimensions": (*SOAKED, 2),
    "relay": (model_of(relay(), 0.1, EVERY), np.array([1.0, 0.5]), 0.7 + 0.1 * WAVE[:8], 2),
    "relay in one step": (model_of(relay(), 0.8, EVERY), np.array([1.0, 0.5]), 0.7 + WAVE[:1], 2),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_the_simulated_cost(name):
    model, x0, inputs, events = CASES[name]
    nominal = roll(model, x0, inputs)
    assert len(nominal.aux.events) == events
    adjoint, by_input = gradients(model, nominal)
    if name == "jumped over":  # at the very knot where the input jumps, the event goes with it
        by_input, inputs = by_input[:2], inputs[:2]
    found = slopes(lambda x: roll(model, x, CASES[name][2]).cost, x0)
    assert_allclose(adjoint[: len(x0)], found, rtol=1e-6, atol=1e-5)
    rest = CASES[name][2][len(inputs) :]
    found = slopes(lambda u: roll(model, x0, np.vstack((u, rest))).cost, inputs)
    assert_allclose(by_input, found, rtol=1e-6, atol=1e-5)


def test_a_ball_that_a_force_pulls_off_the_wall_it_strikes():
    """Impact and liftoff at one instant: the map is neither the product of both nor D_x R's."""
    system, x, u = tube_ball(), np.array([0.3, -1.2, 0.4, -9.0]), np.array([0.0, 40.0])
    step = simulate_step(system, UNCONSTRAINED, x, 0.2, u)
    assert [event.transition.name for event in step.events] == ["impact", "liftoff"]
    assert step.events[0].time == step.events[1].time
    found = fundamental_matrix(system, UNCONSTRAINED, x, 0.2, u)
    end = lambda y: simulate_step(system, UNCONSTRAINED, y, 0.2, u).state  # noqa: E731
    assert_allclose(found.Phi, slopes(end, x, 1e-5), atol=1e-8)


def test_a_reference_is_extended_over_modes_of_other_dimension():
    model, x0, inputs = SOAKED
    trajectory = roll(model, x0, inputs)
    reference = HybridReference(model.system, model.timestep, trajectory)
    opening = trajectory.aux.events[0].knot
    backward, _ = reference.matching(1, 2, np.arange(opening - 3, opening + 1))
    assert backward.shape == (4, 3) and np.all(backward[:, 2] != 0.0)
    forward, _ = reference.matching(0, 1, np.arange(opening + 1, opening + 5))
    assert np.all(forward[:, 0] < 0.0) and np.all(forward[:, 2] == 0.0)
    cost = HybridTrackingCost(reference, np.eye(3), np.eye(2), np.eye(3))
    assert cost.value(trajectory.states, trajectory.inputs, trajectory.aux) == 0.0
    shifted = roll(model, x0 + [0.02, 0.0], inputs)
    assert 0.0 < cost.value(shifted.states, shifted.inputs, shifted.aux) < 1.0
