"""The hill of (2.24) as contraction sees it: where it converges, how fast, how far that goes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from controller.convergent.convergent_headings import (
    best_power,
    convergent_headings,
    widest_power,
)
from controller.convergent.hill import SINE_HILL, Hill
from controller.convergent.planar_contraction import gaussian_curvature
from hybrid.systems import Array
from saltus.studies.kong.table_2_1.contraction_reach import reach_graph
from saltus.studies.style import COLOURS, figure

_POWERS = (0.0, 2.0)
_STARTS = np.array([[-0.75, 0.7], [-0.9, 1.0], [0.05, 0.1], [1.6, 0.15], [1.1, 2.2]])  # [m]


def figure_regions(hill: Hill = SINE_HILL) -> Figure:
    """Cones of headings with D_m < 0, best D_m and D_a, and what strict convergence can reach.

    Every place but those with K = 0 has headings with D_m < 0 for some p in [0, 2]: p < 1 where
    K > 0, p > 1 where K < 0 (Lemma 2). So the map falls into strips, and a path that keeps D_m < 0
    everywhere cannot leave its own. On this hill K = 0, the black lines, is where u = x (1 + y) has
    cos u = 0 or 2 u tan u = 1, for det H = cos u (2 u sin u - cos u).
    """
    made, axes = figure(columns=2, rows=2, width=9.0, height=5.4, sharex=True, sharey=True)
    x, y = _grid(hill, 241, 151)
    at = hill.at(x, y)
    headings = {
        m: convergent_headings(at, best_power(at, _POWERS, m)) for m in ("average", "maximum")
    }
    _cones(made, axes[0, 0], hill)
    _rates(made, axes[0, 1], x, y, -headings["average"].average, "$-D_a$")
    _rates(made, axes[1, 1], x, y, -headings["maximum"].maximum, "$-D_m$")
    _reach(axes[1, 0], hill)
    for panel in axes.flat:
        panel.contour(x, y, gaussian_curvature(at), levels=[0.0], colors="black", linewidths=1.0)
        panel.set(aspect="equal", xlim=hill.x_bounds, ylim=hill.y_bounds)
    for panel in axes[1]:
        panel.set_xlabel("x [m]")
    for panel in axes[:, 0]:
        panel.set_ylabel("y [m]")
    return made


def _cones(made: Figure, panel: Any, hill: Hill) -> None:
    """Half-width of the widest cone, coloured by its side of p = 1, with the best courses."""
    x, y = _grid(hill, 241, 151)
    at = hill.at(x, y)
    width = np.degrees(convergent_headings(at, widest_power(at, _POWERS)).half_width)
    signed = np.sign(gaussian_curvature(at)) * width
    shown = panel.pcolormesh(x, y, signed, cmap="PuOr", vmin=-90, vmax=90, rasterized=True)
    bar = made.colorbar(shown, ax=panel, shrink=0.75, ticks=(-90, -45, 0, 45, 90))
    bar.ax.set_yticklabels(["90", "45", "0", "45", "90"], fontsize=7)
    bar.set_label("half-width [deg]\n$p > 1$          $p < 1$", fontsize=8)
    panel.contour(x, y, at.h, levels=14, colors="0.6", linewidths=0.5)
    x, y = _grid(hill, 25, 16)
    at = hill.at(x, y)
    course = convergent_headings(at, best_power(at, _POWERS, "maximum")).course
    panel.quiver(x, y, np.cos(course), np.sin(course), pivot="mid", scale=34, width=0.0025)
    panel.set_title("widest cone of headings with $D_m < 0$; best courses", fontsize=9)


def _rates(made: Figure, panel: Any, x: Array, y: Array, rate: Array, name: str) -> None:
    norm = LogNorm(vmin=0.03, vmax=3.0)
    shown = panel.pcolormesh(x, y, rate, cmap="viridis", norm=norm, rasterized=True)
    bar = made.colorbar(shown, ax=panel, shrink=0.75, extend="both")
    bar.ax.tick_params(labelsize=7)
    panel.set_title(f"{name} of the best heading and power [1/m]", fontsize=9)


def _reach(panel: Any, hill: Hill) -> None:
    """From each start, all that a path with D_m < 0 everywhere can reach."""
    graph = reach_graph(hill, "maximum", _POWERS)
    for k, start in enumerate(_STARTS):
        within = graph.points[graph.reached(start)]
        panel.plot(*within.T, ".", color=f"C{k}", markersize=2.0, markeredgewidth=0.0)
        panel.plot(*start, "o", markersize=6, color=f"C{k}", markeredgecolor=COLOURS["actual"])
    panel.set_title("where $D_m < 0$ all the way leads, from five starts", fontsize=9)


def _grid(hill: Hill, columns: int, rows: int) -> tuple[Array, Array]:
    x, y = np.meshgrid(np.linspace(*hill.x_bounds, columns), np.linspace(*hill.y_bounds, rows))
    return x, y
