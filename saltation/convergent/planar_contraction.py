"""Contraction of the power controller in closed form, (2.7)-(2.12), with the thesis's letters.

G = grad h / ||grad h||^p is the controller without its turning, f = R(theta) G with alpha = 1. Its
Jacobian's symmetric part has the eigenvalues (e cos theta + g sin theta -+ d) / 2: turning changes
the mean, but never the spread d.

There are headings that converge where

    (h_xx h_yy - h_xy^2) (p - 1) < 0,                                                       (2.15)

for d^2 - (e^2 + g^2) = -4 det D_G and det D_G = (1 - p) det H / ||grad h||^(2 p). The print has
errors: docs/errata.md.

All functions take numbers, arrays and CasADi expressions alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from saltation.convergent.hill import HillDerivatives
from saltation.convergent.power_controller import without_turning


class GradientJacobian(NamedTuple):
    """D_G, the Jacobian of G of (2.7): entry x_y is dG_x/dy [1/s where alpha is a speed]."""

    x_x: Any
    x_y: Any
    y_x: Any
    y_y: Any


class HeadingTerms(NamedTuple):
    """d of (2.11), e and g of (2.12)."""

    d: Any
    e: Any
    g: Any


def gradient_jacobian(at: HillDerivatives, p: Any) -> GradientJacobian:
    """D_G = (I - p n n^T) H / ||grad h||^p with n = grad h / ||grad h||; no number at a flat spot.

    By the product rule: D(grad h) = H, and D ||grad h||^-p = -p ||grad h||^-p n^T H / ||grad h||.
    """
    scale = (at.h_x * at.h_x + at.h_y * at.h_y) ** (-0.5 * p)
    return GradientJacobian(*(scale * entry for entry in without_turning(*at[1:], p)))


def heading_terms(D_G: GradientJacobian) -> HeadingTerms:
    """(d, e, g) of (2.11)-(2.12).

    d = sqrt((dG_x/dx - dG_y/dy)^2 + (dG_x/dy + dG_y/dx)^2); multiplied out that is (2.11).
    """
    stretch, shear = D_G.x_x - D_G.y_y, D_G.x_y + D_G.y_x
    d = (stretch * stretch + shear * shear) ** 0.5
    return HeadingTerms(d, D_G.x_x + D_G.y_y, D_G.x_y - D_G.y_x)


def largest_eigenvalue(terms: HeadingTerms, theta: Any) -> Any:
    """lambda_max = (e cos theta + g sin theta + d) / 2, (2.10)."""
    return 0.5 * (terms.e * np.cos(theta) + terms.g * np.sin(theta) + terms.d)


def gaussian_curvature(at: HillDerivatives) -> Any:
    """K = (h_xx h_yy - h_xy^2) / (1 + h_x^2 + h_y^2)^2, (2.16) [1/m^2]."""
    return (at.h_xx * at.h_yy - at.h_xy * at.h_xy) / (1.0 + at.h_x**2 + at.h_y**2) ** 2
