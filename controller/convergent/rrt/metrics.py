"""D_a and D_m of a step on a hill, compiled from the power controller's own formulas."""

from __future__ import annotations

from typing import Any

from numba import cfunc, float64, njit, types
from numba.extending import register_jitable

from controller.convergent import power_controller
from controller.convergent.hill import Hill
from hybrid.compiled.native import native

DERIVATIVES = types.UniTuple(float64, 6)(float64, float64)
CONVERGENCES = ("none", "average", "maximum")  # by the number that kernels know them by

register_jitable(power_controller.turning)  # which the Jacobian calls
_jacobian = njit(cache=True, error_model="numpy")(power_controller.jacobian)
_divergence_metrics = njit(cache=True, error_model="numpy")(power_controller.divergence_metrics)


def compiled_derivatives(hill: Hill) -> Any:
    """The hill's derivatives with one type for all hills, so that kernels compile once.

    Raises:
        ValueError: they are not what numba compiles.
    """
    known = getattr(hill, "_compiled", None)
    if known is None:
        try:
            known = native(cfunc, hill.derivatives, DERIVATIVES)
        except Exception as error:  # numba has no one error for what it cannot do
            reason = " ".join(str(error).split())[:200]
            raise ValueError(
                f"hill {hill.name}: the trees take derivatives that numba compiles"
                f" from two floats to six: {reason}"
            ) from error
        object.__setattr__(hill, "_compiled", known)
    return known


@njit(cache=True, error_model="numpy")
def divergence(h, v_x, v_y, p):
    """(D_a, D_m) [1 per unit of time] of going with velocity v where the hill is h, (2.9).

    h is the six of HillDerivatives. Where the ground is level the gradient gives no direction
    and both are not a number, which keeps no constraint.
    """
    a, b_xy, b_yx, d = _jacobian(h[1], h[2], h[3], h[4], h[5], v_x, v_y, p)
    return _divergence_metrics(a, b_xy, b_yx, d)


@njit(cache=True, error_model="numpy")
def keeps(convergence, average, maximum):
    """Whether D_a or D_m is below zero where the problem asks for it, (2.22), (2.23)."""
    if convergence == 0:
        return True
    return maximum < 0.0 if convergence == 2 else average < 0.0
