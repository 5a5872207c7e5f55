"""The figure of the study of latency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from saltus.configuration.planners import entry_of, in_order
from studies.figures import figure

_MARKS = {"hilqr": ("o", 4.0), "convex_mpc": ("s", 7.0), "instant_qp": ("^", 10.0)}
# The first lies on top: where points fall together all are to be seen.
_NAN = float("nan")


def latency_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Success and deviation against the duration of a solve, a line of panels for a condition."""
    conditions = list(dict.fromkeys(row["condition"] for row in rows))
    drawing, axes = figure(
        columns=2, rows=len(conditions), width=9.0, height=0.4 + 2.9 * len(conditions),
        squeeze=False, sharex=True, sharey="col",
    )  # fmt: skip
    for panels, condition in zip(axes, conditions, strict=True):
        of_condition = [row for row in rows if row["condition"] == condition]
        for planner in reversed(in_order({row["planner"] for row in of_condition})):
            _draw(panels, planner, [row for row in of_condition if row["planner"] == planner])
        panels[0].set(ylabel="success rate [%]", ylim=(-4.0, 104.0))
        panels[1].set(ylabel="mean peak lateral\ndeviation [m]")
        panels[1].set_ylim(bottom=0.0)
        if len(conditions) > 1:
            panels[0].set_title(condition, loc="left", fontsize=10)
    for panel in axes[-1]:
        panel.set(xlabel="duration of a solve [ms]")
    _explain(drawing, axes[0][0])
    return drawing


def _draw(panels: Sequence[Any], planner: str, rows: Sequence[dict[str, Any]]) -> None:
    """One planner's lines, and the interval of its rate."""
    entry = entry_of(planner)
    name, colour = entry.label, entry.colour
    times = [row["solve_ms"] for row in rows]
    rates = [100.0 * row["success"] / row["trials"] if row["trials"] else _NAN for row in rows]
    low = [100.0 * row["success_low"] for row in rows]
    high = [100.0 * row["success_high"] for row in rows]
    aside = [row["mean_max_lateral_deviation_m"] for row in rows]
    marker, size = _MARKS.get(planner, ("D", 5.0))
    style = {"color": colour, "marker": marker, "markersize": size, "label": name}
    band = {"facecolor": (colour, 0.12), "edgecolor": (colour, 0.6), "linewidth": 0.6}
    panels[0].fill_between(times, low, high, **band)
    panels[0].plot(times, rates, **style)
    panels[1].plot(times, [_NAN if each is None else each for each in aside], **style)


def _explain(drawing: Figure, panel: Any) -> None:
    """Above the panels, where no line can be: the planners, in the order of the tables."""
    handles, names = panel.get_legend_handles_labels()
    drawing.legend(handles[::-1], names[::-1], loc="outside upper center", ncols=len(names),
                frameon=False, fontsize=9)  # fmt: skip
