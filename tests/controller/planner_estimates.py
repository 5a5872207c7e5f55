"""Estimates from which a planner by rollouts plans in tests."""

from tests import a1


def estimate(planner, knot, sideways=0.0):
    """A robot on the reference at a knot, with a velocity to the left beside [m/s]."""
    window = planner.reference.window(knot, 0)
    v = window.v[0].copy()
    v[1] += sideways
    return a1.estimate(10 * knot, q=window.q[0], v=v)
