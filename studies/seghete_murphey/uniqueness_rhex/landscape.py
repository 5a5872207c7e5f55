"""The measure s of a planar RHex over hip and knee angle, and where it is least and greatest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize

from hybrid.systems import Array
from studies.seghete_murphey.uniqueness_rhex.rhex import (
    RHex,
    configuration,
    joints,
    leg_pitch,
    measure,
    other_hip,
)

KNEES = (30.0, 120.0)  # of the contour [deg]
_STEP = 1e-3  # of differences for the curvature [rad]
_BEYOND = 170.0  # knee to which a zero of s is looked for [deg]


class Landscape(NamedTuple):
    """s over a grid; the right hip's angle goes round."""

    hips: Array  # (i,) [rad], a full turn without its end
    knees: Array  # (j,) [rad]
    s: Array  # (j, i)


class Extremum(NamedTuple):
    """A local extremum of s, found by optimisation."""

    kind: str  # "minimum" | "maximum"
    hip: float  # of the right leg [rad]
    knee: float  # [rad]
    s: float
    curvatures: tuple[float, float]  # eigenvalues of the Hessian, the smaller first [1/rad^2]


def landscape(
    rhex: RHex, hips: int, knees: int, report: Callable[[int, int, str], None]
) -> Landscape:
    """s on a grid of ``hips`` by ``knees`` angles, legs apart."""
    over = np.linspace(-np.pi, np.pi, hips, endpoint=False)
    up = np.radians(np.linspace(*KNEES, knees))
    s = np.empty((knees, hips))
    for j, knee in enumerate(up):
        report(j, knees, "s over hip and knee")
        s[j] = [measure(rhex, hip, knee) for hip in over]
    return Landscape(over, up, s)


def extrema(rhex: RHex, grid: Landscape) -> list[Extremum]:
    """Local extrema inside the grid, each refined from its best point of the grid."""
    points = []
    for kind, sign in (("minimum", 1.0), ("maximum", -1.0)):
        for hip, knee in _starts(grid, sign):
            end = minimize(
                lambda x, sign=sign: sign * measure(rhex, *x) / 1e-3,
                (hip, knee),
                method="Nelder-Mead",
                options={"initial_simplex": _simplex(hip, knee), "xatol": 1e-9, "fatol": 1e-15},
            )
            hip, knee = float(end.x[0]), float(end.x[1])
            points.append(
                Extremum(kind, hip, knee, measure(rhex, hip, knee), _curvatures(rhex, hip, knee))
            )
    return points


def named(rhex: RHex, points: list[Extremum]) -> dict[str, Extremum]:
    """A and B: minima with the body above its feet; C: a maximum, its right leg forward.

    The others are copies, by half a turn of both legs, and have a prime.
    """
    names: dict[str, Extremum] = {}
    for each in sorted(points, key=lambda e: leg_pitch(rhex, e.hip, e.knee)):
        pitch = wrapped(leg_pitch(rhex, each.hip, each.knee))
        letter = "C" if each.kind == "maximum" else ("A" if np.sin(2.0 * pitch) > 0.0 else "B")
        first = 0.0 < pitch if letter == "C" else abs(pitch) < 0.5 * np.pi
        names[letter if first else letter + "'"] = each
    return dict(sorted(names.items()))


def orthogonal(rhex: RHex) -> tuple[float, float]:
    """Hip and knee [rad] of a configuration with s = 0, beyond the contour's knees.

    Found along the leg pitch of 66 deg; the bracket is checked by the root finder.
    """
    pitch = np.radians(66.0)

    def s(knee: float) -> float:
        return measure(rhex, pitch - leg_pitch(rhex, 0.0, knee), knee)

    root: Any = brentq(s, *np.radians((KNEES[1], _BEYOND)), xtol=1e-15)
    knee = float(root)
    return float(pitch - leg_pitch(rhex, 0.0, knee)), knee


def pose(rhex: RHex, hip: float, knee: float) -> dict[str, Any]:
    """The stance in words of a table: angles [deg], and what lies under the ground [mm]."""
    at = joints(rhex, configuration(rhex, hip, knee))
    return {
        "hip_deg": float(np.degrees(wrapped(hip))),
        "knee_deg": float(np.degrees(knee)),
        "other_hip_deg": float(np.degrees(wrapped(other_hip(rhex, hip, knee)))),
        "leg_pitch_deg": float(np.degrees(wrapped(leg_pitch(rhex, hip, knee)))),
        "hip_height_mm": 1e3 * float(at[0, 0, 1]),
        "lowest_knee_mm": 1e3 * float(at[:, 1, 1].min()),
    }


def mirror_error(rhex: RHex, one: Extremum, other: Extremum) -> float:
    """How far ``one`` with its legs swapped is from ``other``, the larger of both angles [deg]."""
    hip = wrapped(other_hip(rhex, one.hip, one.knee) - other.hip)
    return float(np.degrees(max(abs(hip), abs(one.knee - other.knee))))


def wrapped(angle: float) -> float:
    """The angle within -pi to pi."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def _starts(grid: Landscape, sign: float) -> list[tuple[float, float]]:
    """Points of the grid, not on its border, that are below all eight neighbours."""
    s = sign * grid.s
    around = [
        np.roll(np.roll(s, j, axis=0), i, axis=1)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0)
    ]
    lower = np.all([s < each for each in around], axis=0)
    lower[[0, -1]] = False
    return [(float(grid.hips[i]), float(grid.knees[j])) for j, i in np.argwhere(lower)]


def _simplex(hip: float, knee: float) -> Array:
    return np.array([[hip, knee], [hip + 0.05, knee], [hip, knee + 0.05]])


def _curvatures(rhex: RHex, hip: float, knee: float) -> tuple[float, float]:
    """Eigenvalues of the Hessian of s by central differences."""
    offsets = (-_STEP, 0.0, _STEP)
    s = np.array([[measure(rhex, hip + a, knee + b) for b in offsets] for a in offsets])
    mixed = (s[2, 2] - s[2, 0] - s[0, 2] + s[0, 0]) / (4.0 * _STEP**2)
    along = (s[2, 1] - 2.0 * s[1, 1] + s[0, 1]) / _STEP**2
    across = (s[1, 2] - 2.0 * s[1, 1] + s[1, 0]) / _STEP**2
    low, high = np.linalg.eigvalsh([[along, mixed], [mixed, across]])
    return float(low), float(high)
