"""Pictures of the study of a RHex's double touchdown: figures 2 and 3, and the outcomes' spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from studies.figures import COLOURS, GUARD, figure
from studies.seghete_murphey.uniqueness_rhex.landscape import Extremum, Landscape, wrapped
from studies.seghete_murphey.uniqueness_rhex.rhex import RHex, configuration, joints

BODY = (0.36, 0.05)  # length and height as drawn; they play no part [m]
LEG_COLOURS = (COLOURS["initial"], COLOURS["dxr"])  # right, left
_LEVELS = 16


def contour(rhex: RHex, grid: Landscape, points: Mapping[str, Extremum]) -> Figure:
    """Figure 2: s over the right hip's and the knees' angle."""
    made, axes = figure(width=7.2, height=3.8)
    hips = np.degrees(np.append(grid.hips, np.pi))
    s = np.column_stack([grid.s, grid.s[:, 0]])
    if s.min() > 0.0:
        levels = np.geomspace(s.min(), s.max(), _LEVELS)
        shades = axes.contourf(
            hips, np.degrees(grid.knees), s, levels, norm=LogNorm(), cmap="viridis"
        )
    else:
        levels = np.linspace(s.min(), s.max(), _LEVELS)
        shades = axes.contourf(hips, np.degrees(grid.knees), s, levels, cmap="viridis")
    axes.contour(hips, np.degrees(grid.knees), s, levels, colors="white", linewidths=0.4)
    made.colorbar(shades, ax=axes, label="s", format="%.1e")
    for name, point in points.items():
        at = np.degrees([wrapped(point.hip), point.knee])
        copy = name.endswith("'")
        axes.plot(*at, "o", color="white", markersize=4, markerfacecolor="none" if copy else None)
        axes.annotate(
            name, at, xytext=(5, 4), textcoords="offset points", color="white",
            fontsize=8 if copy else 11, fontweight="normal" if copy else "bold",
        )  # fmt: skip
    axes.set(xlabel="right hip [deg]", ylabel="knees [deg]", xticks=range(-180, 181, 60))
    return made


def poses(rhex: RHex, points: Mapping[str, Extremum]) -> Figure:
    """Figure 3: the stances of the named points."""
    count = max(len(points), 1)
    made, axes = figure(columns=count, width=9.0, height=2.6, sharey=True, squeeze=False)
    for panel, (name, point) in zip(axes[0], points.items(), strict=False):
        _draw_pose(panel, rhex, point)
        panel.set_title(f"{name}: {point.kind}, s = {point.s:.2g}", fontsize=10)
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
