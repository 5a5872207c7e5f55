"""Table 2.1: eleven planners on a hill, and what their paths do to uncertainty (2.4).

Every path that a planner gives out is checked anew against what was asked before it counts as a
success. Means and deviations are over the successes of each method, as in the thesis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from saltus.studies.engine import StudyOptions, StudyResult
from saltus.studies.kong.table_2_1.contraction_figure import figure_regions
from saltus.studies.kong.table_2_1.figures import area_figure, example_figure, flow_figure
from saltus.studies.kong.table_2_1.methods import BOTH_ENDS, METHODS, Method
from saltus.studies.kong.table_2_1.notes import criteria, notes, reach_notes
from saltus.studies.kong.table_2_1.trials import Trials, run_trials

SHOWN = {
    "method": "method",
    "success": "S [%]",
    "thesis_success": "thesis S",
    "log_area_ratio_mean": "log E_a",
    "log_area_ratio_std": "std",
    "thesis_log_area_ratio": "thesis log E_a",
    "log_distance_ratio_mean": "log E_m",
    "acceleration_cost": "J_accel",
    "seconds": "s",
}  # keys in the table for a person, and their headings


def run(options: StudyOptions) -> StudyResult:
    """Rows: the methods; with ``options.full``, as many trials as in the thesis."""
    trials = run_trials(options)
    made = rows(trials)
    asked_twice = run_trials(options, BOTH_ENDS) if options.full else None
    options.progress(trials.count, trials.count, "figures")
    example = most_gained(trials)
    figures = {
        "figure-2.1": flow_figure(options.seed, example),
        "figure-2.2": example_figure(options.seed, example),
        "log-area-ratios": area_figure(trials),
        "contraction-regions": figure_regions(),
    }
    lines = [*notes(made, trials, example), *reach_notes(options.seed, trials, asked_twice)]
    return StudyResult(made, figures, lines, SHOWN, digits=3, criteria=criteria(made))


def rows(trials: Trials) -> list[dict[str, Any]]:
    """A row for each method; means and deviations are None without a success."""
    return [_row(method, trials) for method in METHODS]


def _row(method: Method, trials: Trials) -> dict[str, Any]:
    number = method.number
    won, seconds = trials.values(number, "success") > 0, trials.values(number, "seconds")
    found: dict[str, Any] = {
        "method": method.label,
        "power": method.power,
        "success": 100.0 * float(np.mean(won)),
    }
    for name in ("log_area_ratio", "log_distance_ratio"):
        values = trials.values(number, name)
        found |= {f"{name}_mean": _mean(values), f"{name}_std": _deviation(values)}
    costs = trials.values(number, "acceleration_cost")
    found |= {"acceleration_cost": _mean(costs), "seconds": float(np.median(seconds))}
    found |= {"number": number, "trials": trials.count, "successes": int(np.sum(won))}
    found |= {"acceleration_cost_std": _deviation(costs)}
    found["cpu_seconds"] = float(np.median(trials.values(number, "cpu_seconds")))
    found |= {"seconds_mean": float(np.mean(seconds)), "seconds_std": float(np.std(seconds))}
    printed = method.printed._asdict()
    return found | {f"thesis_{name}": value for name, value in printed.items()}


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
