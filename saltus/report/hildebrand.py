"""Hildebrand diagrams: which foot is on the ground when (Figs. 6.7 and 6.8)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from robots.conventions import FOOT_NAMES
from saltus.common.figures import figure
from saltus.configuration.planners import entry_of
from saltus.report.html import Html, note, section, tag
from saltus.report.lateral import has_states
from saltus.report.pictures import Panel, drawn, side_by_side
from saltus.report.subject import Array, Subject, TrialRecord
from saltus.trace import Trace

BEFORE_S, AFTER_S = 0.25, 1.25  # shown around the perturbation
WITHOUT_EVENT_S = 3.0  # shown of an undisturbed run
BAR = 0.72  # height of a bar, of the space between two feet
CAPTION = (
    "Black: the foot is on the ground. Schedule: the contacts of the reference's gait (thesis: "
    "Fig. 6.7). One plan: the contacts of the first plan that was made after the push had been "
    "measured (thesis: Fig. 6.8); a planner that may choose contacts takes some away and adds "
    "others. Robot: the contacts that it had. The grey line is where the perturbation began."
)


def hildebrand_section(subject: Subject, shown: list[TrialRecord]) -> Html:
    """The part of the page about contacts.

    Args:
        subject: of the report.
        shown: trials to draw, one per planner.
    """
    title = "Feet on the ground"
    parts = [_figure(trial) for trial in shown if has_states(trial)]
    if not parts:
        return section(title, note("There is no trace of a trial to draw."))
    return section(title, note(CAPTION), tag("div", *parts, class_="grid"))


def _figure(trial: TrialRecord) -> Html:
    assert trial.trace is not None
    panel = _panel(trial, trial.trace)
    caption = f"{entry_of(trial.planner).label}, trial {trial.row['trial']}"
    if not len(trial.trace.plan_contacts):
        caption += ". No plan after a perturbation: " + (
            "none was made." if trial.trace.events else "the robot was not disturbed."
        )
    return side_by_side([panel], caption)


def _panel(trial: TrialRecord, trace: Trace) -> Panel:
    """Schedule, plan and truth above each other, on one axis of time."""
    # Nobody knows the strides of a robot that is driven live before it makes them.
    unknown = trial.is_driven and trace.planned.all()
    rows = [] if unknown else [("schedule", trace.time, trace.planned)]
    if len(trace.plan_contacts):
        steps = np.arange(len(trace.plan_contacts), dtype=np.float64)
        knots: Array = trace.plan_time + trace.plan_period * steps
        rows.append(("one plan", knots, trace.plan_contacts))
    rows.append(("robot", trace.time, trace.contact))
    height = 0.55 + 0.8 * len(rows)
    made, axes = figure(rows=len(rows), width=4.4, height=height, sharex=True, squeeze=False)
    begin = trial.begin if trace.events else 0.0
    for ax, (name, time, contacts) in zip(axes[:, 0], rows, strict=True):
        draw_contacts(ax, time - begin, contacts)
        ax.set_ylabel(name)
        if trace.events:
            ax.axvline(0.0, color="0.6", linewidth=0.9)
    limits = (-BEFORE_S, AFTER_S) if trace.events else (0.0, min(WITHOUT_EVENT_S, trace.time[-1]))
    axes[-1, 0].set_xlim(*limits)
    axes[-1, 0].set_xlabel("time since the perturbation [s]" if trace.events else "time [s]")
    label = entry_of(trial.planner).label
    alt = (f"Contacts of the feet {', '.join(FOOT_NAMES)} over time, "
           f"{label}: {', '.join(name for name, _, _ in rows)}")  # fmt: skip
    return drawn(made, alt)


def draw_contacts(ax: Axes, time: Array, contacts: Array) -> None:
    """Bars of the stances, FR on top.

    Args:
        ax: to draw on.
        time: of the samples (n,) [s], evenly spaced.
        contacts: (n, 4), 0 or 1, each from its sample up to the next.
    """
    for foot in range(4):
        ax.broken_barh(stances(time, contacts[:, foot]), (foot - BAR / 2, BAR), color="black")
    ax.set_ylim(3.6, -0.6)
    ax.set_yticks(range(4), FOOT_NAMES, fontsize=7)
    ax.tick_params(length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


def stances(time: Array, contact: Array) -> list[tuple[float, float]]:
    """Begin and length [s] of each stance of one foot.

    Args:
        time: (n,) [s].
        contact: (n,), above one half where the foot is on the ground.
    """
    period = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    edges = np.append(time, time[-1] + period) if len(time) else time
    change = np.diff(np.concatenate(([0], (contact > 0.5).astype(int), [0])))
    begins, ends = edges[np.flatnonzero(change == 1)], edges[np.flatnonzero(change == -1)]
    return [(float(a), float(b - a)) for a, b in zip(begins, ends, strict=True)]
