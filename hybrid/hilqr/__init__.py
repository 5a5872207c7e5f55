"""Hybrid iLQR: trajectory optimisation through hybrid transitions (thesis chapters 5 and 6)."""

from hybrid.hilqr.options import HilqrOptions, Regularisation, RegularisationOptions
from hybrid.hilqr.riccati import Backward, backward_pass, compose
from hybrid.hilqr.solver import Hilqr, Iteration, Solution
from hybrid.hilqr.types import (
    CostExpansion,
    Drift,
    Jump,
    Linearisation,
    Model,
    Policies,
    Rollouts,
    Trajectory,
)

__all__ = [
    "Backward",
    "CostExpansion",
    "Drift",
    "Hilqr",
    "HilqrOptions",
    "Iteration",
    "Linearisation",
    "Model",
    "Policies",
    "Regularisation",
    "RegularisationOptions",
    "Rollouts",
    "Solution",
    "Trajectory",
    "Jump",
    "backward_pass",
    "compose",
]
