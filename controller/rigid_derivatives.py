"""The thesis's derivatives: rigid feet that stick, and a saltation matrix where one lands."""

from __future__ import annotations

import numpy as np

from controller.planner_options import TouchdownOrder
from controller.touchdown_order import Landing, touchdown_jumps, warm_up
from hybrid.hilqr import Drift, Jump, Linearisation, Trajectory
from robots.contact_dynamics import ContactDynamics
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.robot import Robot
from robots.terrain import Ground, make_ground

CONTACT_FORCE = 1.0  # a foot that carries more is in contact [N]


class RigidDerivatives:
    """Constrained dynamics (3.59) between knots, saltation matrices (3.2) at landings (6.4.3).

    A trajectory's `aux` must hold its feet's normal forces (N, 4) [N].
    """

    def __init__(
        self, robot: Robot, period: float, touchdown_order: TouchdownOrder = "index",
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """Compile what is compiled.

        Args:
            robot: whose derivatives they are.
            period: time between knots [s].
            touchdown_order: of feet that land within one.
            ground: on which they land: it has the guards' normals. None is the floor z = 0.
        """
        model = load_pinocchio(robot)
        self.dynamics = ContactDynamics(model, foot_frame_ids(model))
        warm_up(robot, self.dynamics, period, touchdown_order)
        self._period, self._ground = period, ground or make_ground()
        self._legs = robot.legs
        self._order: TouchdownOrder = touchdown_order

    def move_ground(self, ground: Ground) -> None:
        """Land on `ground` from now on."""
        self._ground = ground

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """A (N, 36, 36), B (N, 36, 12), and the touchdowns between the knots; the joints drift."""
        states, inputs = trajectory.states, trajectory.inputs
        contacts = (trajectory.aux > CONTACT_FORCE).astype(np.float64)
        landings = contacts[1:] > contacts[:-1]
        A, B = np.empty((len(inputs), 36, 36)), np.empty((len(inputs), 36, 12))
        for k, (x, tau) in enumerate(zip(states[:-1], inputs, strict=True)):
            self.dynamics.step_derivatives_into(
                x[:19], x[19:], tau, contacts[k], self._period, A[k], B[k]
            )
        transitions: list[Jump] = []
        for k in np.flatnonzero(landings.any(axis=1)):
            landing = Landing(int(k), states[k], states[k + 1], inputs[k], inputs[k + 1],
                              contacts[k], tuple(np.flatnonzero(landings[k]).tolist()),
                              self._legs, self._ground)  # fmt: skip
            transitions += touchdown_jumps(self.dynamics, landing, self._period, self._order)
        return Linearisation(A, B, transitions, Drift(6, 18, 18, self._period))
