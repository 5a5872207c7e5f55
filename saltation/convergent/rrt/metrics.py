"""D_a and D_m of a step on a hill, compiled from the power controller's own formulas."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from saltation.convergent import power_controller
from saltation.kernels import kernel

CONVERGENCES = ("none", "average", "maximum")  # by the number that kernels know them by

for called in ("turning", "without_turning", "mean_and_spread", "jacobian", "divergence_metrics"):
    register_jitable(getattr(power_controller, called))


@kernel
def divergence(h, v_x, v_y, p):
    """(D_a, D_m) [1 per unit of time] of going with velocity v where the hill is h, (2.9).

    h is the six of HillDerivatives. Where the ground is level the gradient gives no direction
    and both are not a number, which keeps no constraint.
    """
    xx, xy, yx, yy = power_controller.jacobian(h[1], h[2], h[3], h[4], h[5], v_x, v_y, p)
    return power_controller.divergence_metrics(xx, xy, yx, yy)


@kernel
def keeps(convergence, average, maximum):
    """Whether D_a or D_m is below zero where the problem asks for it, (2.22), (2.23)."""
    if convergence == 0:
        return True
    return maximum < 0.0 if convergence == 2 else average < 0.0


@kernel
def scaled(h, bias, unit_alpha, average, p):
    """e^(b D_a), by which a length is scaled, from the D_a of a robot of unit speed.

    With ``unit_alpha`` 1.0 the robot's D_a is taken at alpha = 1, where it goes with
    ||grad h||^(1 - p); with 0.0 it is taken at unit speed.
    """
    speed = (h[1] * h[1] + h[2] * h[2]) ** (0.5 * (1.0 - p) * unit_alpha)
    return np.exp(bias * speed * average)
