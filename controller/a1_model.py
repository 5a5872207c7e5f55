"""The A1 as HiLQR's solver sees it: rolled out in a simulator, linearised with Pinocchio."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from controller.references.trajectory import ReferenceWindow
from controller.touchdown_order import Landing, TouchdownOrder, touchdown_jumps, warm_up
from controller.tracking_cost import CostOptions, expand_costs, input_weights, trajectory_costs
from hybrid.hilqr import CostExpansion, Jump, Linearisation, Policies, Rollouts, Trajectory
from robots.contact_dynamics import ContactDynamics
from robots.trajectory_derivatives import TrajectoryDerivatives

Array = NDArray[np.float64]

CONTACT_FORCE = 1.0  # a foot that carries more is in contact [N]


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


class RolloutBackend(Protocol):
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


class A1Model:
    """Implements `hybrid.hilqr.Model` for tracking one reference window.

    The record (`aux`) of a trajectory is its feet's normal forces (N, 4) [N]: they give the
    contact sets of the linearisation and the input weights of the cost.

    Attributes:
        round_trip_s: spent on asking a server, its physics apart, since `track` [s].
    """

    def __init__(
        self,
        dynamics: ContactDynamics,
        backend: RolloutBackend,
        cost: CostOptions,
        period: float,
        knots: int = 0,
        helper: bool = False,
        touchdown_order: TouchdownOrder = "index",
    ) -> None:
        """Compile what is compiled; `period` is the time between knots [s].

        With `helper`, a process shares the linearisation of trajectories of up to `knots`.
        `touchdown_order`: of feet that land within one knot.
        """
        warm_up(dynamics, period, touchdown_order)
        self._derivatives = TrajectoryDerivatives(dynamics, knots, helper)
        self.dynamics, self.backend, self.period = dynamics, backend, period
        self.touchdown_order: TouchdownOrder = touchdown_order
        self._loaded, self._unloaded = cost.input_loaded, cost.input_unloaded
        self._state_weights = cost.state_weights()
        self._terminal_weights = cost.terminal_scale * self._state_weights
        self._reference_states = np.zeros((0, 37))
        self._reference_inputs = np.zeros((0, 12))
        self.round_trip_s = 0.0

    def wait_for_helper(self, timeout_s: float) -> bool:
        """Wait until the helper process has started; False when it has not after `timeout_s`."""
        return self._derivatives.wait_for_helper(timeout_s)

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

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """Contact dynamics' derivatives at every knot, and the touchdowns between them (6.4.3)."""
        states, inputs = trajectory.states, trajectory.inputs
        contacts = (trajectory.aux > CONTACT_FORCE).astype(np.float64)
        landings = contacts[1:] > contacts[:-1]
        # A touchdown takes as long as three knots.
        self._derivatives.start(
            states, inputs, contacts, self.period, meanwhile=3 * int(landings.sum())
        )
        transitions: list[Jump] = []
        for k in np.flatnonzero(landings.any(axis=1)):
            landing = Landing(int(k), states[k], states[k + 1], inputs[k], inputs[k + 1],
                              contacts[k], tuple(np.flatnonzero(landings[k]).tolist()))  # fmt: skip
            transitions += touchdown_jumps(
                self.dynamics, landing, self.period, self.touchdown_order
            )
        return Linearisation(*self._derivatives.finish(), transitions)
