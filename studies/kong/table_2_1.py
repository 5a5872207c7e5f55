"""Eleven planners on a hill, and how their paths shrink uncertainty.

Every path that a planner gives out is checked anew against what was asked before it counts as a
success. Means and deviations (natural logarithms) are over the successes of each method, as in the
thesis; thesis_* is Table 2.1. p is in [0, 2], and 1 in methods 1 and 9.

seconds is the median wall-clock time of one plan, beside other plans on other cores; cpu_seconds
its processor time. Building a trajectory optimisation takes up to build_seconds more, once for all
plans. broken counts paths that violate their constraint (failures), rough evaluations with an
error above 1e-6 or a point on level ground.

The constraint holds at the start of each step, as in the thesis; at_ends counts paths that satisfy
it at the end of each step too. With ``--full``, success_both_ends is the success where T-OPT asks
it at both ends. reachable is the share of starts and goals that a grid search joins by paths with
the constraint everywhere: a planner with more successes steps over places where no heading
converges.

Chosen, because the thesis does not print it: dt of T-OPT, on problems of seed 0; candidates, bias
and iterations of the trees, so that they come near Table 2.1. More candidates make trees more
convergent. The time step of a waypoint is dt = 1. J_accel falls with the number of waypoints, so it
is comparable only between methods with similar steps. E_a is the area of the convex hull at the
end over that of the polygon of 40 points, which is 0.4 % smaller than its circle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from controller.convergent.evaluation import Uncertainty, evaluate, trace
from controller.convergent.hill import SINE_HILL
from controller.convergent.hill_path import HillPath, HillProblem
from studies.figures import COLOURS, figure
from studies.kong.hill.contraction import figure_regions, reachable_shares
from studies.kong.hill.methods import BOTH_ENDS, METHODS, Method, ends
from studies.kong.hill.trials import Trials, plan, run_trials
from studies.study import Criterion, StudyOptions, StudyResult, study

Row = dict[str, Any]
LIMIT_S = 2.0  # median time of a T-OPT solve
REQUIRED = (
    (2, "success", ">=", 100.0),
    (2, "log_area_ratio_mean", "<=", -3.3),
    (8, "success", ">=", 92.5),
    (8, "log_area_ratio_mean", "<=", -4.2),
    (5, "success", ">", 4.5),
)  # method, key, relation, bound
SHOWN = {
    "method": "method",
    "success": "success [%]",
    "thesis_success": "thesis",
    "log_area_ratio_mean": "log E_a",
    "log_area_ratio_std": "std",
    "thesis_log_area_ratio": "thesis log E_a",
    "log_distance_ratio_mean": "log E_m",
    "acceleration_cost": "J_accel",
    "seconds": "time [s]",
}  # keys in the table for a person, and their headings


@study("Kong, table 2.1", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the methods; with ``options.full``, as many trials as in the thesis."""
    trials = run_trials(options)
    places = np.array([ends(options.seed, trial) for trial in range(trials.count)])
    both_ends = run_trials(options, BOTH_ENDS) if options.full else None
    made = rows(trials, reachable_shares(places), both_ends)
    options.progress(trials.count, trials.count, "figures")
    example = most_gained(trials)
    figures = {
        "figure-2.1": flow_figure(options.seed, example),
        "figure-2.2": example_figure(options.seed, example),
        "log-area-ratios": area_figure(trials),
        "contraction-regions": figure_regions(),
    }
    return StudyResult(made, figures, columns=SHOWN, digits=3, criteria=criteria(made))


def criteria(made: Sequence[Row]) -> list[Criterion]:
    """Bounds on single methods, and on the slowest trajectory optimisation."""
    slowest = max((row for row in made if "T-OPT" in row["method"]), key=lambda row: row["seconds"])
    what = f"median time of the slowest T-OPT [s], method {slowest['number']}"
    return [
        *(Criterion(f"method {number}: {key}", made[number - 1][key], op, bound)
          for number, key, op, bound in REQUIRED),
        Criterion(what, slowest["seconds"], "<", LIMIT_S),
    ]  # fmt: skip


def rows(
    trials: Trials,
    reachable: Callable[[Method], float | None] = lambda method: None,
    both_ends: Trials | None = None,
) -> list[Row]:
    """A row for each method; means and deviations are None without a success.

    Args:
        trials: of all methods.
        reachable: share [%] of the trials that a convergent path can solve at all.
        both_ends: trials of ``BOTH_ENDS``, if there were any.
    """
    return [_row(method, trials, reachable(method), both_ends) for method in METHODS]


def _row(method: Method, trials: Trials, reachable: float | None, both: Trials | None) -> Row:
    number = method.number

    def values(key: str) -> np.ndarray:
        return trials.values(number, key)

    outcomes, won, seconds = trials.outcomes[number], values("success") > 0, values("seconds")
    areas, distances, costs = (
        values(key) for key in ("log_area_ratio", "log_distance_ratio", "acceleration_cost")
    )
    asked = both.values(number, "success") if both and number in both.outcomes else None
    return {
        "method": method.label,
        "power": method.power,
        "success": 100.0 * float(np.mean(won)),
        "log_area_ratio_mean": _of_finite(np.mean, areas),
        "log_area_ratio_std": _of_finite(np.std, areas),
        "log_distance_ratio_mean": _of_finite(np.mean, distances),
        "log_distance_ratio_std": _of_finite(np.std, distances),
        "acceleration_cost": _of_finite(np.mean, costs),
        "seconds": float(np.median(seconds)),
        "number": number,
        "trials": trials.count,
        "successes": int(np.sum(won)),
        "acceleration_cost_std": _of_finite(np.std, costs),
        "cpu_seconds": float(np.median(values("cpu_seconds"))),
        "seconds_mean": float(np.mean(seconds)),
        "seconds_std": float(np.std(seconds)),
        **{f"thesis_{name}": value for name, value in method.printed._asdict().items()},
        "build_seconds": float(np.max(values("build_seconds"))),
        "broken": sum(bool(one.broken) for one in outcomes),
        "rough": sum(one.rough for one in outcomes),
        "at_ends": sum(one.at_ends for one in outcomes),
        "reachable": reachable,
        "success_both_ends": None if asked is None else 100.0 * float(np.mean(asked)),
    }


def _of_finite(summary: Callable[[np.ndarray], Any], values: np.ndarray) -> float | None:
    kept = values[np.isfinite(values)]
    return float(summary(kept)) if len(kept) else None


def most_gained(trials: Trials) -> int:
    """The trial in which method 2's log E_a is the farthest below the shortest path's."""
    gain = trials.values(1, "log_area_ratio") - trials.values(2, "log_area_ratio")
    return int(np.argmax(np.nan_to_num(gain, nan=-np.inf)))


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
