"""Derivatives of functions by complex step or, where that fails, by central differences.

A complex step has no cancellation and is exact to rounding, but it is wrong where a function drops
the imaginary part (``abs``, ``norm``, ``max``). So it is compared with a central difference along
one direction; if they disagree, central differences are used.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numba.core.errors import NumbaError

from saltation.arrays import Array, Shape

# Of functions that take real numbers only, in Python and compiled.
_REAL_ONLY = (
    TypeError, ValueError, FloatingPointError, np.exceptions.ComplexWarning, NumbaError
)  # fmt: skip
_COMPLEX_STEP = 1e-30
_STEP = np.finfo(np.float64).eps ** (1 / 3)  # of a central difference: least total error
_AGREEMENT = 1e-5  # relative, between complex step and central difference
_ROUNDING = 8 * np.finfo(np.float64).eps


def jacobian(function: Callable[[Array], Array], x: Array) -> Array:
    """Derivative of a function of x (n,): (p, n) if it returns (p,), (n,) if it returns a number.

    Accurate to rounding if the function accepts complex numbers and is analytic, else to about
    1e-10 of its scale. NaN if the function is not finite at x.
    """
    x = np.asarray(x, float)
    shape = np.shape(function(x.copy()))
    if not len(x):
        return np.zeros((*shape, 0))
    exact, size = _complex_step(function, x, shape), np.abs(x)
    steps = np.maximum(1.0, size), np.where(size > 0.0, size, 1.0)  # of any units
    if exact is not None and any(_agrees(function, x, exact, step) for step in steps):
        return exact
    return _central(function, x)


def _complex_step(function: Callable, x: Array, shape: Shape) -> Array | None:
    columns = []
    for i in range(len(x)):
        y = x.astype(np.complex128)
        y[i] += 1j * _COMPLEX_STEP
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                value = np.asarray(function(y))
        except _REAL_ONLY:
            return None
        if value.shape != shape or not np.iscomplexobj(value):
            return None
        columns.append(np.imag(value) / _COMPLEX_STEP)
    return np.stack(columns, -1)


def _agrees(function: Callable, x: Array, exact: Array, size: Array) -> bool:
    direction = np.cos(np.arange(1.0, len(x) + 1.0))  # no simple ratios, so that nothing cancels
    step = _STEP * size * direction
    ahead, behind = np.asarray(function(x + step)), np.asarray(function(x - step))
    error = np.abs(0.5 * (ahead - behind) - exact @ step)
    tolerance = _AGREEMENT * (_STEP + np.abs(exact) @ np.abs(step)) + _ROUNDING * np.abs(ahead)
    return bool(np.all(error <= tolerance))


def _central(function: Callable, x: Array) -> Array:
    columns = []
    for i in range(len(x)):
        h = _STEP * max(1.0, abs(x[i]))
        ahead, behind = x.copy(), x.copy()
        ahead[i] += h
        behind[i] -= h
        difference = np.asarray(function(ahead)) - np.asarray(function(behind))
        columns.append(difference / (ahead[i] - behind[i]))
    return np.stack(columns, -1).astype(np.float64)
