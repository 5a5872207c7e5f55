"""A planner of one's own: `saltus launch sim --planner examples/my_planner.py:Player`.

It plays the launch's reference motion with feedback on the joints and plans no contact. It walks on
flat ground, and a push shows what replanning is for.
"""

from collections.abc import Callable

import numpy as np

from controller.planner import Planner, Stop
from controller.references import make_reference
from runtime.messages import Plan, StateEstimate
from saltus.configuration.launch import LaunchConfig

KNOTS = 50  # of a plan
STIFFNESS, DAMPING = 40.0, 1.5  # of a joint [N m/rad], [N m s/rad]


class Player(Planner):
    """Follows the reference from where it is in time."""

    def __init__(self, config: LaunchConfig) -> None:
        """Make the reference that the launch names."""
        self._period = config.plugin.period
        robot = config.robot_model
        self._reference = make_reference(robot, config.reference, config.speed, self._period)
        joints = np.eye(12, 18, 6)  # which of the 18 velocities belong to joints
        stiffness = config.plugin.values.get("stiffness", STIFFNESS)
        self._gains = np.tile(np.hstack([-stiffness * joints, -DAMPING * joints]), (KNOTS, 1, 1))
        self._start: float | None = None  # time of the reference's first knot [s]
        self._count = 0

    def solve(
        self,
        estimate: StateEstimate,
        lead: float = 0.0,
        out_of_time: Stop | None = None,
        on_plan: Callable[[Plan], None] | None = None,
    ) -> Plan:
        """The next half second of the reference."""
        if self._start is None:
            self._start = estimate.time
        knot = round((estimate.time + lead - self._start) / self._period)
        window = self._reference.window(knot, KNOTS)
        self._count += 1
        return Plan(
            id=self._count, tick=estimate.tick, time=self._start + knot * self._period,
            period=self._period, states_q=window.q, states_v=window.v, inputs=window.inputs,
            gains=self._gains, contacts=window.contacts[:-1], cost=0.0, iterations=0, solve_s=0.0,
            status="ok",
        )  # fmt: skip
