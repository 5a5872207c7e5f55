"""The planner that Convex MPC and Instant QP share: forces on the feet, swing legs, and a Plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.body_state import BodyObserver
from controller.centroidal.foot_motion import foot_motion, foothold_table
from controller.centroidal.force_law import ForceLaw, Forces, Situation
from controller.centroidal.options import CentroidalOptions
from controller.centroidal.path import Path
from controller.centroidal.plan_knots import FootSchedule, Knots, PlanKnots
from controller.centroidal.qp_solver import Status
from controller.centroidal.rigid_body import standing_body
from controller.centroidal.stepping import Stepper
from controller.driving.goal import Commands, sequence_of
from controller.planner import Planner
from robots.robot import Robot
from robots.rotations import exp3, quaternion_from_rotation, quaternion_product
from robots.terrain import Ground
from runtime.messages import Plan, StateEstimate

Array = NDArray[np.float64]

FORCES_LAST_S = 0.1  # for which forces of an earlier solve will do [s]


class CentroidalPlanner(Planner):
    """Plans from a state estimate: `solve(estimate) -> Plan`.

    Time zero of the path is the first estimate's time, and its clock is the estimates': how long a
    solve takes changes nothing in the schedule. The plan starts at its estimate.

    It is made in the path's axes, where the body's yaw is small, and turned back at the end.
    """

    def __init__(
        self, options: CentroidalOptions, robot: Robot, law: ForceLaw, path: Path,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """`law` chooses forces; `path` is what the robot is asked to do, on `ground` if any."""
        self.options, self.law, self.path = options, law, path
        self._body = standing_body(robot)
        self._observer = BodyObserver(robot)
        self._knots = PlanKnots(options.stepping, robot, self._body, options.period)
        self._stepper = Stepper(options.stepping, robot, path.schedule, ground)
        self._origin: float | None = None
        self._heading = 0.0  # of the path's axes [rad]
        self._solved = -np.inf  # time of the last estimate from which a QP was solved in time [s]
        self._count = 0

    @property
    def commands(self) -> Commands | None:
        """See the path's."""
        return self.path.commands

    def solve(
        self,
        estimate: StateEstimate,
        lead: float = 0.0,
        out_of_time: Callable[[], bool] | None = None,
        on_plan: Callable[[Plan], None] | None = None,
    ) -> Plan:
        """Plan from an estimate.

        Args:
            estimate: the state to plan from.
            lead, out_of_time, on_plan: of the planners' common interface; a QP is too short a
                matter for them.

        Returns:
            The plan; "time_limit" has the forces of an earlier solve. "failed" when the estimate is
            not finite, overflows on the way, or the QP had no solution or came too late for longer
            than forces last; then nothing should follow it.
        """
        q, v = np.array(estimate.q), np.array(estimate.v)
        if not (np.isfinite(q).all() and np.isfinite(v).all() and np.isfinite(estimate.time)):
            return self._plan(estimate, "failed", 0, _still(self.options), None)
        if self.ground_estimate is not None:
            self.ground_estimate.follow(estimate)
        now = self._situation(estimate, q, v)
        answer = self.law.forces(now)
        feet = self._schedule(now, answer)
        try:
            knots = self._knots.make(now.body, feet)
        except np.linalg.LinAlgError:  # the compiled solvers raise for what is not finite
            return self._plan(estimate, "failed", answer.iterations, _still(self.options), None)
        if self._heading:
            knots.q[:] = _turned(knots.q, self._heading)
        status = self._judged(answer.status, estimate.time)
        return self._plan(estimate, status, answer.iterations, knots, feet.contacts)

    def statistics(self) -> dict[str, Any]:
        """Nothing beyond what every planner's report has."""
        return {}

    def _judged(self, status: Status, time: float) -> Status:
        """A QP's status at `time` [s]; one that comes too late time after time has failed."""
        if status == "ok":
            self._solved = time
        elif status == "time_limit" and time - self._solved > FORCES_LAST_S:
            return "failed"
        return status

    def _situation(self, estimate: StateEstimate, q: Array, v: Array) -> Situation:
        body = self._observer.observe(q, v)
        self._origin = estimate.time if self._origin is None else self._origin
        time = estimate.time - self._origin
        self.path.meet(time, np.concatenate([q, v]), body.com)
        if self.path.heading != self._heading:
            self._stepper.turn(_yaw(self._heading - self.path.heading))
            self._heading = self.path.heading
        body = body.turned(_yaw(-self._heading)) if self._heading else body
        touching = np.array(estimate.contact)
        standing = self._stepper.observe(time, body.feet, touching)
        inertia = body.rotation @ self._body.inertia_in_base @ body.rotation.T
        return Situation(time, body, inertia, standing, touching, self.path, self._stepper)

    def _schedule(self, now: Situation, answer: Forces) -> FootSchedule:
        """Contacts, forces and foot motions at the knots of the plan."""
        count, period = self.options.knots, self.options.period
        contacts, forces = np.zeros((count, 4)), np.zeros((count, 4, 3))
        motions = np.zeros((2, count + 1, 4, 3))
        holds = foothold_table(now)
        for k in range(count + 1):
            time = now.time + k * period
            step = min(int((k + 0.5) * period / answer.step), len(answer.forces) - 1)
            for foot in range(4):
                swing = now.stepper.swing(foot, time + 0.5 * period, now.time)
                if k < count and swing is None:
                    contacts[k, foot] = 1.0
                    forces[k, foot] = answer.forces[step, foot]
                motions[:, k, foot] = foot_motion(now, holds, foot, time)
        return FootSchedule(contacts, forces, motions[0], motions[1])

    def _plan(
        self, estimate: StateEstimate, status: Status, iterations: int, knots: Knots,
        contacts: Array | None,
    ) -> Plan:  # fmt: skip
        """The message; numbers that are not finite make it "failed"."""
        finite = all(np.isfinite(array).all() for array in knots)
        status = status if finite else "failed"
        knots = knots if finite else _still(self.options)
        contacts = np.ones((len(knots.inputs), 4)) if contacts is None else contacts
        self._count += 1
        return Plan(
            id=self._count, tick=estimate.tick, time=estimate.time, period=self.options.period,
            states_q=knots.q, states_v=knots.v, inputs=knots.inputs, gains=knots.gains,
            contacts=contacts, cost=0.0, iterations=iterations, solve_s=0.0, status=status,
            command=sequence_of(self.commands),
        )  # fmt: skip


def _yaw(angle: float) -> Array:
    """Rotation about the vertical by an angle [rad] (3, 3)."""
    return exp3(np.array([0.0, 0.0, angle]))


def _turned(q: Array, angle: float) -> Array:
    """Configurations (K, 19), turned about the world's origin by an angle [rad]."""
    turn, result = _yaw(angle), q.copy()
    quaternion = quaternion_from_rotation(turn)
    result[:, :3] = q[:, :3] @ turn.T
    for row in result:
        row[3:7] = quaternion_product(quaternion, row[3:7])
    return result


def _still(options: CentroidalOptions) -> Knots:
    """Knots of a plan that must not be followed."""
    q = np.zeros((options.knots + 1, 19))
    q[:, 6] = 1.0
    return Knots(q, np.zeros((options.knots + 1, 18)), np.zeros((options.knots, 12)),
                 np.zeros((options.knots, 12, 36)))  # fmt: skip
