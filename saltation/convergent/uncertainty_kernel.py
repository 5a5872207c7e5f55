"""Kernel of the evaluation: points on a hill that all obey the commands of one nominal robot.

Arrays are written by loops: numba takes seconds to compile an array assignment.
"""

from __future__ import annotations

import math

from saltation.convergent import power_controller
from saltation.kernels import kernel

turning = kernel(power_controller.turning)


@kernel
def command(hill, x, y, v_x, v_y):
    """(c, s) of M and ||grad h||^2 at the nominal (x, y), which goes with velocity v [m/s]."""
    _, h_x, h_y, _, _, _ = hill(x, y)
    c, s = turning(h_x, h_y, v_x, v_y)
    return c, s, h_x * h_x + h_y * h_y


@kernel
def felt(hill, commanded, p, x, y):
    """f of (2.6) at (x, y) [m/s] with the theta and alpha that were chosen at the nominal.

    With alpha R(theta) = M ||grad h_nominal||^p it is M grad h (||grad h_nominal|| / ||grad h||)^p,
    which needs neither angle.
    """
    c, s, square = commanded
    _, h_x, h_y, _, _, _ = hill(x, y)
    scale = (square / (h_x * h_x + h_y * h_y)) ** (0.5 * p)
    return scale * (c * h_x - s * h_y), scale * (s * h_x + c * h_y)


@kernel
def runge_kutta(hill, start, middle, end, p, tau, x, y):
    """(x, y) after a step of tau [s] of the classical method of order four.

    The commands are those of the nominal at the ``start``, ``middle`` and ``end`` of the step.
    """
    a_x, a_y = felt(hill, start, p, x, y)
    b_x, b_y = felt(hill, middle, p, x + 0.5 * tau * a_x, y + 0.5 * tau * a_y)
    c_x, c_y = felt(hill, middle, p, x + 0.5 * tau * b_x, y + 0.5 * tau * b_y)
    d_x, d_y = felt(hill, end, p, x + tau * c_x, y + tau * c_y)
    x += tau / 6.0 * (a_x + 2.0 * (b_x + c_x) + d_x)
    y += tau / 6.0 * (a_y + 2.0 * (b_y + c_y) + d_y)
    return x, y


@kernel
def flow(hill, positions, powers, paths, longest, fine):
    """Move points along a path; ``paths`` (N, n, 2) has their start, and is filled.

    A step of the path, straight and of one unit of time, is integrated in ``fine`` times as many
    steps as it takes for none to be longer than ``longest`` [m].
    """
    for i in range(len(powers)):
        v_x, v_y = positions[i + 1, 0] - positions[i, 0], positions[i + 1, 1] - positions[i, 1]
        steps = fine * max(1, math.ceil(math.hypot(v_x, v_y) / longest))
        for j in range(paths.shape[1]):
            paths[i + 1, j, 0], paths[i + 1, j, 1] = paths[i, j, 0], paths[i, j, 1]
        x, y = positions[i, 0], positions[i, 1]
        end = command(hill, x, y, v_x, v_y)
        for k in range(steps):
            t = (k + 0.5) / steps
            start, middle = end, command(hill, x + t * v_x, y + t * v_y, v_x, v_y)
            t = (k + 1.0) / steps
            end = command(hill, x + t * v_x, y + t * v_y, v_x, v_y)
            for j in range(paths.shape[1]):
                paths[i + 1, j, 0], paths[i + 1, j, 1] = runge_kutta(
                    hill, start, middle, end, powers[i], 1.0 / steps,
                    paths[i + 1, j, 0], paths[i + 1, j, 1],
                )  # fmt: skip
