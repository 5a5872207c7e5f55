"""Eleven planners on a hill, and how their paths shrink uncertainty.

Every path that a planner gives out is checked anew against what was asked before it counts as a
success. Means and deviations (natural logarithms) are over the successes of each method, as in the
thesis; thesis_* is Table 2.1. p is in [0, 2], and 1 in methods 1 and 9.

seconds is the median wall-clock time of one plan, beside other plans on other cores, without that
of building its trajectory optimisation, once for all plans. broken counts paths that violate their
constraint (failures), rough evaluations with an error above 1e-6 or a point on level ground.

The constraint holds at the start of each step, as in the thesis; at_ends counts paths that satisfy
it at the end of each step too. reachable is the share of starts and goals that a grid search joins
by paths with the constraint everywhere: a planner with more successes steps over places where no
heading converges.

Chosen, because the thesis does not print it: dt of T-OPT, on problems of seed 0; candidates, bias
and iterations of the trees, so that they come near Table 2.1. More candidates make trees more
convergent. The time step of a waypoint is dt = 1. J_accel falls with the number of waypoints, so it
is comparable only between methods with similar steps. E_a is the area of the convex hull at the
end over that of the polygon of 40 points, which is 0.4 % smaller than its circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from saltation.convergent.evaluation import Uncertainty, trace
from saltation.convergent.hill import SINE_HILL
from studies.figures import Panel, Styled, draw
from studies.kong.hill import (
    METHODS,
    ONE,
    Trials,
    ends,
    plan,
    reachable_shares,
    run_trials,
)
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

LIMIT_S = 2.0  # median time of a T-OPT solve
REQUIRED = (
    (2, "success", ">=", 100.0),
    (2, "log_area_ratio_mean", "<=", -3.3),
    (8, "success", ">=", 92.5),
    (8, "log_area_ratio_mean", "<=", -4.2),
    (5, "success", ">", 4.5),
)  # method, key, relation, bound
TREES = 5  # B-RRT paths in figure 2.2


@study("Kong, table 2.1", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the methods; with ``options.full``, as many trials as in the thesis."""
    trials, seed = run_trials(options), options.seed
    gain = trials[1]["log_area_ratio"] - trials[2]["log_area_ratio"]
    places = np.array([ends(seed, trial) for trial in range(len(gain))])
    made = rows(trials, reachable_shares(places))
    example = int(np.argmax(np.nan_to_num(gain, nan=-np.inf)))  # where method 2 gains most
    figures = {"figure-2.1": figure_2_1(seed, example), "figure-2.2": figure_2_2(seed, example)}
    columns = (
        "method, success=success [%], thesis_success=thesis, log_area_ratio_mean=log E_a,"
        " log_area_ratio_std=std, thesis_log_area_ratio_mean=thesis log E_a,"
        " log_distance_ratio_mean=log E_m, acceleration_cost=J_accel, seconds=time [s]"
    )
    return StudyResult(made, figures, columns, criteria(made))


def criteria(made: Sequence[Row]) -> list[Criterion]:
    """Bounds on single methods, and on the slowest trajectory optimisation."""
    slowest = max((row for row in made if "T-OPT" in row["method"]), key=lambda row: row["seconds"])
    what = f"median time of the slowest T-OPT [s], method {slowest['number']}"
    return [
        *(Criterion(f"method {number}: {what}", made[number - 1][what], op, bound)
          for number, what, op, bound in REQUIRED),
        Criterion(what, slowest["seconds"], "<", LIMIT_S)
    ]  # fmt: skip


def rows(trials: Trials, reachable: Mapping[int, float] = {}) -> list[Row]:
    """A row for each method; means and deviations are None without a success.

    ``reachable`` is the share [%] of the trials that a convergent path can solve at all, by method.
    """
    made = []
    for method in METHODS:
        number = method.number
        one = trials[number]
        row: Row = {
            "method": method.label,
            "power": "1" if method.powers == ONE else "[0, 2]",
            "success": 100.0 * np.mean(one["success"]),
        }
        for name in ("log_area_ratio", "log_distance_ratio", "acceleration_cost"):
            kept = one[name][np.isfinite(one[name])]
            row[f"{name}_mean"] = np.mean(kept) if len(kept) else None
            row[f"{name}_std"] = np.std(kept) if len(kept) else None
        made.append(row | {
            "acceleration_cost": row.pop("acceleration_cost_mean"),
            "seconds": np.median(one["seconds"]),
            "number": number,
            "trials": len(one["success"]),
            "successes": int(np.sum(one["success"])),
            **{name: int(np.sum(one[name])) for name in ("broken", "rough", "at_ends")},
            "reachable": reachable.get(number)
        })  # fmt: skip
    return made


def figure_2_1(seed: int, trial: int) -> Figure:
    """Four points about the start of the shortest and of the convergent path."""
    panels = []
    for method in METHODS[:2]:
        problem, path = plan(method, seed, trial)
        curves: Row = {}
        if path.ok:
            places = trace(problem, path, Uncertainty(4))
            curves |= {"four points": Styled(places.swapaxes(0, 1), {"linewidth": 0.8}),
                       "path": path.positions}  # fmt: skip
        panels.append(_map(curves, method.label))
    return _on_hill(draw(*panels))


def figure_2_2(seed: int, trial: int) -> Figure:
    """The uncertainty of two paths; T-OPT beside B-RRT; and the powers of both."""
    flows: Row = {}
    for method in METHODS[:2]:
        problem, path = plan(method, seed, trial)
        if path.ok:
            places = trace(problem, path)
            flows[method.label] = path.positions
            flows[f"_{method.label}"] = Styled(places[[0, -1]], {"color": "black"})
    found = {
        "T-OPT": [plan(METHODS[1], seed, trial)[1]],
        "B-RRT": [plan(METHODS[2], seed, trial, repeat)[1] for repeat in range(TREES)],
    }
    ways, powers = dict[str, Any](), dict[str, Any]()
    for name, paths in found.items():
        if kept := [each for each in paths if each.ok and len(each.powers)]:
            ways[name] = [each.positions for each in kept]
            powers[name] = [np.stack((np.linspace(0.0, 1.0, len(each.powers)), each.powers), axis=1)
                            for each in kept]  # fmt: skip
    made = draw(_map(flows), _map(ways), Panel(powers, "share of the waypoints", "power p"))
    return _on_hill(made)


def _map(curves: Row, title: str = "") -> Panel:
    return Panel(curves, "x [m]", "y [m]", settings={"aspect": "equal", "title": title})


def _on_hill(made: Figure) -> Figure:
    """Draw elevation lines of the hill below the first two panels."""
    x, y = (np.linspace(*bounds, 121) for bounds in (SINE_HILL.x_bounds, SINE_HILL.y_bounds))
    height = SINE_HILL.at(*np.meshgrid(x, y)).h
    for axis in made.axes[:2]:
        axis.contour(x, y, height, 18, colors="0.75", linewidths=0.5, zorder=0)
    return made
