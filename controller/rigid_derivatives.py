"""The thesis's derivatives: rigid feet that stick, and a saltation matrix where one lands."""

from __future__ import annotations

import numpy as np

from controller.planner_options import PlannerOptions
from controller.touchdown_order import Landing, TouchdownOrder, touchdown_jumps, warm_up
from hybrid.hilqr import Jump, Linearisation, Trajectory
from robots.a1.models import foot_frame_ids, load_pinocchio
from robots.contact_dynamics import ContactDynamics
from robots.trajectory_derivatives import TrajectoryDerivatives

CONTACT_FORCE = 1.0  # a foot that carries more is in contact [N]


class RigidDerivatives:
    """Constrained dynamics (3.59) between knots, saltation matrices (3.2) at landings (6.4.3).

    A trajectory's `aux` must hold its feet's normal forces (N, 4) [N].
    """

    def __init__(
        self,
        period: float,
        knots: int = 0,
        helper: bool = False,
        touchdown_order: TouchdownOrder = "index",
    ) -> None:
        """Compile what is compiled; `period` is the time between knots [s].

        With `helper`, a process shares trajectories of up to `knots`. `touchdown_order`: of feet
        that land within one knot.
        """
        model = load_pinocchio()
        self.dynamics = ContactDynamics(model, foot_frame_ids(model))
        warm_up(self.dynamics, period, touchdown_order)
        self._steps = TrajectoryDerivatives(self.dynamics, knots, helper)
        self._period = period
        self._order: TouchdownOrder = touchdown_order

    @classmethod
    def of(cls, options: PlannerOptions) -> RigidDerivatives:
        """Those of a planner; with two threads or more, a helper process takes part."""
        return cls(options.period, options.knots, options.threads > 1, options.touchdown_order)

    def wait_for_helper(self, timeout_s: float) -> bool:
        """Wait until the helper process has started; False when it has not after `timeout_s`."""
        return self._steps.wait_for_helper(timeout_s)

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """A (N, 36, 36), B (N, 36, 12), and the touchdowns between the knots."""
        states, inputs = trajectory.states, trajectory.inputs
        contacts = (trajectory.aux > CONTACT_FORCE).astype(np.float64)
        landings = contacts[1:] > contacts[:-1]
        # A touchdown takes as long as three knots.
        self._steps.start(states, inputs, contacts, self._period, 3 * int(landings.sum()))
        transitions: list[Jump] = []
        for k in np.flatnonzero(landings.any(axis=1)):
            landing = Landing(int(k), states[k], states[k + 1], inputs[k], inputs[k + 1],
                              contacts[k], tuple(np.flatnonzero(landings[k]).tolist()))  # fmt: skip
            transitions += touchdown_jumps(self.dynamics, landing, self._period, self._order)
        return Linearisation(*self._steps.finish(), transitions)
