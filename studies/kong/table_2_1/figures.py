"""Figures of ``table-2.1``: paths on the hill, their uncertainty, and log E_a of all methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from controller.convergent.evaluation import Uncertainty, evaluate, trace
from controller.convergent.hill import SINE_HILL
from controller.convergent.hill_path import HillPath, HillProblem
from studies.figures import COLOURS, figure
from studies.kong.table_2_1.methods import METHODS
from studies.kong.table_2_1.trials import Trials, plan

TREES = 5  # B-RRT paths in figure 2.2
FOUR = Uncertainty(4)
_GROUPS = {"none": "seed", "average": "final", "maximum": "target"}  # colours, by constraint


def flow_figure(seed: int, trial: int) -> Figure:
    """Figure 2.1: four points about the start of the shortest and of the convergent path."""
    drawing, axes = figure(columns=2, width=9.0, height=3.4, sharex=True, sharey=True)
    for panel, number in zip(axes, (1, 2), strict=True):
        problem, path = plan(METHODS[number - 1], seed, trial)
        _map(panel)
        if path.ok:
            places = trace(problem, path, FOUR)
            panel.plot(*places.transpose(2, 0, 1), color=COLOURS["target"], lw=0.8)
            panel.plot(*path.positions.T, color=COLOURS["initial"], lw=1.6)
            panel.plot(*places[0].T, "o", color="black", ms=2.5)
            panel.plot(*places[-1].T, "o", color="black", ms=2.5, mfc="white")
        panel.set_title(f"{METHODS[number - 1].label}{_ratios(problem, path)}", fontsize=9)
    axes[1].set(ylabel="")
    return drawing


def example_figure(seed: int, trial: int) -> Figure:
    """Figure 2.2: the uncertainty of two paths; T-OPT beside B-RRT; and the powers of both."""
    drawing, axes = figure(columns=3, width=12.0, height=3.8, width_ratios=[1.25, 1.25, 1.0])
    for number, style in ((1, "--"), (2, "-")):
        _draw_uncertainty(axes[0], *plan(METHODS[number - 1], seed, trial), style)
    _map(axes[0], arrows=True)
    axes[0].legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=7)
    _draw_trees(axes[1], axes[2], seed, trial)
    _map(axes[1])
    axes[1].legend(
        frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=7
    )
    axes[2].set(
        xlabel="share of the way's waypoints", ylabel="power p", ylim=(-0.05, 2.05), box_aspect=0.78
    )
    return drawing


def area_figure(trials: Trials) -> Figure:
    """Log E_a of every success, and the middle half of each method's; the thesis's mean beside."""
    drawing, axes = figure(width=9.0, height=4.2)
    jitter = np.random.default_rng(0)
    for place, method in enumerate(METHODS):
        values = trials.values(method.number, "log_area_ratio")
        values = values[np.isfinite(values)]
        colour = COLOURS[_GROUPS[method.convergence]]
        across = place + jitter.uniform(-0.22, 0.22, len(values))
        axes.plot(across, values, "o", color=colour, ms=2.5, alpha=0.8, mew=0)
        if len(values):
            axes.boxplot(values, positions=[place], widths=0.6, showfliers=False,
                         manage_ticks=False, medianprops={"color": "black"})  # fmt: skip
            axes.plot(place, np.mean(values), "D", color="black", ms=4)
        axes.plot(place, method.printed.log_area_ratio, "x", color=COLOURS["dxr"], ms=6)
    axes.plot([], [], "D", color="black", ms=4, label="mean")
    axes.plot([], [], "x", color=COLOURS["dxr"], ms=6, label="mean in Table 2.1")
    axes.axhline(0.0, color="black", lw=0.6)
    labels = [m.tick.replace(" ", "\n", 2).replace("p\n= 1", "p = 1") for m in METHODS]
    axes.set_xticks(range(len(METHODS)), labels, fontsize=6)
    axes.set(ylabel=r"$\log\,E_a$")
    axes.legend(frameon=False, fontsize=8)
    return drawing


def _draw_uncertainty(axes: Any, problem: HillProblem, path: HillPath, style: str) -> None:
    if not path.ok:
        return
    places = trace(problem, path)
    name = "shortest" if problem.powers == (1.0, 1.0) else "optimal"
    label = f"{name}{_ratios(problem, path)}"
    axes.plot(*path.positions.T, style, color=COLOURS["dxr"], lw=1.2, label=label)
    for points in (places[0], places[-1]):
        axes.plot(*np.vstack([points, points[:1]]).T, style, color="black", lw=1.0)


def _draw_trees(above: Any, below: Any, seed: int, trial: int) -> None:
    problem, path = plan(METHODS[1], seed, trial)
    drawn = [(path, COLOURS["initial"], "T-OPT", 1.6, 3)]
    for repeat in range(TREES):
        _, tree = plan(METHODS[2], seed, trial, repeat)
        drawn.append((tree, COLOURS["dxr"], "B-RRT" if repeat == 0 else "", 0.6, 2))
    for each, colour, label, width, order in drawn:
        if each.ok and len(each.powers):
            look = {"color": colour, "lw": width, "zorder": order, "label": label or None}
            above.plot(*each.positions.T, **look)
            share = np.arange(len(each.powers)) / len(each.powers)
            below.step(share, each.powers, where="post", alpha=1.0 if order == 3 else 0.3, **look)
    eta = problem.eta
    corners = problem.goal + eta * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
    above.plot(*corners.T, color="black", lw=1.0, zorder=4)
    above.plot(*problem.start, "o", color="black", ms=3, zorder=4)


def _map(axes: Any, arrows: bool = False) -> None:
    """Elevation lines of the hill, and its gradient."""
    x, y = (np.linspace(*bounds, 121) for bounds in (SINE_HILL.x_bounds, SINE_HILL.y_bounds))
    across, up = np.meshgrid(x, y)
    hill = SINE_HILL.at(across, up)
    axes.contour(across, up, hill.h, 18, colors="0.75", linewidths=0.5, zorder=0)
    if arrows:
        some = np.s_[6::12, 6::12]
        axes.quiver(across[some], up[some], hill.h_x[some], hill.h_y[some], color="tab:blue",
                    alpha=0.5, width=0.003, zorder=1)  # fmt: skip
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal",
             xlim=SINE_HILL.x_bounds, ylim=SINE_HILL.y_bounds)  # fmt: skip


def _ratios(problem: HillProblem, path: HillPath) -> str:
    if not path.ok:
        return f": {path.status}"
    evaluation = evaluate(problem, path)
    return f": $E_a$ = {evaluation.area_ratio:.2g}, $E_m$ = {evaluation.distance_ratio:.2g}"
