"""The gain schedule of a reference, precomputed (6.4.2)."""

from __future__ import annotations

import numpy as np

from controller.references.trajectory import ReferenceTrajectory
from controller.robot_model import RobotModel
from hybrid.hilqr import Trajectory, backward_pass
from robots.rotations import Array

LOAD = 30.0  # a normal force that stands for "in contact" when none was simulated [N]
DAMPING = 1e-6  # on the input Hessian, far below any input weight


def gains_along(reference: ReferenceTrajectory, model: RobotModel, horizon: int) -> Array:
    """The gains (K, 12, 36) along a reference, of one long backward pass over it.

    The recursion starts `horizon` knots and one loop beyond the last sample, far enough for the
    looped part's gains to have settled. Where it fails, the gains stay zero.

    Args:
        reference: samples that repeat; model: gives dynamics and cost.
        horizon: knots beyond the end at which the recursion starts.
    """
    window = reference.window(0, reference.size + reference.loop + horizon)
    model.track(window)
    states = np.hstack([window.q, window.v])
    trajectory = Trajectory(states, window.inputs, 0.0, LOAD * window.contacts[:-1])
    linear, cost = model.linearise(trajectory), model.quadratise(trajectory)
    result = backward_pass(linear, cost, 0.0, DAMPING)
    if not result.ok:
        return np.zeros((reference.size, 12, 36))
    return result.gains[: reference.size].copy()
