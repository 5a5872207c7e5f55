"""Derivatives of a body's functions by differences of sixth order, where they are left out.

Unlike ``hybrid.derivatives`` these take complex arguments and are analytic in them, so that flows
and guards that contain them can be differentiated by complex step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_WEIGHTS = ((1, 3.0 / 4.0), (2, -3.0 / 20.0), (3, 1.0 / 60.0))
_STEP = 3e-3  # rounding 1e-13, truncation h^6 / 140 of the seventh derivative


def directional(function: Callable[[Any], Any], q: Any, direction: Any) -> Any:
    """Derivative of a function of q (m,) along a direction (m,), of the function's shape."""
    h = _STEP / (float(np.max(np.abs(np.real(direction)))) or 1.0)
    total = 0.0
    for k, weight in _WEIGHTS:
        shift = (k * h) * direction
        total = total + weight * (function(q + shift) - function(q - shift))
    return total / h


def gradient(function: Callable[[Any], Any], q: Any) -> Any:
    """Derivative of a function of q (m,): the function's shape with an axis (m,) behind."""
    return np.stack([directional(function, q, e) for e in np.eye(len(q))], axis=-1)


def christoffel(mass: Callable[[Any], Any], q: Any, qd: Any) -> Any:
    """Coriolis matrix C(q, qd) (m, m) of a mass matrix, for which dM/dt - 2 C is skew."""
    slope = gradient(mass, q)  # dM_ij / dq_k
    slope_qd = np.einsum("ikj,k->ij", slope, qd)
    return 0.5 * (slope @ qd + slope_qd - slope_qd.T)
