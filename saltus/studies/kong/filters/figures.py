"""Figures 4.3 and 4.5, and a map of how much smaller the SKF's error is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from hybrid.systems import Array
from saltus.studies.kong.filters.comparison import Comparison
from saltus.studies.kong.filters.coordinates import common
from saltus.studies.style import figure

_LOOKS = {
    "skf": {"color": "tab:blue", "linestyle": "-", "linewidth": 1.4, "label": "SKF"},
    "jrkf": {"color": "tab:red", "linestyle": ":", "linewidth": 1.6, "label": "JRKF"},
}
_SHADE = {"color": "0.88", "linewidth": 0.0, "zorder": 0}


class Drawing(NamedTuple):
    """Coordinates that are drawn, each beside a component of the measurement."""

    labels: Sequence[str]
    coordinates: Sequence[int]  # indices, in the order of the measurement


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


def draw_grid(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """MSE of the JRKF over that of the SKF, a panel a timestep; marked where not better."""
    axis = {key: sorted({row[key] for row in rows}, reverse=True)
            for key in ("dt", "process", "measurement")}  # fmt: skip
    panels, shape = len(axis["dt"]), (len(axis["process"]), len(axis["measurement"]))
    made, axes = figure(panels, width=2.6 * panels + 1.0, height=2.9, sharey=True, squeeze=False)
    ratios = np.full((panels, *shape), np.nan)
    for row in rows:
        at = tuple(axis[key].index(row[key]) for key in axis)
        ratios[at] = row["mse_jrkf"] / row["mse_skf"]
        star = "" if row["better"] == "skf" else "\n(tie)" if row["better"] == "tie" else "\n(!)"
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
