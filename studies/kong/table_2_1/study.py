"""Eleven planners on a hill, and how their paths shrink uncertainty.

Every path that a planner gives out is checked anew against what was asked before it counts as a
success. Means and deviations are over the successes of each method, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from studies.kong.table_2_1.contraction import figure_regions, reach_note
from studies.kong.table_2_1.figures import area_figure, example_figure, flow_figure
from studies.kong.table_2_1.methods import BOTH_ENDS, METHODS, Method, ends
from studies.kong.table_2_1.trials import Trials, run_trials
from studies.study import Criterion, StudyOptions, StudyResult, study

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


def notes(made: Sequence[MethodRow], trials: Trials, example: int) -> list[str]:
    """One line each."""
    building = [max(trials.values(m.number, "build_seconds")) for m in METHODS]
    return [
        _slow_note(made),
        *_broken(trials),
        f"Means and deviations (natural logarithms) are over the successes of a method in"
        f" {trials.count} random starts and goals; seconds is the median over all trials. thesis_*:"
        " Table 2.1. p is in [0, 2], and 1 in methods 1 and 9.",
        "Chosen, because the thesis does not print it: dt of T-OPT, on problems of seed 0;"
        " candidates, bias and iterations of the trees, so that they come near Table 2.1. More"
        " candidates make trees more convergent.",
        "seconds: wall-clock time of one plan, beside other plans on other cores; cpu_seconds: its"
        f" processor time. Building a trajectory optimisation takes up to {max(building):.1f} s"
        " more, once for all plans.",
        "The time step of a waypoint is dt = 1. J_accel falls with the number of waypoints, so it"
        " is comparable only between methods with similar steps.",
        "E_a is the area of the convex hull at the end over that of the polygon of 40 points, which"
        " is 0.4 % smaller than its circle.",
        f"Figures 2.1 and 2.2 show trial {example}, which has the largest gain of method 2 over"
        " method 1.",
    ]


def criteria(made: Sequence[MethodRow]) -> list[Criterion]:
    """Bounds on single methods, and on the slowest trajectory optimisation."""
    slowest = _slowest(made)
    return [
        *(Criterion(f"method {number}: {key}", getattr(made[number - 1], key), op, bound)
          for number, key, op, bound in REQUIRED),
        Criterion(f"median time of the slowest T-OPT [s], method {slowest.number}", slowest.seconds,
                  "<", LIMIT_S),
    ]  # fmt: skip


def _slowest(made: Sequence[MethodRow]) -> MethodRow:
    """The row of the trajectory optimisation that takes longest."""
    return max(
        (row for row, m in zip(made, METHODS, strict=True) if m.planner.startswith("T-OPT")),
        key=lambda row: row.seconds,
    )


def _slow_note(made: Sequence[MethodRow]) -> str:
    slowest = _slowest(made)
    return (
        f"Slowest T-OPT: method {slowest.number}, median time {slowest.seconds:.2g} s, processor"
        f" time {slowest.cpu_seconds:.2g} s."
    )


def reach_notes(seed: int, trials: Trials, both_ends: Trials | None) -> list[str]:
    """How often the constraint at the waypoints also holds between them.

    Args:
        seed: of the trials.
        trials: of all methods.
        both_ends: trials of ``BOTH_ENDS``, if there were any.
    """
    lines = []
    for method in (m for m in METHODS if m.convergence != "none"):
        outcomes = trials.outcomes[method.number]
        won, held = (sum(getattr(one, key) for one in outcomes) for key in ("success", "at_ends"))
        lines.append(f"{held} of {won} of method {method.number}")
    notes_ = [
        "The constraint holds at the start of each step, as in the thesis. Paths that also satisfy"
        f" it at the end of each step: {', '.join(lines)}."
    ]
    if both_ends is not None:
        notes_.append(f"With the constraint at both ends of a step, T-OPT"
                      f" {_both(trials, both_ends)}.")
    places = np.array([ends(seed, trial) for trial in range(trials.count)])
    eta = METHODS[0].problem(*places[0]).eta
    return [*notes_, reach_note(places[:, 0], places[:, 1], eta)]


def _both(trials: Trials, both_ends: Trials) -> str:
    texts = []
    for method in BOTH_ENDS:
        shares = (
            100.0 * float(np.mean(each.values(method.number, "success")))
            for each in (both_ends, trials)
        )
        texts.append("method {} has a success rate of {:.3g} % instead of {:.3g} %".format(
            method.number, *shares))  # fmt: skip
    return ", ".join(texts)


def _broken(trials: Trials) -> list[str]:
    lines = []
    for method in METHODS:
        outcomes = trials.outcomes[method.number]
        broken = [one.broken for one in outcomes if one.broken]
        rough = sum(one.rough for one in outcomes)
        if broken:
            lines.append(
                f"Method {method.number}: {len(broken)} paths violate their constraint and count as"
                f" failures; the first: {broken[0]}."
            )
        if rough:
            lines.append(
                f"Method {method.number}: {rough} evaluations have an error above 1e-6, or a point"
                " on level ground."
            )
    return lines


@study("Kong, table 2.1", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the methods; with ``options.full``, as many trials as in the thesis."""
    trials = run_trials(options)
    made = rows(trials)
    both_ends = run_trials(options, BOTH_ENDS) if options.full else None
    options.progress(trials.count, trials.count, "figures")
    example = most_gained(trials)
    figures = {
        "figure-2.1": flow_figure(options.seed, example),
        "figure-2.2": example_figure(options.seed, example),
        "log-area-ratios": area_figure(trials),
        "contraction-regions": figure_regions(),
    }
    lines = [*notes(made, trials, example), *reach_notes(options.seed, trials, both_ends)]
    return StudyResult(made, figures, lines, SHOWN, digits=3, criteria=criteria(made))


def rows(trials: Trials) -> list[MethodRow]:
    """A row for each method; means and deviations are None without a success."""
    return [_row(method, trials) for method in METHODS]


@dataclass(frozen=True)
class MethodRow:
    """One method; means and deviations are None without a success."""

    method: str
    power: str
    success: float
    log_area_ratio_mean: float | None
    log_area_ratio_std: float | None
    log_distance_ratio_mean: float | None
    log_distance_ratio_std: float | None
    acceleration_cost: float | None
    seconds: float
    number: int
    trials: int
    successes: int
    acceleration_cost_std: float | None
    cpu_seconds: float
    seconds_mean: float
    seconds_std: float
    thesis_success: float
    thesis_log_area_ratio: float
    thesis_log_distance_ratio: float
    thesis_acceleration_cost: float
    thesis_seconds: float


def _row(method: Method, trials: Trials) -> MethodRow:
    number = method.number
    won, seconds = trials.values(number, "success") > 0, trials.values(number, "seconds")
    areas, distances, costs, cpu_seconds = (
        trials.values(number, key)
        for key in ("log_area_ratio", "log_distance_ratio", "acceleration_cost", "cpu_seconds")
    )
    return MethodRow(
        method=method.label,
        power=method.power,
        success=100.0 * float(np.mean(won)),
        log_area_ratio_mean=_mean(areas),
        log_area_ratio_std=_deviation(areas),
        log_distance_ratio_mean=_mean(distances),
        log_distance_ratio_std=_deviation(distances),
        acceleration_cost=_mean(costs),
        seconds=float(np.median(seconds)),
        number=number,
        trials=trials.count,
        successes=int(np.sum(won)),
        acceleration_cost_std=_deviation(costs),
        cpu_seconds=float(np.median(cpu_seconds)),
        seconds_mean=float(np.mean(seconds)),
        seconds_std=float(np.std(seconds)),
        **{f"thesis_{name}": value for name, value in method.printed._asdict().items()},
    )


def _mean(values: np.ndarray) -> float | None:
    kept = values[np.isfinite(values)]
    return float(np.mean(kept)) if len(kept) else None


def _deviation(values: np.ndarray) -> float | None:
    kept = values[np.isfinite(values)]
    return float(np.std(kept)) if len(kept) else None


def most_gained(trials: Trials) -> int:
    """The trial in which method 2's log E_a is the farthest below the shortest path's."""
    gain = trials.values(1, "log_area_ratio") - trials.values(2, "log_area_ratio")
    return int(np.argmax(np.nan_to_num(gain, nan=-np.inf)))
