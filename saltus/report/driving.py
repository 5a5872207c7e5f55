"""How a driven robot followed its commands: its velocity over time, and the measures of driving."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from controller.gaits import GAITS
from saltus.common.figures import figure
from saltus.configuration.planners import entry_of
from saltus.metrics.run import DRIVING_MEASURES
from saltus.report.html import Html, note, section, table, tag
from saltus.report.lateral import has_states
from saltus.report.outcomes import Cell, cells
from saltus.report.pictures import Panel, drawn, image
from saltus.report.subject import Array, Subject, TrialRecord
from saltus.trace import Trace

NONE = "–"
AXES = ("forward [m/s]", "left [m/s]", "yaw rate [rad/s]")
CAPTION = (
    "Velocity of the base in its heading, and yaw rate: dashed what was commanded, within the "
    "limits of the gait; in colour what the robot did. Below, the gait commanded. A grey line is "
    "where a perturbation began."
)
HEAD = ["Condition", "Planner", "Velocity error [m/s]", "Yaw rate error [rad/s]",
        "Cost of transport", "Slip [m]", "Distance [m]"]  # fmt: skip
MEASURES = (
    "Means over the successful trials. Velocity and yaw rate: root mean square of true against "
    "commanded, of means over half a second, without the first second after each change. Cost of "
    "transport: positive work of the motors by weight and distance. Slip: of all feet on the "
    "ground."
)
DIGITS = (3, 3, 2, 2, 1)


def driving_section(subject: Subject, shown: list[TrialRecord]) -> Html | None:
    """The part of the page about commands; None where no robot was driven.

    Args:
        subject: of the report.
        shown: trials to draw, one per planner.
    """
    driven = [trial for trial in subject.trials if trial.is_driven]
    if not driven:
        return None
    drawable = [trial for trial in shown if trial.is_driven and has_states(trial)]
    parts: list[Html] = [
        tag("figure", image(_panel(trial, trial.trace)), tag("figcaption", _name(trial)))
        for trial in drawable if trial.trace is not None and len(trial.trace.goals)
    ]  # fmt: skip
    rows = [[cell.condition.words, entry_of(cell.planner).label, *_means(cell)]
            for cell in cells(subject, driven)]  # fmt: skip
    title = "Commanded and true velocity"
    return section(
        title, note(CAPTION) if parts else None, *parts, table(HEAD, rows, MEASURES, words=2)
    )


def base_motion(trace: Trace) -> Array:
    """Velocity forward and left [m/s] and yaw rate [rad/s] (T, 3) of the base, from its path."""
    q = trace.q
    yaw = np.unwrap(np.arctan2(
        2.0 * (q[:, 6] * q[:, 5] + q[:, 3] * q[:, 4]),
        1.0 - 2.0 * (q[:, 4] ** 2 + q[:, 5] ** 2),
    ))  # fmt: skip
    x, y, rate = np.gradient(np.column_stack((q[:, :2], yaw)), trace.time, axis=0).T
    c, s = np.cos(yaw), np.sin(yaw)
    return np.column_stack((c * x + s * y, c * y - s * x, rate))


def _name(trial: TrialRecord) -> str:
    group = f" ({trial.group})" if trial.group else ""
    return f"{entry_of(trial.planner).label}, trial {trial.row['trial']}{group}"


def _means(cell: Cell) -> list[str]:
    texts = []
    for key, digits in zip(DRIVING_MEASURES, DIGITS, strict=True):
        values: list[Any] = [trial.row.get(key) for trial in cell.upright]
        known = [value for value in values if value is not None]
        texts.append(f"{np.mean(known):.{digits}f}" if known else NONE)
    return texts


def _panel(trial: TrialRecord, trace: Trace) -> Panel:
    """The three velocities and the gait above each other, on one axis of time."""
    entry = entry_of(trial.planner)
    name, colour = entry.label, entry.colour
    made, axes = figure(
        rows=4, width=7.2, height=5.4, sharex=True, gridspec_kw={"height_ratios": (3, 3, 3, 1)}
    )
    motion, goals = base_motion(trace), trace.goals
    since = np.append(goals[:, 0], trace.time[-1])
    for i, label in enumerate(AXES):
        axes[i].plot(trace.time, motion[:, i], color=colour, linewidth=1.1)
        axes[i].stairs(goals[:, 1 + i], since, baseline=None, color="black", linestyle="--",
                       linewidth=0.9)  # fmt: skip
        axes[i].set_ylabel(label)
        for begin in trace.events:
            axes[i].axvline(begin, color="0.7", linewidth=0.8, zorder=0)
    _draw_gaits(axes[3], since, goals[:, 4])
    axes[3].set_xlim(trace.time[0], trace.time[-1])
    axes[3].set_xlabel("time [s]")
    return drawn(made, f"Commanded and true velocity over time, {name}", many_lines=True)


def _draw_gaits(ax: Axes, since: Array, gaits: Array) -> None:
    """A strip of the gaits commanded; those that follow each other are named once."""
    names = list(GAITS)
    first = np.flatnonzero(np.diff(gaits, prepend=-1.0))
    ends = np.append(since[first[1:]], since[-1])
    for begin, end, gait in zip(since[first], ends, gaits[first].astype(int), strict=True):
        ax.axvspan(begin, end, color=str(0.93 - 0.1 * gait), linewidth=0.0)
        ax.text(0.5 * (begin + end), 0.5, names[gait], ha="center", va="center", fontsize=8,
                clip_on=True)  # fmt: skip
    ax.set_ylim(0.0, 1.0)
    ax.set_yticks([])
    ax.set_ylabel("gait")
