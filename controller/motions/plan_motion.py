"""Makes a motion of key poses by HiLQR: contacts, forces and torques within the A1's limits.

The horizon grows phase by phase, each time from the plan so far and the key poses held by the
joints' springs. A plan of the whole motion at once would begin with a robot that has fallen long
before its end. Limits join last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from controller.a1_model import A1Model, Derivatives, RolloutBackend
from controller.limits import Limits
from controller.motions.key_path import key_path
from controller.motions.motion import Motion
from controller.references.trajectory import ReferenceTrajectory
from hybrid.hilqr import Hilqr, HilqrOptions, Policies, RegularisationOptions, Solution
from hybrid.hilqr.constrained import ConstrainedHilqr, ConstrainedSolution, ConstraintOptions
from robots.a1.constants import STAND_HEIGHT, STAND_JOINTS
from robots.rotations import Array

SPRING, DAMPER = 60.0, 1.5  # of a joint toward its key pose [N m/rad], [N m s/rad]
LOAD = 5.0  # of a foot on the ground [N]
GROWING = HilqrOptions(
    max_iterations=40, tolerance=0.5, line_search="two_stage",
    regularisation=RegularisationOptions(target="input", initial=1e-3, maximum=1e6),
)  # fmt: skip
LIMITED = ConstraintOptions(
    tolerance=5e-3, max_rounds=14, penalty=300.0, growth=3.0, most_penalty=1e6, settled=0.01
)

MakeBackend = Callable[[int], RolloutBackend]
Report = Callable[[str, float], None]


class MotionPlan(NamedTuple):
    """A motion that the robot can do, or how far planning came.

    Attributes:
        reference: to be tracked, with the plan's torques, contacts and gains.
        solution: of the last solve.
    """

    reference: ReferenceTrajectory
    solution: ConstrainedSolution


def plan_motion(
    motion: Motion, period: float, make_backend: MakeBackend, derivatives: Derivatives,
    report: Report | None = None,
) -> MotionPlan:  # fmt: skip
    """Plan a motion from a stand at the origin.

    Args:
        motion: what to do.
        period: between knots [s].
        make_backend: rolls out over as many knots.
        derivatives: of the same steps.
        report: is called with the name of a phase and the cost of the plan up to its end.
    """
    path = key_path(motion, period)
    x0 = np.concatenate([(0.0, 0.0, STAND_HEIGHT, 0.0, 0.0, 0.0, 1.0), STAND_JOINTS, np.zeros(18)])
    plan, end = _springs(path), 0.0
    for phase in motion.phases:
        end += phase.duration
        knots = min(round(end / period), path.size - 1)
        model = _model(make_backend(knots), derivatives, motion, path, knots)
        step = Hilqr(model, GROWING).solve(x0, _first(plan, knots))
        if step.trajectory is not None:
            plan = _continued(step, plan)
            if report is not None:
                report(phase.name, step.trajectory.cost)
    knots = path.size - 1
    model = _model(make_backend(knots), derivatives, motion, path, knots)
    options = HilqrOptions(**(GROWING.__dict__ | {"max_iterations": 20}))
    solver = ConstrainedHilqr(model, Limits(motion.limits), options, LIMITED)
    solution = solver.solve(x0, plan)
    return MotionPlan(_reference(path, solution), solution)


def _springs(path: ReferenceTrajectory) -> Policies:
    """The key poses, with springs at the joints."""
    gains = np.zeros((path.size - 1, 12, 36))
    joints = np.arange(12)
    gains[:, joints, 6 + joints], gains[:, joints, 24 + joints] = -SPRING, -DAMPER
    return Policies.of(np.hstack([path.q, path.v]), path.inputs[:-1], gains)


def _model(
    backend: RolloutBackend, derivatives: Derivatives, motion: Motion, path: ReferenceTrajectory,
    knots: int,
) -> A1Model:  # fmt: skip
    model = A1Model(backend, derivatives, motion.cost)
    model.track(path.window(0, knots))
    return model


def _first(plan: Policies, knots: int) -> Policies:
    """The first knots of a plan."""
    return Policies.of(
        plan.states[0, : knots + 1], plan.inputs[0, :knots], plan.gains[0, :knots]
    )


def _continued(step: Solution, plan: Policies) -> Policies:
    """What was solved for, and then the plan as it was."""
    trajectory, gains = step.trajectory, step.gains
    assert trajectory is not None and gains is not None
    done = len(trajectory.inputs)
    return Policies.of(
        np.vstack([trajectory.states[:done], plan.states[0, done:]]),
        np.vstack([trajectory.inputs, plan.inputs[0, done:]]),
        np.concatenate([gains, plan.gains[0, done:]]),
    )


def _reference(path: ReferenceTrajectory, solution: ConstrainedSolution) -> ReferenceTrajectory:
    """The solution as a reference; the key path where there is none."""
    trajectory, gains = solution.trajectory, solution.gains
    if trajectory is None or gains is None:
        return path
    contacts = (np.asarray(trajectory.aux) > LOAD).astype(float)

    def held(rows: Array) -> Array:
        return np.concatenate([rows, rows[-1:]])

    return ReferenceTrajectory(
        path.name, path.period, trajectory.states[:, :19], trajectory.states[:, 19:],
        held(trajectory.inputs), held(contacts), gains=held(gains),
    )  # fmt: skip
