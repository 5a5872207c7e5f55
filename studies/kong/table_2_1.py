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
from studies.figures import COLOURS, figure, key
from studies.kong.hill import (
    BOTH_ENDS,
    METHODS,
    Method,
    Trials,
    ends,
    figure_regions,
    plan,
    reachable_shares,
    run_trials,
)
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
TREES = 5  # B-RRT paths in figure 2.2


@study("Kong, table 2.1", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the methods; with ``options.full``, as many trials as in the thesis."""
    trials = run_trials(options)
    places = np.array([ends(options.seed, trial) for trial in range(trials.count)])
    both_ends = run_trials(options, BOTH_ENDS) if options.full else None
    made = rows(trials, reachable_shares(places), both_ends)
    options.progress(trials.count, trials.count, "figures")
    gain = trials.values(1, "log_area_ratio") - trials.values(2, "log_area_ratio")
    example = int(np.argmax(np.nan_to_num(gain, nan=-np.inf)))  # where method 2 gains most
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
        *(Criterion(f"method {number}: {what}", made[number - 1][what], op, bound)
          for number, what, op, bound in REQUIRED),
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
    made = []
    for method in METHODS:
        number = method.number
        names = ("success", "seconds", "cpu_seconds", "build_seconds", "broken", "rough", "at_ends",
                 "log_area_ratio", "log_distance_ratio", "acceleration_cost")  # fmt: skip
        one = {name: trials.values(number, name) for name in names}
        kept = {name: one[name][np.isfinite(one[name])] for name in names[-3:]}
        mean = {f"{name}_mean": float(np.mean(v)) if len(v) else None for name, v in kept.items()}
        std = {f"{name}_std": float(np.std(v)) if len(v) else None for name, v in kept.items()}
        asked = both_ends if both_ends and number in both_ends.outcomes else None
        made.append({
            "method": method.label,
            "power": method.power,
            "success": 100.0 * float(np.mean(one["success"])),
            **{f"{name}_{what}": (mean | std)[f"{name}_{what}"]
               for name in names[-3:-1] for what in ("mean", "std")},
            "acceleration_cost": mean["acceleration_cost_mean"],
            "seconds": float(np.median(one["seconds"])),
            "number": number,
            "trials": trials.count,
            "successes": int(np.sum(one["success"])),
            "acceleration_cost_std": std["acceleration_cost_std"],
            "cpu_seconds": float(np.median(one["cpu_seconds"])),
            "seconds_mean": float(np.mean(one["seconds"])),
            "seconds_std": float(np.std(one["seconds"])),
            **{f"thesis_{name}": value for name, value in method.printed._asdict().items()},
            "build_seconds": float(np.max(one["build_seconds"])),
            **{name: int(np.sum(one[name])) for name in ("broken", "rough", "at_ends")},
            "reachable": reachable(method),
            "success_both_ends": None if asked is None
            else 100.0 * float(np.mean(asked.values(number, "success"))),
        })  # fmt: skip
    return made


def flow_figure(seed: int, trial: int) -> Figure:
    """Figure 2.1: four points about the start of the shortest and of the convergent path."""
    drawing, axes = figure(columns=2, width=9.0, height=3.4, sharex=True, sharey=True)
    for panel, number in zip(axes, (1, 2), strict=True):
        problem, path = plan(METHODS[number - 1], seed, trial)
        _map(panel)
        if path.ok:
            places = trace(problem, path, Uncertainty(4))
            panel.plot(*places.transpose(2, 0, 1), color=COLOURS["target"], lw=0.8)
            panel.plot(*path.positions.T, color=COLOURS["initial"], lw=1.6)
            panel.plot(*places[[0, -1]].reshape(-1, 2).T, "o", color="black", ms=2.5)
        panel.set_title(f"{METHODS[number - 1].label}{_ratios(problem, path)}", fontsize=9)
    return drawing


def example_figure(seed: int, trial: int) -> Figure:
    """Figure 2.2: the uncertainty of two paths; T-OPT beside B-RRT; and the powers of both."""
    drawing, axes = figure(columns=3, width=12.0, height=3.8)
    for number, style, name in ((1, "--", "shortest"), (2, "-", "optimal")):
        problem, path = plan(METHODS[number - 1], seed, trial)
        if path.ok:
            places, label = trace(problem, path), f"{name}{_ratios(problem, path)}"
            axes[0].plot(*path.positions.T, style, color=COLOURS["dxr"], lw=1.2, label=label)
            for points in (places[0], places[-1]):
                axes[0].fill(*points.T, fill=False, ls=style, ec="black")
    problem, path = plan(METHODS[1], seed, trial)
    trees = [plan(METHODS[2], seed, trial, repeat)[1] for repeat in range(TREES)]
    for each, colour, label, width in (
        *((tree, COLOURS["dxr"], "B-RRT" if tree is trees[0] else None, 0.6) for tree in trees),
        (path, COLOURS["initial"], "T-OPT", 1.6),
    ):
        if each.ok and len(each.powers):
            axes[1].plot(*each.positions.T, color=colour, lw=width, label=label)
            share = np.arange(len(each.powers)) / len(each.powers)
            axes[2].step(share, each.powers, where="post", color=colour, lw=width)
    square = problem.goal + problem.eta * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    axes[1].fill(*square.T, fill=False, ec="black", lw=1.0)
    axes[1].plot(*problem.start, "o", color="black", ms=3)
    for panel in axes[:2]:
        _map(panel)
        key(panel, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=7)
    axes[2].set(xlabel="share of the way's waypoints", ylabel="power p")
    return drawing


def area_figure(trials: Trials) -> Figure:
    """Log E_a of every success, and the middle half of each method's; the thesis's mean beside."""
    drawing, axes = figure(width=9.0, height=4.2)
    values = [trials.values(method.number, "log_area_ratio") for method in METHODS]
    kept, at = [each[np.isfinite(each)] for each in values], range(len(METHODS))
    axes.boxplot(kept, positions=at, widths=0.6, showmeans=True)
    axes.plot(at, [m.printed.log_area_ratio for m in METHODS], "x", color=COLOURS["dxr"],
              label="mean in Table 2.1")  # fmt: skip
    axes.axhline(0.0, color="black", lw=0.6)
    axes.set_xticks(at, [method.tick.replace(" ", "\n", 2) for method in METHODS], fontsize=6)
    axes.set(ylabel=r"$\log\,E_a$")
    key(axes)
    return drawing


def _map(axes: Any) -> None:
    """Elevation lines of the hill."""
    x, y = np.meshgrid(*(np.linspace(*bounds, 121)
                         for bounds in (SINE_HILL.x_bounds, SINE_HILL.y_bounds)))  # fmt: skip
    axes.contour(x, y, SINE_HILL.at(x, y).h, 18, colors="0.75", linewidths=0.5, zorder=0)
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")


def _ratios(problem: HillProblem, path: HillPath) -> str:
    if not path.ok:
        return f": {path.status}"
    evaluation = evaluate(problem, path)
    return f": $E_a$ = {evaluation.area_ratio:.2g}, $E_m$ = {evaluation.distance_ratio:.2g}"
