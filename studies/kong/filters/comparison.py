"""SKF against JRKF on the same trials: mean squared errors (4.24) and the sign test (4.6.1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import binom

from hybrid.filters.salted import Sensitivity
from hybrid.systems import Array, System
from studies.figures import figure
from studies.kong.filters.coordinates import CoordinatesByMode, common
from studies.kong.filters.problems import Level, Problem
from studies.kong.filters.trials import Estimates, estimate_trials
from studies.kong.filters.truths import Truths, simulate_truths
from studies.study import Criterion, StudyOptions, StudyResult

FILTERS: Mapping[str, Sensitivity] = {"skf": "saltation", "jrkf": "reset"}
SIGNIFICANT = 0.05  # 4.7.1
THREADS = min(8, os.cpu_count() or 1)  # results do not depend on it
_LOOKS = {
    "skf": {"color": "tab:blue", "linestyle": "-", "linewidth": 1.4, "label": "SKF"},
    "jrkf": {"color": "tab:red", "linestyle": ":", "linewidth": 1.6, "label": "JRKF"},
}
_SHADE = {"color": "0.88", "linewidth": 0.0, "zorder": 0}


class Drawing(NamedTuple):
    """Coordinates that are drawn, each beside a component of the measurement."""

    labels: Sequence[str]
    coordinates: Sequence[int]  # indices, in the order of the measurement


class Comparison(NamedTuple):
    """The trials of one set, and what each filter made of them."""

    problem: Problem
    truths: Truths
    estimates: Mapping[str, Estimates]
    errors: Mapping[str, Array]  # (B, K) squared, of every timestep

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Trials that the simulation and both filters reached the end of (B,)."""
        complete = self.truths.ok
        for one in self.estimates.values():
            complete = complete & one.ok
        return complete

    def mse(self, name: str) -> Array:
        """MSE (4.24) of a filter, of each complete trial."""
        return self.errors[name][self.complete].mean(axis=1)

    def row(self) -> dict[str, Any]:
        """The set's row; ``better`` is the filter that the sign test finds, or "tie".

        ``lost`` are the trials in which the simulation or a filter did not reach the end.
        """
        skf, jrkf = self.mse("skf"), self.mse("jrkf")
        p, better = verdict(skf, jrkf)
        return self.problem.level._asdict() | {
            "mse_skf": float(np.mean(skf)) if len(skf) else None,
            "mse_jrkf": float(np.mean(jrkf)) if len(jrkf) else None,
            "p_value": p,
            "better": {"first": "skf", "second": "jrkf"}.get(better, better),
            "lost": int(np.sum(~self.complete)),
        }


def compare_all(
    levels: Sequence[Level],
    shown: Level,
    drawing: Drawing,
    make: Callable[[Level, int, int], Problem],
    options: StudyOptions,
    trials: int,
) -> StudyResult:
    """Compare the filters on every set: a row a set, one trial, and a map of the ratio of errors.

    Args:
        levels: of the sets.
        shown: the set of the figure.
        drawing: what it shows.
        make: gives the problem of (level, trials, seed).
        options: of the study.
        trials: of each set, where the user gives no other number.
    """
    if shown not in levels:
        raise ValueError(f"the set to draw, {shown}, is not among those compared: add it")
    rows, figures = [], {}
    for i, level in enumerate(options.track(levels)):
        start, noise = np.random.SeedSequence([options.seed, i]).generate_state(2)
        one = compare(make(level, options.count(trials), int(start)), int(noise))
        rows.append(one.row())
        if level == shown:
            figures["trial"] = draw_trial(one, drawing)
    worse = sum(row["better"] == "jrkf" for row in rows) / len(rows)
    criteria = [Criterion("share of sets in which the JRKF is better", worse, "<=", SIGNIFICANT)]
    return StudyResult(rows, figures | {"errors": draw_grid(rows)}, criteria=criteria)


def compare(problem: Problem, seed: int) -> Comparison:
    """Simulate a set's trials and filter them by both."""
    model, dt, u = problem.model, problem.level.dt, np.zeros(problem.model.system.input_dim)
    mode = problem.start.mode
    truths = simulate_truths(model, mode, problem.states, dt, problem.steps, seed, u, THREADS)
    estimates = {
        name: estimate_trials(model, problem.start, truths.measurements, dt, how, u, THREADS)
        for name, how in FILTERS.items()
    }
    errors = {
        name: squared_errors(model.system, truths, one, problem.coordinates)
        for name, one in estimates.items()
    }
    return Comparison(problem, truths, estimates, errors)


def sign_test(a: Array, b: Array) -> float:
    """Two-sided p-value of the hypothesis that a - b has the median zero; ties are dropped.

    Dixon and Mood (1946): under it the smaller count of signs is below what it is with that
    probability, as of a binomial distribution of one half.
    """
    fewer, more = sorted((int(np.sum(a < b)), int(np.sum(a > b))))
    return float(min(1.0, 2.0 * binom.cdf(fewer, fewer + more, 0.5)))


def verdict(a: Array, b: Array) -> tuple[float, str]:
    """p-value of the sign test, and whose errors are smaller: "first", "second" or a "tie"."""
    p = sign_test(a, b)
    won = "first" if np.sum(a < b) > np.sum(a > b) else "second"
    return p, won if p < SIGNIFICANT else "tie"


def squared_errors(
    system: System,
    truths: Truths,
    estimates: Estimates,
    coordinates: CoordinatesByMode | None = None,
) -> Array:
    """|x(t_k) - x^(t_k)|^2 (B, K) of every timestep, whose mean is the MSE (4.24).

    Args:
        system: the hybrid system.
        truths: the trials.
        estimates: of the same trials.
        coordinates: functions (t, x, u) of each mode's states, into coordinates that all modes
            share; left out, the states themselves.
    """
    truth = common(system, truths.modes, truths.states, coordinates)
    estimate = common(system, estimates.modes, estimates.means, coordinates)
    return np.sum((truth - estimate)[:, 1:] ** 2, axis=-1)


def draw_trial(one: Comparison, drawing: Drawing) -> Figure:
    """One trial above, mean absolute errors of all below; grey in the second mode."""
    columns, problem = len(drawing.labels), one.problem
    made, axes = figure(columns, 2, width=2.2 * columns + 2.0, height=4.4, sharex=True)
    times = np.linspace(0.0, problem.level.dt * problem.steps, problem.steps + 1)
    system, complete = problem.model.system, one.complete
    truth = common(system, one.truths.modes, one.truths.states, problem.coordinates)
    first = int(np.argmax(complete))
    after = (one.truths.modes != problem.start.mode)[complete]
    for i, (label, coordinate) in enumerate(zip(drawing.labels, drawing.coordinates, strict=True)):
        top, bottom = axes[0, i], axes[1, i]
        _shade(top, times, after[0])
        _shade(bottom, times, after.mean(axis=0) > 0.5)
        top.plot(times[1:], one.truths.measurements[first, :, i], ".", color="tab:green",
                 markersize=2.0, label="measured")  # fmt: skip
        top.plot(times, truth[first, :, coordinate], color="black", linewidth=1.2, label="truth")
        for name, estimates in one.estimates.items():
            found = common(system, estimates.modes, estimates.means, problem.coordinates)
            error = np.abs(found - truth)[complete, :, coordinate].mean(axis=0)
            bottom.plot(times, error, **_LOOKS[name])
        top.set_title(label)
        bottom.set(xlabel="$t$ [s]", ylim=(0.0, None))
    axes[0, 0].set_ylabel("one trial")
    axes[1, 0].set_ylabel("mean absolute error")
    for row in axes[:, 0]:
        row.legend(fontsize=7, frameon=False, loc="best")
    return made


def _shade(axes: Any, times: Array, inside: Array) -> None:
    """Grey wherever a condition holds on the timestep's end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], inside.astype(int), [0]))))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        axes.axvspan(times[start], times[min(end, len(times) - 1)], **_SHADE)


def draw_grid(rows: Sequence[dict[str, Any]]) -> Figure:
    """MSE of the JRKF over that of the SKF, a panel a timestep; marked where not better."""
    axis = {key: sorted({row[key] for row in rows}, reverse=True)
            for key in ("dt", "process", "measurement")}  # fmt: skip
    panels, shape = len(axis["dt"]), (len(axis["process"]), len(axis["measurement"]))
    made, axes = figure(panels, width=2.6 * panels + 1.0, height=2.9, sharey=True, squeeze=False)
    ratios = np.full((panels, *shape), np.nan)
    for row in rows:
        at = tuple(axis[key].index(row[key]) for key in axis)
        ratios[at] = (row["mse_jrkf"] or np.nan) / (row["mse_skf"] or np.nan)
        star = {"skf": "", "tie": "\n(tie)"}.get(row["better"], "\n(!)")
        axes[0, at[0]].text(at[2], at[1], f"{ratios[at]:.2f}{star}", fontsize=7, ha="center",
                            va="center")  # fmt: skip
    high = max(1.01, float(np.nanmax(ratios)))
    for panel, (dt, ratio) in enumerate(zip(axis["dt"], ratios, strict=True)):
        colours = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.6 * np.log(high)}
        axes[0, panel].imshow(np.log(ratio), aspect="auto", **colours)
        axes[0, panel].set(title=rf"$\Delta$ = {dt:g} s", xlabel=r"$\|V\|$")
        axes[0, panel].set_xticks(range(shape[1]), [f"{v:g}" for v in axis["measurement"]])
    axes[0, 0].set_yticks(range(shape[0]), [f"{q:g}" for q in axis["process"]])
    axes[0, 0].set_ylabel(r"$\|W\| / \Delta^2$")
    made.suptitle("MSE of the JRKF over MSE of the SKF", fontsize=10)
    return made
