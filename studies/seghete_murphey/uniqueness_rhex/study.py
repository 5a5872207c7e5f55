"""Double touchdowns of a planar RHex: where the outcome is unique.

The source prints neither parameters nor numbers: what is compared is its picture, two minima of s
that are one stance with its legs swapped, and a maximum with body and knee in the ground.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hybrid.impacts.surface_cosines import surface_cosines
from hybrid.systems import Array
from studies.seghete_murphey.systems.momentum_maps import deviation, order_sensitivity
from studies.seghete_murphey.systems.momentum_orders import OrderOptions, all_orders
from studies.seghete_murphey.uniqueness_rhex.figures import contour, poses, spreads
from studies.seghete_murphey.uniqueness_rhex.landscape import (
    KNEES,
    Extremum,
    extrema,
    landscape,
    mirror_error,
    named,
    orthogonal,
    pose,
)
from studies.seghete_murphey.uniqueness_rhex.rhex import (
    LEGS,
    RHex,
    configuration,
    inertia_and_normals,
    measure,
    name,
)
from studies.study import Criterion, StudyOptions, StudyResult, study

TRIALS = 400  # random impacts
GRID, FULL_GRID = (120, 46), (360, 181)  # hips, knees of the contour
DROP = np.array([0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # body and legs fall as one [m/s]
RATES = np.array([0.3, 0.3, 2.0, 10.0, 10.0, 10.0, 10.0])  # spread of random speeds [m/s, rad/s]
SHOWN = ("point", "kind", "hip_deg", "knee_deg", "other_hip_deg", "s", "spread_elastic")
MIRROR = 1e-3  # largest error of a mirror image [deg]
_SMALL = 1e-4  # |s| up to which the fall's spread is fitted
SWAPPED = {"A": "B", "B": "A", "C": "C'", "A'": "B'", "B'": "A'", "C'": "C"}


class Impact(NamedTuple):
    """A double touchdown and how far its outcomes are apart, over |p|."""

    s: float
    spread: float  # largest distance of two outcomes over all orders, elastic
    predicted: float  # to first order: epsilon |dp_vu - dp_uv| of order_sensitivity
    status: str


@study("Seghete and Murphey, figure 2", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: A, B, C of figure 2, their copies with a prime, and O, where s = 0."""
    rhex = RHex()
    grid = landscape(rhex, *(FULL_GRID if options.full else GRID), options.progress)
    points = named(rhex, extrema(rhex, grid))
    root = orthogonal(rhex)
    rows = [*(_row(rhex, key, points) for key in points), _orthogonal_row(rhex, *root)]
    random = _random(rhex, options.count(TRIALS), np.random.default_rng(options.seed))
    approach = [touchdown(rhex, root[0], root[1] - d, DROP) for d in np.geomspace(1e-9, 0.3, 30)]
    drawn = {
        "figure-2": contour(rhex, grid, points),
        "figure-3": poses(rhex, {key: points[key] for key in "ABC" if key in points}),
        "spread": spreads(*[[(abs(i.s), i.spread) for i in kind] for kind in (random, approach)]),
    }
    notes = (*_setting(rhex), *_findings(rhex, grid, points, rows), *_spreads(random, approach),
             *(row.message for row in rows if row.message))  # fmt: skip
    return StudyResult(rows, drawn, notes, SHOWN, criteria=criteria(rhex, points))


def touchdown(rhex: RHex, hip: float, knee: float, v: Array) -> Impact:
    """Both feet at once with velocity v (7,), elastic, in all orders and by first order."""
    q = configuration(rhex, hip, knee)
    M, J_n = inertia_and_normals(rhex, q)
    p = M @ v
    s = float(surface_cosines(M, J_n, LEGS, name(q))[0, 1])
    outcomes = all_orders(M, J_n, p, name=name(q), contacts=LEGS)
    turned = deviation(M, *J_n)
    rate = order_sensitivity(M, turned.u, turned.v, turned.w, p).spread
    size = float(np.sqrt(p @ v))
    return Impact(s, outcomes.largest_distance, abs(turned.epsilon) * rate / size, outcomes.status)


def _random(rhex: RHex, count: int, rng: np.random.Generator) -> list[Impact]:
    """Touchdowns over the whole contour, of velocities that close both feet."""
    drawn: list[Impact] = []
    while len(drawn) < count:
        hip, knee = rng.uniform(-np.pi, np.pi), np.radians(rng.uniform(*KNEES))
        v = DROP + RATES * rng.normal(size=7)
        J_n = inertia_and_normals(rhex, configuration(rhex, hip, knee))[1]
        if (J_n @ v < 0.0).all():
            drawn.append(touchdown(rhex, hip, knee, v))
    return drawn


@dataclass(frozen=True)
class StanceRow:
    """One stance: its pose, s, and the spread of outcomes of a fall."""

    point: str
    kind: str
    hip_deg: float
    knee_deg: float
    other_hip_deg: float
    leg_pitch_deg: float
    hip_height_mm: float
    lowest_knee_mm: float
    s: float
    curvatures: list[float] | None
    mirror_error_deg: float | None
    spread_elastic: float
    spread_plastic: float
    message: str


def _row(rhex: RHex, key: str, points: dict[str, Extremum]) -> StanceRow:
    one, twin = points[key], points.get(SWAPPED[key])
    return StanceRow(
        point=key,
        kind=one.kind,
        **pose(rhex, one.hip, one.knee),
        s=one.s,
        curvatures=list(one.curvatures),
        mirror_error_deg=None if twin is None else mirror_error(rhex, one, twin),
        **_drop_spreads(rhex, one.hip, one.knee),
    )


def _orthogonal_row(rhex: RHex, hip: float, knee: float) -> StanceRow:
    return StanceRow(
        point="O",
        kind="orthogonal",
        **pose(rhex, hip, knee),
        s=measure(rhex, hip, knee),
        curvatures=None,
        mirror_error_deg=None,
        **_drop_spreads(rhex, hip, knee),
    )


def _drop_spreads(rhex: RHex, hip: float, knee: float) -> dict[str, Any]:
    """Distance of the outcomes of a fall, over |p|, elastic (e = 1) and plastic (e = 0)."""
    q = configuration(rhex, hip, knee)
    M, J_n = inertia_and_normals(rhex, q)
    elastic, plastic = (
        all_orders(M, J_n, M @ DROP, OrderOptions(e), name(q), LEGS) for e in (1.0, 0.0)
    )
    return {
        "spread_elastic": elastic.largest_distance,
        "spread_plastic": plastic.largest_distance,
        "message": elastic.message or plastic.message,
    }


def _setting(rhex: RHex) -> tuple[str, ...]:
    return (
        f"Parameters are ours: body {rhex.body_mass:g} kg, {rhex.body_inertia:g} kg m^2, both"
        f" hips at its centre of mass; thighs {rhex.thigh_mass:g} kg and {rhex.thigh_length:g} m,"
        f" shins {rhex.shin_mass:g} kg and {rhex.shin_length:g} m, rods; the source prints none.",
        "Both knees have the same angle, and theta = 0. The angle of the other hip puts the left"
        " foot on the ground with the legs apart; the second solution, with both feet in one place,"
        " is not used.",
        "Primed points are copies: with the hips at the centre of mass, s repeats after half a turn"
        " of both legs. O is an exactly orthogonal stance outside the contour.",
        "spread: distance of the outcomes of all orders in the kinetic metric over |p|, for a fall"
        " with all joints at rest.",
    )


def criteria(rhex: RHex, points: dict[str, Extremum]) -> list[Criterion]:
    """A and B are minima and mirror images, C is a maximum."""
    curvatures = {key: point.curvatures for key, point in points.items()}
    least = {key: curvatures[key][0] if key in curvatures else None for key in "AB"}
    error = mirror_error(rhex, points["A"], points["B"]) if {"A", "B"} <= points.keys() else None
    return [
        *(Criterion(f"least curvature at {key}", least[key], ">", 0.0) for key in least),
        Criterion("largest curvature at C", curvatures["C"][1] if "C" in curvatures else None,
                  "<", 0.0),
        Criterion("error of A and B as mirror images [deg]", error, "<", MIRROR),
    ]  # fmt: skip


def _findings(
    rhex: RHex, grid: Any, points: dict[str, Extremum], rows: Sequence[StanceRow]
) -> list[str]:
    """Extrema of the contour, compared with the source."""
    if not all(key in points for key in "ABC"):
        return [f"Not met: of A, B and C the contour has {', '.join(points) or 'none'}."]
    A, B, C = (points[key] for key in "ABC")
    minima, maximum = A.curvatures[0] > 0.0 < B.curvatures[0], C.curvatures[1] < 0.0
    error = mirror_error(rhex, A, B)
    least = float(grid.s.min())
    under = next(row for row in rows if row.point == "C")
    return [
        f"{'Met' if minima and maximum and error < MIRROR else 'Not met'}: by their curvatures A"
        f" and B are {'' if minima else 'no '}minima, C is {'a' if maximum else 'no'} maximum,"
        f" A and B are {error:.1g} deg from each other's mirror image (legs swapped).",
        f"Smallest s on the contour ({grid.s.size} points): {least:.4g}; at A: {A.s:.4g}. A and B"
        f" are {'' if least >= A.s - 1e-12 else 'not '}the global minima there;"
        f" s(C) = {C.s / A.s:.1f} s(A).",
        f"At C the hips are at height {abs(under.hip_height_mm):.1f} mm and one knee at"
        f" {under.lowest_knee_mm:.1f} mm; the source has body and knees in the ground there:"
        f" {'so' if under.lowest_knee_mm < 0.0 else 'not so'} here.",
    ]


def _spreads(random: Sequence[Impact], approach: Sequence[Impact]) -> list[str]:
    steps = [i for i in approach if abs(i.s) < _SMALL]
    slope = np.polyfit(np.log([abs(i.s) for i in steps]), np.log([i.spread for i in steps]), 1)[0]
    ratio = [i.spread / i.predicted for i in random]
    complete = sum(i.status == "complete" for i in (*random, *approach))
    low, high = min(i.s for i in random), max(i.s for i in random)
    return [
        f"Towards O the spread falls as |s|^{slope:.4f}, from {approach[-1].spread:.2g} at s ="
        f" {approach[-1].s:.2g} to {approach[0].spread:.2g} at {approach[0].s:.2g}.",
        f"{len(random)} random impacts, s from {low:.2g} to {high:.2g}: spread over that of first"
        f" order (16)-(20) from {min(ratio):.4g} to {max(ratio):.4g}; all orders enumerated in"
        f" {complete} of {len(random) + len(approach)}.",
    ]
