"""The robot as HiLQR's solver sees it: physics that rolls out, derivatives of a trajectory."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from controller.cost_options import CostOptions
from controller.references.trajectory import ReferenceWindow
from controller.tracking_cost import expand_costs, input_weights, trajectory_costs
from hybrid.hilqr import CostExpansion, Linearisation, Policies, Rollouts, Trajectory
from robots.robot import Robot
from robots.terrain import Simulator

Array = NDArray[np.float64]


class RolloutResult(Protocol):
    """What a rollout backend returns for C candidates over N knots."""

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
        """Which physics this is and how it fared, for the report: `backend`, `device`, ..."""
        ...


class Derivatives(Simulator, Protocol):
    """First-order dynamics about a trajectory that the backend rolled out."""

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """A (N, 36, 36), B (N, 36, 12) in the tangents of `robots.state`, and transitions."""
        ...


class RobotModel:
    """Implements `hybrid.hilqr.Model` for tracking one reference window.

    The record (`aux`) of a trajectory is its feet's normal forces (N, 4) [N]: they give the
    input weights of the cost, and the contact sets of rigid derivatives.

    Attributes:
        robot: whose motion is rolled out.
        linearise: of the derivatives.
        round_trip_s: spent on asking a server, its physics apart, since `track` [s].
        base_paths: of every rollout that stayed finite since `track`, (C, N+1, 3) a batch [m].
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
        self.base_paths: list[Array] = []

    def weigh(self, cost: CostOptions) -> None:
        """Set the weights of the cost."""
        self._loaded, self._unloaded = cost.input_loaded, cost.input_unloaded
        self._state_weights = cost.state_weights()
        self._terminal_weights = cost.terminal_scale * self._state_weights

    def track(self, window: ReferenceWindow) -> None:
        """Set the reference that the cost measures against."""
        self._reference_states = np.hstack([window.q, window.v])
        self._reference_inputs = window.inputs
        self.round_trip_s, self.base_paths = 0.0, []

    def roll_out(self, x0: Array, policies: Policies) -> Rollouts:
        """Simulate every candidate from x0 (37,)."""
        result = self.backend.roll_out(x0, policies)
        self.round_trip_s += self.backend.round_trip_s
        self.base_paths.append(result.states[result.finite, :, :3])  # a copy: the index is a mask
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
