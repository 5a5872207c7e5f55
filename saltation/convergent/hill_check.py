"""Whether the derivatives of a hill are those of its height, by differences at a few places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saltation.systems import Array

Derivatives = Callable[[Any, Any], Any]  # (x, y) -> h, h_x, h_y, h_xx, h_xy, h_yy

_PLACES = 5
_STEPS = 10.0 ** -np.arange(2.0, 10.0)  # of the differences, in sides of the map; the best counts
_TOLERANCE = 1e-4  # relative: what is looked for is a wrong sign, factor or term
_NAMES = (("h_x", "h_xx", "h_xy"), ("h_y", "h_xy", "h_yy"))  # by the axis, of h, h_x and h_y


def mistake(derivatives: Derivatives, low: Array, high: Array) -> str:
    """What is wrong with a hill's derivatives on the map from low to high (2,); "" if nothing.

    A term that matters only between the places is not found.
    """
    sides = high - low
    # Irrational shares: where a formula is singular or symmetric is mostly elsewhere.
    shares = np.mod(np.arange(1, _PLACES + 1)[:, None] * [0.7548776662, 0.5698402910], 1.0)
    places = low + (0.05 + 0.9 * shares) * sides
    try:
        with np.errstate(all="ignore"):
            at = np.array([_six(derivatives, place) for place in places])
            slopes = np.array([_slopes(derivatives, place, sides) for place in places])
    except ValueError as error:
        return str(error)
    return _worst(places, at, slopes, sides)


def _worst(places: Array, at: Array, slopes: Array, sides: Array) -> str:
    """The derivative that is farthest from its differences, if it is too far."""
    units = sides[:, None] * [1.0, *sides]  # of _NAMES, by which slopes are in sides of the map
    given = units * np.stack((at[:, [1, 3, 4]], at[:, [2, 4, 5]]), axis=1)
    first = np.max(np.abs(given[..., 0])) + 1e-6 * np.max(np.abs(at[:, 0]))
    second = np.max(np.abs(given[..., 1:])) + first
    scale = np.maximum([first, second, second], np.finfo(float).tiny)  # zero on level ground
    apart = np.abs(units * slopes - given[:, None]) / scale
    for orders in (slice(0, 1), slice(1, 3)):  # a wrong gradient makes the Hessian seem wrong
        off = np.min(apart, axis=1)[..., orders]
        k, axis, of = np.unravel_index(np.argmax(off), off.shape)
        if off[k, axis, of] > _TOLERANCE:
            of += orders.start
            slope = slopes[k, np.argmin(apart[k, :, axis, of]), axis, of]
            said = f"{_NAMES[axis][of]} is {(given / units)[k, axis, of]:.4g} at"
            what = ("h", "h_x", "h_y")[of]
            return f"{said} ({_words(places[k])}), where differences of {what} give {slope:.4g}"
    return ""


def _six(derivatives: Derivatives, place: Array) -> Array:
    """The numbers at a place, as floats.

    Raises:
        ValueError: they are not six finite numbers.
    """
    try:
        given = derivatives(float(place[0]), float(place[1]))
    except Exception as error:  # a person's function may raise anything
        raise ValueError(f"derivatives({_words(place)}) raised {error!r}") from error
    try:
        six = np.array(given, float)
    except (TypeError, ValueError):
        six = np.zeros(0)
    if six.shape != (6,) or not np.all(np.isfinite(six)):
        raise ValueError(f"derivatives({_words(place)}) must give six numbers, not {given}")
    return six


def _slopes(derivatives: Derivatives, place: Array, sides: Array) -> Array:
    """Central differences (steps, axis, 3) of h, h_x and h_y."""
    slopes = np.empty((len(_STEPS), 2, 3))
    for i, share in enumerate(_STEPS):
        for axis in range(2):
            step = np.zeros(2)
            step[axis] = share * sides[axis]
            rise = _six(derivatives, place + step) - _six(derivatives, place - step)
            slopes[i, axis] = rise[:3] / (2.0 * step[axis])
    return slopes


def _words(place: Array) -> str:
    return f"{place[0]:.3g}, {place[1]:.3g}"
