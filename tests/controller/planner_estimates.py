"""Estimates from which a planner by rollouts plans in tests."""

import numpy as np

from controller.rollout_planner import RolloutPlanner
from runtime.messages import StateEstimate


def estimate(planner: RolloutPlanner, knot: int, sideways: float = 0.0) -> StateEstimate:
    """A robot on the reference at a knot, with a velocity to the left beside [m/s]."""
    window = planner.reference.window(knot, 0)
    v = window.v[0].copy()
    v[1] += sideways
    return StateEstimate(
        tick=10 * knot, time=0.01 * knot, q=window.q[0], v=v, contact=np.ones(4), status="ok"
    )
