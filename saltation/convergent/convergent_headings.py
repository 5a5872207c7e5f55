"""The headings in which the power controller converges, and the powers with which it does best.

With r = sqrt(e^2 + g^2) and phi = atan2(g, e), (2.10) is lambda_max = (r cos(theta - phi) + d) / 2.
So phi is the worst heading, phi + pi the best, for D_a and D_m alike, and D_m < 0 holds between
the two zeros theta = phi +- arccos(-d / r) about phi + pi, (2.13). The print has errors:
docs/errata.md.

Since r^2 - d^2 = 4 det D_G = 4 (1 - p) det H / ||grad h||^(2 p), such headings exist if and only if
sign K = sign(1 - p): the converse of Lemma 2 is true as well. Everything here is for a robot that
goes with 1 m/s whatever p; it grows with the speed. Then, with A = (I - p n n^T) H and its singular
values s_1 >= s_2, the best heading has

    D_m = -sign(det A) s_2 / ||grad h||,    D_a = -r / 2 = -(s_1 +- s_2) / (2 ||grad h||),

with + where det A > 0. Over p in [0, 2] both are best at p = 0 where K > 0, at p = 2 where K < 0.
A is then H but for a reflection, and with H's eigenvalues l_1, l_2 and one heading for both

    D_m = -min(|l_1|, |l_2|) / ||grad h||,    D_a = -(|l_1| + |l_2|) / (2 ||grad h||).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from saltation.convergent.hill import HillDerivatives
from saltation.convergent.planar_contraction import gradient_jacobian, heading_terms


class ConvergentHeadings(NamedTuple):
    """The best heading in a place and how far one may turn from it; NaN where the hill is flat.

    Numbers, or arrays where the place or the power is an array.
    """

    best: Any  # theta of (2.6), from the gradient, in (-pi, pi] [rad]
    course: Any  # the same in the world: the angle of the velocity, in (-pi, pi] [rad]
    half_width: Any  # D_m < 0 where |theta - best| is less [rad]; 0 where no heading converges
    average: Any  # D_a of the best heading [1/m]
    maximum: Any  # D_m of the best heading [1/m]


def convergent_headings(at: HillDerivatives, p: Any) -> ConvergentHeadings:
    """Best heading and the interval of headings with D_m < 0, (2.13), at 1 m/s.

    Args:
        at: the hill's derivatives, numbers or arrays.
        p: power of the controller.
    """
    at = HillDerivatives(*(np.asarray(part, float) for part in at))
    square = at.h_x * at.h_x + at.h_y * at.h_y
    with np.errstate(divide="ignore", invalid="ignore"):
        unit_speed = square ** (0.5 * (p - 1.0))  # alpha with which ||f|| = 1
        d, e, g = (unit_speed * term for term in heading_terms(gradient_jacobian(at, p)))
        # r^2 - d^2 without the cancellation, so that its sign is right and 0 where p = 1
        difference = 4.0 * (1.0 - p) * (at.h_xx * at.h_yy - at.h_xy * at.h_xy) / square
    r = np.hypot(e, g)
    best = np.arctan2(-g, -e)
    course = _wrapped(best + np.arctan2(at.h_y, at.h_x))
    half_width = np.arctan2(np.sqrt(np.maximum(difference, 0.0)), d)
    total = np.where(r + d == 0.0, 1.0, r + d)  # a plane: the difference is 0 as well
    return ConvergentHeadings(best, course, half_width, -0.5 * r, -0.5 * difference / total)


def best_power(
    at: HillDerivatives, powers: tuple[float, float], metric: Literal["average", "maximum"]
) -> Any:
    """The power within (lowest, highest) whose best heading has the least D_a or D_m.

    It is always one of the two. D_a = -r / 2, and r is convex in p, the length of a vector that
    is affine in p. s_2 of A never falls while |1 - p| grows, for ||A x||^2 =
    (1 - p)^2 (n^T H x)^2 + (t^T H x)^2, with t across n; so D_m falls with p where K < 0 and rises
    where K > 0, through 0 at p = 1.
    """
    low, high = powers
    if metric == "maximum":
        return np.where(at.h_xx * at.h_yy > at.h_xy * at.h_xy, low, high)
    averages = [convergent_headings(at, p).average for p in powers]
    return np.where(averages[0] < averages[1], low, high)


def _wrapped(angle: Any) -> Any:
    return np.pi - np.mod(np.pi - angle, 2.0 * np.pi)
