"""The power controller on a hill, (2.6): it feels the gradient, turns from it, and scales it.

    f(x, y, theta, p) = alpha R(theta) grad h / ||grad h||^p

A robot that is to go with velocity v at a place x chooses theta and alpha so that f = v there; a
robot that believes to be there but is not goes with the same theta and alpha on the gradient that
it feels. What that does to the difference of the two is the Jacobian of f at fixed theta and
alpha, in which no power of ||grad h|| is left:

    D f = M (I - p n n^T) H,   n = grad h / ||grad h||,   M grad h = v

with the Hessian H and the turning and scaling matrix M = [[c, -s], [s, c]].
"""

from __future__ import annotations

from typing import Any

import numpy as np


def turning(h_x: Any, h_y: Any, v_x: Any, v_y: Any) -> tuple[Any, Any]:
    """(c, s) of the matrix M = [[c, -s], [s, c]] that takes grad h to the velocity v [m/s]."""
    square = h_x * h_x + h_y * h_y
    return (h_x * v_x + h_y * v_y) / square, (h_x * v_y - h_y * v_x) / square


def velocity(h_x: Any, h_y: Any, theta: Any, alpha: Any, p: Any) -> tuple[Any, Any]:
    """f of (2.6), (x, y) [m/s], where the gradient felt is (h_x, h_y)."""
    scale = alpha * (h_x * h_x + h_y * h_y) ** (-0.5 * p)
    c, s = scale * np.cos(theta), scale * np.sin(theta)
    return c * h_x - s * h_y, s * h_x + c * h_y


def heading(h_x: Any, h_y: Any, v_x: Any, v_y: Any, p: Any) -> tuple[Any, Any]:
    """(theta [rad], alpha) with which the controller goes with velocity v, the inverse of (2.6)."""
    c, s = turning(h_x, h_y, v_x, v_y)
    square = h_x * h_x + h_y * h_y
    return np.arctan2(s, c), (c * c + s * s) ** 0.5 * square ** (0.5 * p)


def jacobian(
    h_x: Any, h_y: Any, h_xx: Any, h_xy: Any, h_yy: Any, v_x: Any, v_y: Any, p: Any
) -> tuple[Any, Any, Any, Any]:
    """D f = M (I - p n n^T) H by rows (xx, xy, yx, yy) [1/s], where f = v."""
    c, s = turning(h_x, h_y, v_x, v_y)
    xx, xy, yx, yy = without_turning(h_x, h_y, h_xx, h_xy, h_yy, p)
    return c * xx - s * yx, c * xy - s * yy, s * xx + c * yx, s * xy + c * yy


def without_turning(
    h_x: Any, h_y: Any, h_xx: Any, h_xy: Any, h_yy: Any, p: Any
) -> tuple[Any, Any, Any, Any]:
    """(I - p n n^T) H by rows (xx, xy, yx, yy) [1/m]."""
    square = h_x * h_x + h_y * h_y
    along_x = p * (h_x * h_xx + h_y * h_xy) / square  # p n^T H / ||grad h||
    along_y = p * (h_x * h_xy + h_y * h_yy) / square
    xx, xy = h_xx - h_x * along_x, h_xy - h_x * along_y
    return xx, xy, h_xy - h_y * along_x, h_yy - h_y * along_y


def mean_and_spread(xx: Any, xy: Any, yx: Any, yy: Any) -> tuple[Any, Any]:
    """(D_a, (D_m - D_a)^2) of a planar Jacobian by rows; both are smooth, and D_m is not."""
    return 0.5 * (xx + yy), 0.25 * ((xx - yy) ** 2 + (xy + yx) ** 2)


def divergence_metrics(xx: Any, xy: Any, yx: Any, yy: Any) -> tuple[Any, Any]:
    """(D_a, D_m) of a planar Jacobian by rows: mean and largest eigenvalue of F, (2.9)."""
    average, spread = mean_and_spread(xx, xy, yx, yy)
    return average, average + spread**0.5
