"""Makes a motion of key poses by HiLQR: contacts, forces and torques within the robot's limits.

The horizon grows phase by phase, each time from the plan so far and the key poses held by the
joints' springs. A plan of the whole motion at once would begin with a robot that has fallen long
before its end. Limits join last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from controller.limits import Limits
from controller.motions.key_path import key_path
from controller.motions.motion import Motion
from controller.references.trajectory import ReferenceTrajectory
from controller.robot_model import Derivatives, RobotModel, RolloutBackend
from hybrid.hilqr import Hilqr, HilqrOptions, Policies, RegularisationOptions, Solution
from hybrid.hilqr.constrained import ConstrainedHilqr, ConstrainedSolution, ConstraintOptions
from robots.robot import Robot
from robots.rotations import Array

SPRING, DAMPER = 60.0, 1.5  # of a joint toward its key pose [N m/rad], [N m s/rad]
LONGEST = 1.6  # of a horizon that grows [s]; what lies before stays as it is
LONGEST_PART = 0.55  # by which it grows [s]
LOAD = 5.0  # of a foot on the ground [N]
GROWTH_OPTIONS = HilqrOptions(
    max_iterations=40, tolerance=0.5, line_search="two_stage",
    regularisation=RegularisationOptions(target="input", initial=1e-3, maximum=1e6),
)  # fmt: skip
LIMIT_OPTIONS = ConstraintOptions(
    tolerance=1e-2, max_rounds=14, penalty=300.0, growth=3.0, most_penalty=1e6, settled=0.01
)

MakeBackend = Callable[[int], RolloutBackend]
Report = Callable[[float, float], None]


class MotionPlan(NamedTuple):
    """A motion that the robot can do, or how far planning came.

    Attributes:
        reference: to be tracked, with the plan's torques, contacts and gains.
        solution: of the last solve.
    """

    reference: ReferenceTrajectory
    solution: ConstrainedSolution


def plan_motion(
    motion: Motion, robot: Robot, period: float, make_backend: MakeBackend,
    derivatives: Derivatives, report: Report | None = None,
) -> MotionPlan:  # fmt: skip
    """Plan a motion from a stand at the origin.

    Args:
        motion: what to do.
        robot: that does it.
        period: between knots [s].
        make_backend: rolls out over as many knots.
        derivatives: of the same steps.
        report: is called with the end of a horizon [s] and the cost of the plan up to there.
    """
    path = key_path(motion, robot, period)
    place = 0.0, 0.0, robot.stand_height, 0.0, 0.0, 0.0, 1.0
    x0 = np.concatenate([place, robot.stand, np.zeros(18)])
    plan = _springs(path)

    def make_model(knots: int) -> RobotModel:
        return RobotModel(robot, make_backend(knots), derivatives, motion.cost)

    for knots in _horizons(motion, period):
        begin = max(0, knots - round(LONGEST / period))
        model = make_model(knots - begin)
        model.track(path.window(begin, knots - begin))
        start = x0 if begin == 0 else plan.states[0, begin]
        step = Hilqr(model, GROWTH_OPTIONS).solve(start, _part(plan, begin, knots))
        if step.trajectory is not None:
            _write_step(step, plan, begin)
            if report is not None:
                report(knots * period, step.trajectory.cost)
    knots = path.size - 1
    model = make_model(knots)
    model.track(path.window(0, knots))
    options = HilqrOptions(**(GROWTH_OPTIONS.__dict__ | {"max_iterations": 20}))
    solver = ConstrainedHilqr(model, Limits(motion.limits, robot), options, LIMIT_OPTIONS)
    solution = solver.solve(x0, plan)
    return MotionPlan(_reference(path, solution), solution)


def _springs(path: ReferenceTrajectory) -> Policies:
    """The key poses, with springs at the joints."""
    gains = np.zeros((path.size - 1, 12, 36))
    joints = np.arange(12)
    gains[:, joints, 6 + joints], gains[:, joints, 24 + joints] = -SPRING, -DAMPER
    return Policies.of(np.hstack([path.q, path.v]), path.inputs[:-1], gains)


def _horizons(motion: Motion, period: float) -> list[int]:
    """Knots at which plans end, in order: the ends of phases, and of parts of long ones."""
    ends, time = [], 0.0
    for phase in motion.phases:
        parts = int(np.ceil(phase.duration / LONGEST_PART - 1e-9))
        ends += [time + phase.duration * (i + 1) / parts for i in range(parts)]
        time += phase.duration
    return [round(end / period) for end in ends]


def _part(plan: Policies, begin: int, end: int) -> Policies:
    """A plan from knot to knot."""
    return Policies.of(
        plan.states[0, begin : end + 1], plan.inputs[0, begin:end], plan.gains[0, begin:end]
    )


def _write_step(step: Solution, plan: Policies, begin: int) -> None:
    """Write what was solved for into the plan, from knot `begin` on."""
    trajectory, gains = step.trajectory, step.gains
    assert trajectory is not None and gains is not None
    end = begin + len(trajectory.inputs)
    plan.states[0, begin:end] = trajectory.states[:-1]
    plan.inputs[0, begin:end], plan.gains[0, begin:end] = trajectory.inputs, gains


def _reference(path: ReferenceTrajectory, solution: ConstrainedSolution) -> ReferenceTrajectory:
    """The solution as a reference; the key path where there is none."""
    trajectory, gains = solution.trajectory, solution.gains
    if trajectory is None or gains is None:
        return path
    contacts = (np.asarray(trajectory.aux) > LOAD).astype(float)

    def with_last(rows: Array) -> Array:
        return np.concatenate([rows, rows[-1:]])

    return ReferenceTrajectory(
        path.name, path.period, trajectory.states[:, :19], trajectory.states[:, 19:],
        with_last(trajectory.inputs), with_last(contacts), gains=with_last(gains),
    )  # fmt: skip
