"""Hybrid iLQR: trajectory optimisation through hybrid transitions (thesis chapters 5 and 6)."""

from hybrid.hilqr.bounds import Box, InputBounds
from hybrid.hilqr.constrained import (
    ConstrainedHilqr,
    ConstrainedSolution,
    ConstrainedStatus,
    ConstraintOptions,
)
from hybrid.hilqr.constraints import (
    ConstrainedModel,
    Constraints,
    JoinedConstraints,
    Violation,
)
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
