"""The tracking cost's expansion against finite differences, and the weights of (6.2)-(6.3)."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from controller.planner_options import CostOptions
from controller.robot_model import expand_costs, input_weights, trajectory_costs
from tests.differences import moved, slopes
from tests.sim_bridge.rollouts import motions

STAND, OPTIONS = motions.STAND.copy(), CostOptions()
Q = OPTIONS.state_weights()


def problem(seed, knots=3, size=0.3):
    rng = np.random.default_rng(seed)
    states, reference = (
        np.array([moved(STAND, size * rng.normal(size=36)) for _ in range(knots + 1)])
        for _ in range(2)
    )
    inputs, wanted = rng.normal(size=(2, knots, 12))
    weights = rng.uniform(0.1, 1.0, (knots, 12))
    return states, inputs, reference, wanted, weights


def cost_of(states, inputs, reference, wanted, weights):
    arguments = (reference, wanted, Q, 4.0 * Q, weights[None])
    return trajectory_costs(states[None], inputs[None], *arguments)[0]


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_gradients_are_those_of_the_cost(seed):
    states, inputs, reference, wanted, weights = problem(seed)
    l_x, _, l_u, _ = expand_costs(states, inputs, reference, wanted, Q, 4.0 * Q, weights)
    rest = (reference, wanted, weights)

    def cost(d):
        return cost_of(np.array(list(map(moved, states, d))), inputs, *rest)

    slope = slopes(cost, np.zeros((len(states), 36)))
    assert (np.abs(slope - l_x) < 1e-5 * (1 + np.abs(l_x).max(axis=1, keepdims=True))).all()
    assert_allclose(slopes(lambda u: cost_of(states, u, *rest), inputs), l_u, atol=1e-6)


def test_hessian_is_exact_at_the_reference():
    states, inputs, *_, weights = problem(3)
    _, l_xx, _, l_uu = expand_costs(states, inputs, states, inputs, Q, 4.0 * Q, weights)
    assert_allclose(l_xx[0], np.diag(2 * Q), atol=1e-9)
    assert_allclose(l_xx[-1], np.diag(8 * Q), atol=1e-9)
    assert_allclose(l_uu[2], np.diag(2 * weights[2]))


@given(st.lists(st.floats(0, 300), min_size=4, max_size=4))
def test_loaded_legs_get_the_lower_input_weight(forces):
    assume(abs(sum(forces) - 1.0) > 1e-9)  # there the rule changes, at the last digit
    low, high = 1e-3, 2e-2
    row = input_weights(np.array(forces)[None, None], low, high)[0, 0].reshape(4, 3)
    assert (row >= low - 1e-12).all() and (row <= high + 1e-12).all()
    order = np.argsort(forces)
    assert (np.diff(row[order, 0]) <= 1e-12).all()
    if sum(forces) > 1.0:
        assert_allclose((high - row[:, 0]).sum(), high - low)
    else:
        assert_allclose(row, high)
