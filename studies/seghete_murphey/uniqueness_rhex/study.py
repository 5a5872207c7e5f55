"""Double touchdowns of a planar RHex: where the outcome is unique.

The source prints neither parameters nor numbers: the robot is ours, and what is compared is the
picture: two minima of s, A and B, that are one stance with its legs swapped, and a maximum, C, with
body and knee in the ground. Primed points are copies: with the hips at the centre of mass, s
repeats after half a turn of both legs. O is an exactly orthogonal stance outside the contour.

Both knees have the same angle, and theta = 0. The angle of the other hip puts the left foot on the
ground with the legs apart; the second solution, with both feet in one place, is not used.
spread: distance of the outcomes of all orders in the kinetic metric over |p|, for a fall with all
joints at rest. least_s is that of the contour. Over random impacts first_order is the range of the
spread over that of first order (16)-(20); towards O the spread falls as |s| to the power of slope.
enumerated is the share of impacts of which all orders were.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from hybrid.impacts.surface_cosines import surface_cosines
from hybrid.systems import Array
from studies.figures import COLOURS, GUARD, figure
from studies.seghete_murphey.systems.momentum_maps import deviation, order_sensitivity
from studies.seghete_murphey.systems.momentum_orders import OrderOptions, all_orders
from studies.seghete_murphey.uniqueness_rhex.landscape import (
    KNEES,
    Extremum,
    Landscape,
    extrema,
    landscape,
    mirror_error,
    named,
    orthogonal,
    pose,
    wrapped,
)
from studies.seghete_murphey.uniqueness_rhex.rhex import (
    LEGS,
    RHex,
    configuration,
    inertia_and_normals,
    joints,
    measure,
    name,
)
from studies.study import Criterion, StudyOptions, StudyResult, study

TRIALS = 400  # random impacts
GRID, FULL_GRID = (120, 46), (360, 181)  # hips, knees of the contour
DROP = np.array([0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # body and legs fall as one [m/s]
RATES = np.array([0.3, 0.3, 2.0, 10.0, 10.0, 10.0, 10.0])  # spread of random speeds [m/s, rad/s]
SHOWN = ("point", "kind", "hip_deg", "knee_deg", "hip_height_mm", "lowest_knee_mm", "s",
         "spread_elastic", "slope", "first_order")  # fmt: skip
MIRROR = 1e-3  # largest error of a mirror image [deg]
BODY = (0.36, 0.05)  # length and height as drawn; they play no part [m]
LEG_COLOURS = (COLOURS["initial"], COLOURS["dxr"])  # right, left
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
    random = _random(rhex, options.count(TRIALS), np.random.default_rng(options.seed))
    approach = [touchdown(rhex, root[0], root[1] - d, DROP) for d in np.geomspace(1e-9, 0.3, 30)]
    drawn = {
        "figure-2": contour(grid, points),
        "figure-3": poses(rhex, {key: points[key] for key in "ABC" if key in points}),
        "spread": spreads(*[[(abs(i.s), i.spread) for i in kind] for kind in (random, approach)]),
    }
    beside = {"least_s": float(grid.s.min())} | scaling(random, approach)
    rows = [stance(rhex, key, points) | beside for key in points]
    rows.append(_orthogonal_row(rhex, *root) | beside)
    messages = [str(row["message"]) for row in rows if row["message"]]
    return StudyResult(rows, drawn, messages, SHOWN, criteria=criteria(rhex, points))


def scaling(random: Sequence[Impact], approach: Sequence[Impact]) -> dict[str, Any]:
    """How the spread depends on s, and how much of it is of first order."""
    steps = [i for i in approach if abs(i.s) < _SMALL]
    slope = np.polyfit(np.log([abs(i.s) for i in steps]), np.log([i.spread for i in steps]), 1)[0]
    ratio = [i.spread / i.predicted for i in random]
    every = [*random, *approach]
    return {
        "slope": float(slope),
        "first_order": [min(ratio), max(ratio)],
        "random_s": [min(i.s for i in random), max(i.s for i in random)],
        "enumerated": sum(i.status == "complete" for i in every) / len(every),
    }


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


def stance(rhex: RHex, key: str, points: dict[str, Extremum]) -> dict[str, Any]:
    """An extremum: its pose, s, and the spread of outcomes of a fall."""
    one, twin = points[key], points.get(SWAPPED[key])
    return {
        "point": key,
        "kind": one.kind,
        **pose(rhex, one.hip, one.knee),
        "s": one.s,
        "curvatures": list(one.curvatures),
        "mirror_error_deg": None if twin is None else mirror_error(rhex, one, twin),
        **_drop_spreads(rhex, one.hip, one.knee),
    }


def _orthogonal_row(rhex: RHex, hip: float, knee: float) -> dict[str, Any]:
    return {
        "point": "O",
        "kind": "orthogonal",
        **pose(rhex, hip, knee),
        "s": measure(rhex, hip, knee),
        "curvatures": None,
        "mirror_error_deg": None,
        **_drop_spreads(rhex, hip, knee),
    }


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


def contour(grid: Landscape, points: Mapping[str, Extremum]) -> Figure:
    """Figure 2: s over the right hip's and the knees' angle."""
    made, axes = figure(width=7.2, height=3.8)
    hips = np.degrees(np.append(grid.hips, np.pi))
    s = np.column_stack([grid.s, grid.s[:, 0]])
    knees = np.degrees(grid.knees)
    scale, norm = (np.geomspace, LogNorm()) if s.min() > 0.0 else (np.linspace, None)
    levels = scale(s.min(), s.max(), 16)
    shades = axes.contourf(hips, knees, s, levels, norm=norm, cmap="viridis")
    axes.contour(hips, knees, s, levels, colors="white", linewidths=0.4)
    made.colorbar(shades, ax=axes, label="s", format="%.1e")
    for label, point in points.items():
        at = np.degrees([wrapped(point.hip), point.knee])
        copy = label.endswith("'")
        axes.plot(*at, "o", color="white", markersize=4, markerfacecolor="none" if copy else None)
        axes.annotate(
            label, at, xytext=(5, 4), textcoords="offset points", color="white",
            fontsize=8 if copy else 11, fontweight="normal" if copy else "bold",
        )  # fmt: skip
    axes.set(xlabel="right hip [deg]", ylabel="knees [deg]", xticks=range(-180, 181, 60))
    return made


def poses(rhex: RHex, points: Mapping[str, Extremum]) -> Figure:
    """Figure 3: the stances of the named points."""
    count = max(len(points), 1)
    made, axes = figure(columns=count, width=9.0, height=2.6, sharey=True, squeeze=False)
    for panel, (label, point) in zip(axes[0], points.items(), strict=False):
        _draw_pose(panel, rhex, point)
        panel.set_title(f"{label}: {point.kind}, s = {point.s:.2g}", fontsize=10)
        panel.set(xlabel="x [m]", aspect="equal", xlim=(-0.22, 0.22), ylim=(-0.07, 0.2))
    axes[0, 0].set_ylabel("y [m]")
    axes[0, -1].legend(frameon=False, loc="upper left", ncols=2, fontsize=7)
    return made


def spreads(
    random: Sequence[tuple[float, float]], approach: Sequence[tuple[float, float]]
) -> Figure:
    """Spread of the outcomes over |s|: random impacts, and a fall at stances towards s = 0."""
    made, axes = figure(height=3.8)
    s = np.array([at for at, _ in sorted([*random, *approach])])
    axes.loglog(*np.transpose(random), ".", markersize=3, color=COLOURS["seed"], alpha=0.7,
                label="random stances and velocities")  # fmt: skip
    axes.loglog(*np.transpose(approach), "o-", markersize=3, linewidth=0.8,
                color=COLOURS["initial"], label="a fall, at stances towards s = 0")  # fmt: skip
    axes.loglog(s, 4.0 * s, label="4 |s|", **GUARD)
    axes.set(xlabel="|s|", ylabel="largest distance of two outcomes / |p|")
    axes.legend(frameon=False)
    return made


def _draw_pose(axes: Any, rhex: RHex, point: Extremum) -> None:
    q = configuration(rhex, point.hip, point.knee)
    at = joints(rhex, q)
    corner = (q[0] - 0.5 * BODY[0], q[1] - 0.5 * BODY[1])
    axes.add_patch(Rectangle(corner, *BODY, facecolor="0.88", edgecolor="0.5", linewidth=0.8))
    axes.axhline(0.0, **GUARD)
    for leg, colour, label in zip(at, LEG_COLOURS, ("right", "left"), strict=True):
        axes.plot(*leg.T, "o-", color=colour, markersize=3.5, linewidth=1.8, label=label)
