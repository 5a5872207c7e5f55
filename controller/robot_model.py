"""The robot as HiLQR's solver sees it: physics that rolls out, derivatives, and the tracking cost.

The cost is (6.1), its input weights scaled by contact force, (6.2)-(6.3).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.planner_options import CostOptions
from controller.references.trajectory import ReferenceWindow
from robots.robot import Robot
from robots.rotations import Array
from robots.state import difference, difference_jacobian
from robots.terrain import Simulator
from saltation.hilqr import CostExpansion, Linearisation, Policies, Rollouts, Trajectory


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


class RolloutResult(Protocol):
    """Answer of a rollout backend for C candidates over N knots."""

    @property
    def states(self) -> Array:
        """x = [q, v], (C, N+1, 37)."""
        ...

    @property
    def inputs(self) -> Array:
        """Torques after saturation (C, N, 12) [N m]."""
        ...

    @property
    def normal_forces(self) -> Array:
        """Force on each foot during each knot (C, N, 4) [N]."""
        ...

    @property
    def finite(self) -> NDArray[np.bool_]:
        """False for a candidate whose physics diverged (C,)."""
        ...


class RolloutBackend(Simulator, Protocol):
    """Any physics that can roll candidate policies out in parallel.

    Attributes:
        round_trip_s: of the last `roll_out`, spent on asking a server, its physics apart [s]; 0
            for physics here.
    """

    round_trip_s: float

    def roll_out(self, x0: Array, policies: Policies) -> RolloutResult:
        """Roll every candidate out from x0 (37,)."""
        ...

    def advance(self, x: Array, torque: Array, duration: float) -> Array:
        """State after `duration` [s] under a constant torque (12,) [N m]."""
        ...

    def statistics(self) -> dict[str, Any]:
        """The physics and its counts, for the report: `backend`, `device`, ..."""
        ...


class Derivatives(Simulator, Protocol):
    """First-order dynamics about a trajectory that the backend rolled out."""

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """A (N, 36, 36), B (N, 36, 12) in the tangents of `robots.state`, and transitions."""
        ...


class RobotModel:
    """Implements `saltation.hilqr.Model` for tracking one reference window.

    The record (`aux`) of a trajectory is its feet's normal forces (N, 4) [N]: they give the
    input weights of the cost, and the contact sets of rigid derivatives.

    Attributes:
        robot: whose motion is rolled out.
        linearise: of the derivatives.
        round_trip_s: spent on asking a server, its physics apart, since `track` [s].
    """

    def __init__(
        self, robot: Robot, backend: RolloutBackend, derivatives: Derivatives, cost: CostOptions
    ) -> None:
        """Put the parts together."""
        self.robot, self.backend, self.linearise = robot, backend, derivatives.linearise
        self.weigh(cost)
        self._reference_states = np.zeros((0, 37))
        self._reference_inputs = np.zeros((0, 12))
        self.round_trip_s = 0.0

    def weigh(self, cost: CostOptions) -> None:
        """Set the weights of the cost."""
        self._loaded, self._unloaded = cost.input_loaded, cost.input_unloaded
        self._state_weights = cost.state_weights()
        self._terminal_weights = cost.terminal_scale * self._state_weights

    def track(self, window: ReferenceWindow) -> None:
        """Set the reference that the cost measures against."""
        self._reference_states = np.hstack([window.q, window.v])
        self._reference_inputs = window.inputs
        self.round_trip_s = 0.0

    def roll_out(self, x0: Array, policies: Policies) -> Rollouts:
        """Simulate every candidate from x0 (37,)."""
        result = self.backend.roll_out(x0, policies)
        self.round_trip_s += self.backend.round_trip_s
        weights = input_weights(result.normal_forces, self._loaded, self._unloaded)
        cost = trajectory_costs(
            result.states, result.inputs, self._reference_states, self._reference_inputs,
            self._state_weights, self._terminal_weights, weights,
        )  # fmt: skip
        return Rollouts(result.states, result.inputs, cost, result.finite, result.normal_forces)

    def quadratise(self, trajectory: Trajectory) -> CostExpansion:
        """Gauss-Newton expansion of (6.1) about a trajectory."""
        weights = input_weights(trajectory.aux[None], self._loaded, self._unloaded)
        l_x, l_xx, l_u, l_uu = expand_costs(
            trajectory.states, trajectory.inputs, self._reference_states, self._reference_inputs,
            self._state_weights, self._terminal_weights, weights[0],
        )  # fmt: skip
        return CostExpansion(l_x, l_u, l_xx, np.zeros((len(l_u), 12, 36)), l_uu)
