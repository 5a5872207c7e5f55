"""Estimates from which a planner by rollouts plans in tests."""

from controller.rollout_planner import RolloutPlanner
from runtime.messages import StateEstimate
from tests import a1


def estimate(planner: RolloutPlanner, knot: int, sideways: float = 0.0) -> StateEstimate:
    """A robot on the reference at a knot, with a velocity to the left beside [m/s]."""
    window = planner.reference.window(knot, 0)
    v = window.v[0].copy()
    v[1] += sideways
    return a1.estimate(10 * knot, q=window.q[0], v=v)
