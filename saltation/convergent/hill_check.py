"""Whether the derivatives of a hill are those of its height, at a few places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saltation.derivatives import jacobian
from saltation.systems import Array

Derivatives = Callable[[Any, Any], Any]  # (x, y) -> h, h_x, h_y, h_xx, h_xy, h_yy

_PLACES = 5
_TOLERANCE = 1e-4  # relative: what is looked for is a wrong sign, factor or term
_NAMES = (("h_x", "h_y"), ("h_xx", "h_xy"), ("h_xy", "h_yy"))  # of h, h_x and h_y, by the axis


def mistake(derivatives: Derivatives, low: Array, high: Array) -> str:
    """Mistake in a hill's derivatives on the map from low to high (2,); "" without one.

    A term that matters only between the places is not found.
    """
    # Irrational shares: where a formula is singular or symmetric is mostly elsewhere.
    shares = np.mod(np.arange(1, _PLACES + 1)[:, None] * [0.7548776662, 0.5698402910], 1.0)
    shares, sides = 0.05 + 0.9 * shares, high - low

    def six(share: Array) -> Array:
        return _six(derivatives, low + share * sides)

    try:
        with np.errstate(all="ignore"):
            at = np.array([six(share) for share in shares])
            slopes = [jacobian(lambda part: six(part)[:3], share) for share in shares]
    except ValueError as error:
        return str(error)
    units = np.outer([1.0, *sides], sides)  # in which all of them are heights
    given = at[:, [[1, 2], [3, 4], [4, 5]]] * units
    found = np.array(slopes) * units[:, :1] / sides[0]
    sizes = np.max(np.abs(given), (0, 2)) + 1e-6 * np.max(np.abs(at[:, 0]))
    sizes[1:] = np.max(sizes)
    off = np.abs(found - given) / np.maximum(sizes, np.finfo(float).tiny)[:, None]
    for first, last in ((0, 1), (1, 3)):  # a wrong gradient makes the Hessian seem wrong
        k, of, axis = np.unravel_index(np.argmax(off[:, first:last]), (_PLACES, last - first, 2))
        entry = k, first + of, axis
        if not off[entry] <= _TOLERANCE:
            value, slope = (each[entry] / units[entry[1:]] for each in (given, found))
            place, what = _words(low + shares[k] * sides), ("h", "h_x", "h_y")[entry[1]]
            said = f"{_NAMES[entry[1]][axis]} is {value:.4g} at ({place})"
            return f"{said}, where differences of {what} give {slope:.4g}"
    return ""


def _six(derivatives: Derivatives, place: Array) -> Array:
    """The numbers at a place.

    Raises:
        ValueError: they are not six finite numbers.
    """
    try:
        given = derivatives(*place.tolist())
    except Exception as error:  # a person's function may raise anything
        raise ValueError(f"derivatives({_words(place)}) raised {error!r}") from error
    try:
        six = np.array(given) * 1.0
    except (TypeError, ValueError):
        six = np.zeros(0)
    if six.shape != (6,) or not np.all(np.isfinite(six)):
        raise ValueError(f"derivatives({_words(place)}) must give six numbers, not {given}")
    return six


def _words(place: Array) -> str:
    return f"{place[0]:.3g}, {place[1]:.3g}"
