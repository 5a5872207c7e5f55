"""Plans a motion of key poses by HiLQR: contacts, forces and torques within the robot's limits.

The reference is the path through the key poses. The horizon grows phase by phase, each time from
the plan so far and the seed, the key poses held by springs at the joints. A plan of the whole
motion at once would begin with a robot that has fallen long before its end. Limits join last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from controller.limits import Limits
from controller.motor_targets import joint_gain
from controller.options import FEASIBLE, STANDING, Motion, Pose
from controller.references.trajectory import ReferenceTrajectory
from controller.robot_model import Derivatives, RobotModel, RolloutBackend
from robots.conventions import GRAVITY
from robots.robot import Robot
from robots.rotations import Array, exp3, quaternion_from_rotation
from robots.state import difference
from saltation.hilqr import Hilqr, HilqrOptions, Policies, RegularisationOptions, Solution
from saltation.hilqr.constrained import ConstrainedHilqr, ConstrainedSolution, ConstraintOptions

FALL = np.array([0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0])
SPRINGS = 60.0, 75.0, 48.0, 38.0  # of a joint toward its key pose, one a seed [N m/rad]
DAMPING = 0.025  # of the springs [s]
LONGEST = 1.6  # of a horizon that grows [s]; what lies before stays as it is
LONGEST_PART = 0.55  # by which it grows [s]
LOAD = 5.0  # of a foot on the ground [N]
GROWTH_OPTIONS = HilqrOptions(
    max_iterations=40, tolerance=0.5, line_search="two_stage",
    regularisation=RegularisationOptions(target="input", initial=1e-3, maximum=1e6),
)  # fmt: skip
LIMIT_OPTIONS = ConstraintOptions(
    max_rounds=14, penalty=300.0, growth=3.0, most_penalty=1e6, settled=0.01
)
MakeBackend = Callable[[int], RolloutBackend]
Report = Callable[[float, float], None]


def key_path(motion: Motion, robot: Robot, period: float) -> ReferenceTrajectory:
    """The path of a motion, sampled every `period` [s], without torques.

    In flight the base falls freely and its angles change evenly. On the ground they follow a cubic
    whose ends have the velocities of the flights beside it, and none elsewhere. Joints go from pose
    to pose with minimum jerk. The last pose holds.
    """
    ends = np.cumsum([0.0, *(phase.duration for phase in motion.phases)])
    poses = [Pose(), *(phase.end for phase in motion.phases)]
    stand = (0.0, 0.0, robot.stand_height)
    base = np.array([(*(pose.position or stand), *pose.turn) for pose in poses])
    joints = [_joints(pose, robot) for pose in poses]
    speeds = _speeds(motion, base)
    times = period * np.arange(round(ends[-1] / period) + 1)
    which = np.clip(np.searchsorted(ends, times + 1e-9, side="right") - 1, 0, len(ends) - 2)
    q, contacts = np.empty((len(times), 19)), np.empty((len(times), 4))
    for k, (time, i) in enumerate(zip(times, which, strict=True)):
        duration = ends[i + 1] - ends[i]
        s = (time - ends[i]) / duration
        place = _hermite(s, duration, base[i], base[i + 1], speeds[i][1], speeds[i + 1][0])
        if motion.phases[i].feet == "none":
            place = base[i] + s * duration * (speeds[i][1] + 0.5 * s * duration * FALL)
        q[k, :3] = place[:3]
        q[k, 3:7] = quaternion_from_rotation(_attitude(*place[3:]))
        way = s**3 * (10.0 + s * (6.0 * s - 15.0))
        q[k, 7:] = (1.0 - way) * joints[i] + way * joints[i + 1]
        contacts[k] = STANDING[motion.phases[i].feet]
    return ReferenceTrajectory(
        "motion", period, q, _velocities(q, period), np.zeros((len(times), 12)), contacts
    )


def _speeds(motion: Motion, base: Array) -> list[tuple[Array, Array]]:
    """Velocity of the base's place and angles at each pose (6,): before it, and after it."""
    speeds = [[np.zeros(6), np.zeros(6)] for _ in base]
    for i, phase in enumerate(motion.phases):
        if phase.feet == "none":
            mean, half = (base[i + 1] - base[i]) / phase.duration, 0.5 * phase.duration * FALL
            speeds[i] = [mean - half, mean - half]
            speeds[i + 1] = [mean + half, mean + half]
    return [(before, after) for before, after in speeds]


def _hermite(s: float, duration: float, a: Array, b: Array, va: Array, vb: Array) -> Array:
    """The cubic from a with the velocity va to b with vb, at the share s of its duration."""
    return (
        (2 * s**3 - 3 * s**2 + 1) * a + (3 * s**2 - 2 * s**3) * b
        + duration * ((s**3 - 2 * s**2 + s) * va + (s**3 - s**2) * vb)
    )  # fmt: skip


def _attitude(roll: float, pitch: float, yaw: float) -> Array:
    """The base's axes (3, 3)."""
    x, y, z = np.eye(3)
    return exp3(yaw * z) @ exp3(pitch * y) @ exp3(roll * x)


def _joints(pose: Pose, robot: Robot) -> Array:
    """The twelve angles (12,) [rad]."""
    legs = robot.stand.reshape(4, 3).copy()
    for leg, given in enumerate((pose.front, pose.front, pose.rear, pose.rear)):
        if given is not None:
            legs[leg] = given
            legs[leg, 0] *= np.sign(robot.legs.plane[leg])
    return legs.ravel()


def _velocities(q: Array, period: float) -> Array:
    """Velocities (K, 18) along configurations (K, 19), by central differences."""
    rest, v = np.zeros(18), np.zeros((len(q), 18))
    for k in range(len(q)):
        before, after = max(k - 1, 0), min(k + 1, len(q) - 1)
        forward = difference(q[k], rest, q[after], rest)[:18]
        back = difference(q[k], rest, q[before], rest)[:18]
        v[k] = (forward - back) / ((after - before) * period)
    return v


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

    The search ends in a local minimum, which may violate the limits. Then it begins again from a
    seed with other springs. Where none keeps the limits, the least violation is returned.

    Args:
        motion: what to do.
        robot: that does it.
        period: between knots [s].
        make_backend: rolls out over as many knots.
        derivatives: of the same steps.
        report: is called with the end of a horizon [s] and the cost of the plan up to there.
    """
    path = key_path(motion, robot, period)
    plans = []
    for spring in SPRINGS:
        seed = _spring_policy(path, spring)
        plans.append(_plan_from(seed, path, motion, robot, make_backend, derivatives, report))
        if plans[-1].status in FEASIBLE:
            break
    solution = min(plans, key=lambda plan: (plan.status not in FEASIBLE, plan.violation.value))
    return MotionPlan(_reference(path, solution), solution)


def _plan_from(
    plan: Policies, path: ReferenceTrajectory, motion: Motion, robot: Robot,
    make_backend: MakeBackend, derivatives: Derivatives, report: Report | None,
) -> ConstrainedSolution:  # fmt: skip
    """Plan from one seed, which is overwritten; see `plan_motion`."""
    period = path.period
    place = 0.0, 0.0, robot.stand_height, 0.0, 0.0, 0.0, 1.0
    x0 = np.concatenate([place, robot.stand, np.zeros(18)])

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
    options = replace(GROWTH_OPTIONS, max_iterations=motion.iterations)
    constraint_options = replace(LIMIT_OPTIONS, tolerance=motion.tolerance)
    solver = ConstrainedHilqr(model, Limits(motion.limits, robot), options, constraint_options)
    return solver.solve(x0, plan)


def _spring_policy(path: ReferenceTrajectory, spring: float) -> Policies:
    """The key poses, with springs at the joints."""
    gains = np.tile(joint_gain(spring, DAMPING * spring), (path.size - 1, 1, 1))
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
