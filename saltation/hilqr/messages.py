"""Messages of HiLQR's solutions: why a solve ended, where, and what to do."""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np

from saltation.hilqr.options import HilqrOptions
from saltation.hilqr.types import (
    Array,
    CostExpansion,
    Linearisation,
    Model,
    Policies,
    Rollouts,
    Trajectory,
)


def seed_message(model: Model, x0: Array, seed: Policies, rollouts: Rollouts) -> str:
    """The reason why no candidate of a seed is a trajectory to start from."""
    if not np.all(np.isfinite(x0)):
        return f"x0 = {x0} is not finite"
    for name in ("states", "inputs", "feedforward", "gains"):
        knot = _first_not_finite(getattr(seed, name)[0])
        if knot is not None:
            return f"the seed's {name} are not finite at knot {knot}: give finite numbers"
    first = rollouts.select(0)
    knot = _first_not_finite(first.states)
    what = f"cost is {first.cost:g}" if knot is None else f"states are not finite at knot {knot}"
    message = f"none of the seed's {seed.count} candidates is valid: the first one's {what}"
    return _with_description(message, model, first)


def stall_message(
    model: Model, trajectory: Trajectory, options: HilqrOptions, change: float
) -> str:
    """The reason why no damping helped, where the undamped backward pass expects a lower cost."""
    message = (
        f"no step size lowers the cost {trajectory.cost:.6g} with damping up to"
        f" {options.regularisation.maximum:g}, where dJ = {change:.3g} is expected"
    )
    if options.variant == "dxr":
        message += "; variant 'dxr' takes D_x R for the saltation matrix, 'xi' has the derivatives"
    return _with_description(message, model, trajectory)


def indefinite_message(linear: Linearisation, cost: CostExpansion, knot: int) -> str:
    """The reason why the backward pass broke off at a knot."""
    arrays = {"A": linear.A, "B": linear.B} | cost._asdict()
    for name, array in arrays.items():
        bad = _first_not_finite(array)
        if bad is not None:
            return f"{name} of the model is not finite at knot {bad}: check its derivatives there"
    return (
        f"the input Hessian Q_uu of knot {knot} is not positive definite: give the cost's l_uu"
        " there a larger positive part, or allow more damping"
    )


def unfinished_message(reason: str, change: float, tolerance: float) -> str:
    """A solve that ended before |dJ| was below the tolerance."""
    return f"{reason}, at |dJ| = {abs(change):.3g}, above the tolerance {tolerance:g}: allow more"


def description(model: Model, trajectory: Trajectory) -> str:
    """What a model says of a trajectory; "" where it says nothing."""
    describe = getattr(model, "describe", None)  # optional: see ``Model``
    return describe(trajectory) if describe is not None else ""


def _with_description(message: str, model: Model, trajectory: Trajectory) -> str:
    return "; ".join(filter(None, (message, description(model, trajectory))))


def _first_not_finite(array: Array) -> int | None:
    """First row of an array (K, ...) that is not finite."""
    rows = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(1))
    return int(rows[0]) if len(rows) else None
