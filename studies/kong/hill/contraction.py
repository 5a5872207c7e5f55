"""Where a robot on a hill can get at all while D_m < 0, or D_a < 0, holds everywhere on its way.

A search on a grid: from each point straight to the points about it, if going there converges at
both ends with one power. So D_m < 0 stays within the lines K = 0, where no heading has it and on
either side of which p must be on either side of 1. A planner that looks only at the first point of
each step can step over such lines, and reaches more; the longer its steps, the more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from controller.convergent.convergent_headings import (
    best_power,
    convergent_headings,
    widest_power,
)
from controller.convergent.hill import SINE_HILL, Hill, HillDerivatives
from controller.convergent.planar_contraction import gaussian_curvature
from controller.convergent.power_controller import divergence_metrics, jacobian
from hybrid.systems import Array
from studies.figures import COLOURS, figure
from studies.kong.hill.methods import Method

Metric = Literal["average", "maximum"]
_AROUND = 5  # grid points to either side: 80 directions
_POWERS = 9  # looked at between the lowest and the highest
_POWER_RANGE = (0.0, 2.0)
_STARTS = np.array([[-0.75, 0.7], [-0.9, 1.0], [0.05, 0.1], [1.6, 0.15], [1.1, 2.2]])  # [m]


@dataclass(frozen=True)
class ReachGraph:
    """A grid over the map and the steps between its points that converge."""

    points: Array  # (K, 2) [m]
    steps: Any  # csr_array (K, K), nonzero where one may go from row to column

    def reached(self, start: Array) -> NDArray[np.bool_]:
        """The points, as (K,) bool, that can be reached from that nearest to a start (2,) [m]."""
        node = int(np.argmin(np.sum((self.points - start) ** 2, axis=1)))
        mask = np.zeros(len(self.points), dtype=np.bool_)
        mask[breadth_first_order(self.steps, node, return_predecessors=False)] = True
        return mask

    def joins(self, start: Array, goal: Array, eta: float) -> bool:
        """Whether a way leads from start into the square of half side eta [m] about goal."""
        in_goal: Any = np.max(np.abs(self.points - goal), axis=1) <= eta
        return bool(np.any(self.reached(start) & in_goal))


def reach_graph(
    hill: Hill, metric: Metric, powers: tuple[float, float], spacing: float = 0.025
) -> ReachGraph:
    """The graph of steps with D_a or D_m below 0.

    Args:
        hill: with its map.
        metric: "average" for D_a < 0, (2.23); "maximum" for D_m < 0, (2.22).
        powers: lowest and highest power of the controller; each place may use its own.
        spacing: of the grid [m], about.
    """
    x, y = (
        np.linspace(low, high, round((high - low) / spacing) + 1)
        for low, high in (hill.x_bounds, hill.y_bounds)
    )
    at = hill.at(*np.meshgrid(x, y, indexing="ij"))
    number = np.arange(len(x) * len(y)).reshape(len(x), len(y))
    rows, columns = [], []
    for i, j in _offsets():
        from_x, to_x = _overlap(len(x), i)
        from_y, to_y = _overlap(len(y), j)
        step = np.array([i * (x[1] - x[0]), j * (y[1] - y[0])])
        converges = np.zeros(number[from_x, from_y].shape, dtype=np.bool_)
        for p in np.unique(np.linspace(*powers, _POWERS)):
            free = metric_along(at, step, p, metric) < 0.0
            converges |= free[from_x, from_y] & free[to_x, to_y]
        rows.append(number[from_x, from_y][converges])
        columns.append(number[to_x, to_y][converges])
    ends = np.concatenate(rows), np.concatenate(columns)
    steps = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(number.size,) * 2)
    return ReachGraph(np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2), steps)


def metric_along(at: HillDerivatives, step: Array, p: float, metric: Metric) -> Array:
    """D_a or D_m where the robot goes along ``step`` (2,) [m] in one unit of time, with power p."""
    average, maximum = divergence_metrics(*jacobian(*at[1:], step[0], step[1], p))
    return maximum if metric == "maximum" else average


def reachable_shares(places: Array, hill: Hill = SINE_HILL) -> Callable[[Method], float | None]:
    """Share [%] of the pairs (T, 2, 2) [m] of start and goal with a convergent way, by method.

    None where a method has no constraint.
    """

    @cache
    def share(metric: Metric, powers: tuple[float, float], eta: float) -> float:
        graph = reach_graph(hill, metric, powers)
        return 100.0 * float(np.mean([graph.joins(start, goal, eta) for start, goal in places]))

    def of_method(method: Method) -> float | None:
        if method.convergence == "none":
            return None
        return share(method.convergence, method.powers, method.problem(*places[0]).eta)

    return of_method


def _offsets() -> list[tuple[int, int]]:
    near = range(-_AROUND, _AROUND + 1)
    return [(i, j) for i in near for j in near if np.gcd(i, j) == 1]


def _overlap(count: int, offset: int) -> tuple[slice, slice]:
    """Where along an axis of ``count`` points a step of ``offset`` begins, and where it ends."""
    low, high = max(0, -offset), count - max(0, offset)
    return slice(low, high), slice(low + offset, high + offset)


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
        m: convergent_headings(at, best_power(at, _POWER_RANGE, m)) for m in ("average", "maximum")
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
    width = np.degrees(convergent_headings(at, widest_power(at, _POWER_RANGE)).half_width)
    signed = np.sign(gaussian_curvature(at)) * width
    shown = panel.pcolormesh(x, y, signed, cmap="PuOr", vmin=-90, vmax=90, rasterized=True)
    bar = made.colorbar(shown, ax=panel, shrink=0.75, ticks=(-90, -45, 0, 45, 90))
    bar.ax.set_yticklabels(["90", "45", "0", "45", "90"], fontsize=7)
    bar.set_label("half-width [deg]\n$p > 1$          $p < 1$", fontsize=8)
    panel.contour(x, y, at.h, levels=14, colors="0.6", linewidths=0.5)
    x, y = _grid(hill, 25, 16)
    at = hill.at(x, y)
    course = convergent_headings(at, best_power(at, _POWER_RANGE, "maximum")).course
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
    graph = reach_graph(hill, "maximum", _POWER_RANGE)
    for k, start in enumerate(_STARTS):
        within = graph.points[graph.reached(start)]
        panel.plot(*within.T, ".", color=f"C{k}", markersize=2.0, markeredgewidth=0.0)
        panel.plot(*start, "o", markersize=6, color=f"C{k}", markeredgecolor=COLOURS["actual"])
    panel.set_title("where $D_m < 0$ all the way leads, from five starts", fontsize=9)


def _grid(hill: Hill, columns: int, rows: int) -> tuple[Array, Array]:
    x, y = np.meshgrid(np.linspace(*hill.x_bounds, columns), np.linspace(*hill.y_bounds, rows))
    return x, y
