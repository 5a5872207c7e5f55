"""Rapidly-exploring random trees on a hill, compiled: what T-OPT is compared with (2.3.5)."""

from saltation.convergent.rrt.options import RrtOptions as RrtOptions
from saltation.convergent.rrt.options import RrtStarOptions as RrtStarOptions
from saltation.convergent.rrt.planners import plan_rrt as plan_rrt
from saltation.convergent.rrt.planners import plan_rrt_star as plan_rrt_star
