"""The tracking cost (6.1), its input weights scaled by contact force (6.2)-(6.3)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.state import difference, difference_jacobian

Array = NDArray[np.float64]


@njit(cache=True)
def input_weights(normal_forces: Array, loaded: float, unloaded: float) -> Array:
    """Diagonal of R for each candidate and knot, (C, N, 12), from normal forces (C, N, 4) [N].

    w_j = lambda_j / sum_i lambda_i (6.2),  R_j = R_max - w_j (R_max - R_min) (6.3).
    A robot in the air has no loaded leg: R_max throughout.
    """
    count, knots = normal_forces.shape[0], normal_forces.shape[1]
    weights = np.full((count, knots, 12), unloaded)
    for c in range(count):
        for k in range(knots):
            total = normal_forces[c, k].sum()
            if total < 1.0:
                continue
            for foot in range(4):
                share = normal_forces[c, k, foot] / total
                for joint in range(3):
                    weights[c, k, 3 * foot + joint] = unloaded - share * (unloaded - loaded)
    return weights


@njit(cache=True)
def trajectory_costs(
    states: Array, inputs: Array, reference_states: Array, reference_inputs: Array,
    state_weights: Array, terminal_weights: Array, weights: Array,
) -> Array:  # fmt: skip
    """Cost (6.1) of each of C trajectories, (C,).

    Args:
        states: (C, N+1, 37); inputs: (C, N, 12) [N m].
        reference_states: (N+1, 37); reference_inputs: (N, 12) [N m].
        state_weights, terminal_weights: (36,); weights: input weights (C, N, 12).
    """
    count, knots = inputs.shape[0], inputs.shape[1]
    costs = np.zeros(count)
    for c in range(count):
        for k in range(knots + 1):
            reference, x = reference_states[k], states[c, k]
            dx = difference(reference[:19], reference[19:], x[:19], x[19:])
            diagonal = state_weights if k < knots else terminal_weights
            for i in range(36):
                costs[c] += diagonal[i] * dx[i] * dx[i]
            if k < knots:
                for i in range(12):
                    du = inputs[c, k, i] - reference_inputs[k, i]
                    costs[c] += weights[c, k, i] * du * du
    return costs


@njit(cache=True)
def expand_costs(
    states: Array, inputs: Array, reference_states: Array, reference_inputs: Array,
    state_weights: Array, terminal_weights: Array, weights: Array,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Gradients and Gauss-Newton Hessians of (6.1) along one trajectory.

    With D the Jacobian of x (-) x_ref:  l_x = 2 D^T Q dx,  l_xx = 2 D^T Q D,  l_u = 2 R du,
    l_uu = 2 R.  Shapes (N+1, 36), (N+1, 36, 36), (N, 12), (N, 12, 12).
    """
    knots = inputs.shape[0]
    l_x, l_xx = np.zeros((knots + 1, 36)), np.zeros((knots + 1, 36, 36))
    l_u, l_uu = np.zeros((knots, 12)), np.zeros((knots, 12, 12))
    for k in range(knots + 1):
        reference, x = reference_states[k], states[k]
        dx = difference(reference[:19], reference[19:], x[:19], x[19:])
        jacobian = difference_jacobian(reference[:19], x[:19])
        diagonal = state_weights if k < knots else terminal_weights
        for i in range(36):
            if i >= 6:
                l_x[k, i] = 2.0 * diagonal[i] * dx[i]
                l_xx[k, i, i] = 2.0 * diagonal[i]
                continue
            for j in range(6):
                l_x[k, i] += 2.0 * jacobian[j, i] * diagonal[j] * dx[j]
                for r in range(6):
                    l_xx[k, i, r] += 2.0 * jacobian[j, i] * diagonal[j] * jacobian[j, r]
        if k < knots:
            for i in range(12):
                l_u[k, i] = 2.0 * weights[k, i] * (inputs[k, i] - reference_inputs[k, i])
                l_uu[k, i, i] = 2.0 * weights[k, i]
    return l_x, l_xx, l_u, l_uu
