"""Hybrid iLQR: trajectory optimisation through hybrid transitions (thesis chapters 5 and 6)."""

from saltation.hilqr.bounds import Box, InputBounds
from saltation.hilqr.constrained import (
    ConstrainedHilqr,
    ConstrainedSolution,
    ConstrainedStatus,
    ConstraintOptions,
)
from saltation.hilqr.constraints import (
    ConstrainedModel,
    Constraints,
    JoinedConstraints,
    Violation,
)
from saltation.hilqr.options import HilqrOptions, Regularisation, RegularisationOptions
from saltation.hilqr.riccati import Backward, backward_pass, compose
from saltation.hilqr.solver import Hilqr, Iteration, Solution
from saltation.hilqr.types import (
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
    "Box",
    "ConstrainedHilqr",
    "ConstrainedModel",
    "ConstrainedSolution",
    "ConstrainedStatus",
    "ConstraintOptions",
    "Constraints",
    "CostExpansion",
    "Drift",
    "Hilqr",
    "HilqrOptions",
    "InputBounds",
    "Iteration",
    "JoinedConstraints",
    "Jump",
    "Linearisation",
    "Model",
    "Policies",
    "Regularisation",
    "RegularisationOptions",
    "Rollouts",
    "Solution",
    "Trajectory",
    "Violation",
    "backward_pass",
    "compose",
]
