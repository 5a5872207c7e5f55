"""What the candidates of the first line search after a push cost (Fig. 6.2)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from saltus.common.figures import figure
from saltus.configuration.planners import entry_of
from saltus.report.html import Html, note, section
from saltus.report.pictures import Panel, drawn, side_by_side
from saltus.report.subject import Array, Subject, TrialRecord

CAPTION = (
    "Cost of every candidate of the first forward pass after the push, by step size; the ring is "
    "the least one, which the planner takes if it is better than what it has. Crosses on top are "
    "candidates that diverged or were not tried, the grey line is the trajectory before the step. "
    "The cost jumps because the candidates step in different contact sequences (thesis: Fig. 6.2, "
    "where a search one by one would have taken 12 steps)."
)
GREY = "0.45"
STEEP = 5.0  # most over least cost from which the axis is logarithmic


def line_search_section(subject: Subject, shown: list[TrialRecord]) -> Html:
    """The part of the page about line searches.

    Args:
        subject: of the report.
        shown: trials to draw, where they have a search.
    """
    title = "Cost by step size"
    panels = [_panel(trial) for trial in shown if has_search(trial)]
    if panels:
        return section(title, side_by_side(panels, CAPTION))
    if any(trial.planner == "hilqr" for trial in subject.trials):
        return section(title, note(
            "No line search after a perturbation was recorded: the robot was not disturbed, or the "
            "recording is of an older version. Record it again to see one."
        ))  # fmt: skip
    return section(title, note("None of these planners searches a line."))


def has_search(trial: TrialRecord) -> bool:
    """Whether its trace holds a line search."""
    return trial.trace is not None and trial.trace.costs.size > 0


def _panel(trial: TrialRecord) -> Panel:
    assert trial.trace is not None
    sizes, costs = trial.trace.step_sizes, trial.trace.costs[0]
    entry = entry_of(trial.planner)
    name, colour = entry.label, entry.colour
    made, axes = figure(width=4.4, height=2.8)
    _draw(axes, sizes, costs, colour)
    axes.set_title(f"{name}, trial {trial.row['trial']}", loc="left", color=colour)
    diverged = int(np.sum(~np.isfinite(costs)))
    alt = f"Cost of {len(costs)} candidates by step size, {diverged} of them diverged"
    return drawn(made, alt)


def _draw(axes: Axes, sizes: Array, costs: Array, colour: str) -> None:
    """Cost (C,) against step size (C,), which is 0 for the trajectory before the step."""
    own, fine = sizes <= 0.0, np.isfinite(costs)
    order = np.argsort(sizes)
    line = [i for i in order if fine[i] and not own[i]]
    axes.plot(sizes[line], costs[line], "o-", color=colour, linewidth=0.8, markersize=4)
    for cost in costs[own & fine]:
        axes.axhline(cost, color=GREY, linestyle=":", linewidth=1.2)
    top = axes.get_xaxis_transform()  # so high whatever the costs
    axes.plot(sizes[~fine & ~own], np.full(int(np.sum(~fine & ~own)), 0.97), "x", color="black",
              transform=top, clip_on=False)  # fmt: skip
    if fine.any():
        _mark_least(axes, sizes, costs)
    axes.set_xscale("log")
    if fine.any() and costs[fine].max() > STEEP * max(costs[fine].min(), 1e-12):
        axes.set_yscale("log")
    axes.set_xlabel("step size")
    axes.set_ylabel("cost")
    axes.legend(handles=_legend(colour, bool((own & fine).any())), fontsize=7, frameon=False)


def _mark_least(axes: Axes, sizes: Array, costs: Array) -> None:
    best = int(np.argmin(costs))
    at = sizes[best] if sizes[best] > 0.0 else sizes[sizes > 0.0].min(initial=1.0)
    axes.plot(at, costs[best], "o", color="black", markersize=11, fillstyle="none")


def _legend(colour: str, with_start: bool) -> list[Line2D]:
    handles = [
        Line2D([], [], marker="o", color=colour, markersize=4, label="candidate"),
        Line2D([], [], marker="o", color="black", linestyle="none", markersize=9, fillstyle="none",
               label="least"),
        Line2D([], [], marker="x", color="black", linestyle="none", label="diverged or not tried"),
    ]  # fmt: skip
    if with_start:
        handles.append(Line2D([], [], color=GREY, linestyle=":", label="before the step"))
    return handles
