"""What `saltus bench rollouts` rolls out: the line search of a walk, with any batch size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from controller.hilqr_planner import gains_along
from controller.planner_options import PlannerOptions
from controller.references import make_reference
from controller.rigid_derivatives import RigidDerivatives
from controller.robot_model import RobotModel
from controller.rollout_planner import reference_policy
from hybrid.hilqr import Policies
from robots.robot import load_robot
from robots.state import Array, integrate
from sim_bridge.rollouts.threaded import ThreadedRollout
from studies.a1.systems.planner_cases import SPEED, SPREAD

TORQUE = 1.0  # standard deviation of the step of the torques [N m]


class Horizon(NamedTuple):
    """Over what is rolled out."""

    knots: int
    period: float  # [s]
    substeps: int


class Problem(NamedTuple):
    """A start and the policy from there on, which any number of candidates may take up."""

    horizon: Horizon
    x0: Array  # (37,)
    policy: Policies

    def policies(self, candidates: int) -> Policies:
        """As in the planner's line search, steps of the policy from 0 to 1."""
        return Policies.of(
            self.policy.states[0], self.policy.inputs[0], self.policy.gains[0],
            self.policy.feedforward[0], np.linspace(0.0, 1.0, candidates).tolist(),
        )  # fmt: skip


def walking_problem(seed: int = 0) -> Problem:
    """The default planner's horizon from a walking state, a little pushed.

    The policy is the reference's with its gains. The step is drawn at random: how long a rollout
    takes does not depend on how good it is.
    """
    options = PlannerOptions()
    horizon = Horizon(options.knots, options.period, options.search.substeps)
    robot = load_robot("a1")
    rigid = RigidDerivatives(robot, options.period)
    model = RobotModel(robot, ThreadedRollout(robot, *horizon, 1), rigid, options.cost)
    reference = make_reference(robot, "walk", SPEED, options.period).prepare(
        lambda each: gains_along(each, model, options.knots)
    )
    window = reference.window(reference.size - reference.loop, options.knots)
    rng = np.random.default_rng(seed)
    q, v = integrate(window.q[0], window.v[0], SPREAD * rng.normal(size=36))
    followed = reference_policy(window)
    step = TORQUE * rng.normal(size=window.inputs.shape)
    policy = Policies.of(followed.states[0], followed.inputs[0], followed.gains[0], step)
    return Problem(horizon, np.concatenate([q, v]), policy)
