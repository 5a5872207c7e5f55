"""What N. J. Kong's thesis has published about the same experiments: Tables 6.1 and 6.2."""

from typing import NamedTuple


class Published(NamedTuple):
    """One cell of a table of the thesis.

    Attributes:
        success: trials without a fall.
        trials: in all.
        deviation: average maximum lateral deviation [m]; None where it gives none.
        remark: what else it says.
    """

    success: int
    trials: int
    deviation: float | None = None
    remark: str = ""


_MEDIUM, _LARGE = 1.0, 1.5  # lateral velocity of a push [m/s]
# The table prints percentages of 8 trials, rounded: 88 % are 7 of 8.
_TABLE_6_1 = {
    ("hilqr", _MEDIUM): Published(8, 8),
    ("hilqr", _LARGE): Published(7, 8, 0.512),
    ("convex_mpc", _MEDIUM): Published(7, 8),
    ("convex_mpc", _LARGE): Published(4, 8, 1.032),
    ("instant_qp", _MEDIUM): Published(4, 8),
    ("instant_qp", _LARGE): Published(2, 8, 3.729),
}
_TABLE_6_2 = {
    "hilqr": Published(5, 5),
    "instant_qp": Published(0, 5, remark="40 % hit the ground and got up, 60 % uncontrolled"),
}
_DIFFERENCES = {
    "table-6.1": "Thesis figures are those of Table 6.1, 8 trials a cell, on its own simulator and "
    "model of the A1. It does not say whether its average deviation counts the trials that fell; "
    "here both means are given. A trial ends half a second after a fall, so that the mean over all "
    "trials counts a fallen robot only up to there.",
    "table-6.2": "Thesis figures are those of Table 6.2, 5 trials on the A1 itself; these are "
    "simulated, with the estimator in the loop. The thesis counts a robot that hit the ground and "
    "got up as no success; here a trial ends half a second after the body has touched the ground.",
}


def published(suite: str, planner: str, kind: str, magnitude: float) -> Published | None:
    """The thesis's figures for a cell of a suite, None where it has none.

    Args:
        suite: its name, such as ``table-6.1``.
        planner: which planner.
        kind: of the perturbation.
        magnitude: of the perturbation, [m/s] for a jump of velocity.
    """
    if suite == "table-6.1" and kind == "base_velocity":
        return _TABLE_6_1.get((planner, round(magnitude, 3)))
    if suite == "table-6.2" and kind == "motor_block":
        return _TABLE_6_2.get(planner)
    return None


def differences(suite: str) -> str | None:
    """How the thesis's experiment differs from the suite; None where it has no such experiment."""
    return _DIFFERENCES.get(suite)
