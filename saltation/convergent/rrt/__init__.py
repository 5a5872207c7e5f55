"""Rapidly-exploring random trees on a hill, compiled: what T-OPT is compared with (2.3.5)."""

from saltation.convergent.rrt.options import RrtOptions, RrtStarOptions
from saltation.convergent.rrt.planners import plan_rrt, plan_rrt_star

__all__ = ["RrtOptions", "RrtStarOptions", "plan_rrt", "plan_rrt_star"]
