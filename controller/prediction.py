"""Where the robot will be when a plan is ready: the present plan, followed a little further."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from controller.a1_model import RolloutBackend
from hybrid.hilqr import Trajectory
from robots.a1.constants import TORQUE_LIMIT
from robots.state import difference

Array = NDArray[np.float64]


def predict(
    backend: RolloutBackend,
    x0: Array,
    trajectory: Trajectory,
    gains: Array,
    begin: float,
    until: float,
    period: float,
) -> Array:
    """State after following a policy from one instant to another.

    Args:
        backend: the physics.
        x0: state [q, v] at `begin` (37,).
        trajectory, gains: the policy that the tracker follows meanwhile.
        begin, until: instants in knots of the trajectory; not whole numbers in general.
        period: time between knots [s].

    Returns:
        x (37,) at `until`; x0 itself when the physics diverges.
    """
    x, now, last = x0, begin, len(gains) - 1
    while until - now > 1e-6:
        stop = min(until, np.floor(now + 1e-6) + 1.0)
        k = int(np.clip(np.floor(now + 1e-6), 0, last))
        nominal = trajectory.states[k] if now - k < 0.5 else trajectory.states[k + 1]
        dx = difference(nominal[:19], nominal[19:], x[:19], x[19:])
        torque = trajectory.inputs[k] + gains[k] @ dx
        torque = np.clip(torque, -TORQUE_LIMIT, TORQUE_LIMIT)
        x = backend.advance(x, torque, (stop - now) * period)
        now = stop
    return x if np.isfinite(x).all() else x0
