"""Lateral position over time (Figs. 6.5 and 6.6): a line for each trial, the worst one marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from saltus.common.figures import figure
from saltus.configuration.planners import entry_of
from saltus.report.html import Html, note, section, tag
from saltus.report.outcomes import Cell, cells
from saltus.report.pictures import Panel, drawn, side_by_side
from saltus.report.subject import Array, Subject, TrialRecord

BEFORE_S = 0.3  # shown before the perturbation
FEW = 12  # lines up to which a panel is drawn as outlines
SIZE = (3.5, 2.5)  # width, height of a panel [inch]
CAPTION = (
    "Lateral position of the base, left positive, against the time since {begin}; the dashed line "
    "is the path commanded. A thin line is a trial, the thick one the trial that stayed on its "
    "feet and came furthest; a cross is where a robot fell. Panels beside each other have the same "
    "axes."
)
OF_PUSHES = (
    " Compare the thesis's Figs. 6.5 (1.0 m/s) and 6.6 (1.5 m/s), which draw the nominal and the "
    "worst trajectory."
)


def lateral_section(subject: Subject) -> Html | None:
    """The part of the page about lateral deviations; None where all robots are driven."""
    along_line = [trial for trial in subject.trials if not trial.is_driven]
    if not along_line:
        return None
    found = cells(subject, [trial for trial in along_line if has_states(trial)])
    title = "Sideways, over time"
    if not found:
        return section(title, note("There is no trace of a trial to draw."))
    parts = []
    for words, row in groupby(found, key=lambda cell: cell.condition.words):
        beside = list(row)
        extent = _extent([trial for cell in beside for trial in cell.trials])
        parts.append(tag("h3", words))
        parts.append(side_by_side([_panel(cell, extent) for cell in beside]))
    return section(title, note(_caption(subject)), *parts)


def _caption(subject: Subject) -> str:
    pushed = any(trial.kind for trial in subject.trials)
    begin = "the perturbation began" if pushed else "the start"
    return CAPTION.format(begin=begin) + (OF_PUSHES if pushed else "")


def has_states(trial: TrialRecord) -> bool:
    """Whether its trace holds states."""
    return trial.trace is not None and len(trial.trace.time) > 1


def since_event(trial: TrialRecord) -> tuple[Array, Array]:
    """Time since the perturbation (n,) [s] and lateral position (n,) [m], up to a fall."""
    assert trial.trace is not None
    time, end = trial.trace.time, trial.fall_time
    shown = time >= trial.begin - BEFORE_S
    if end is not None:
        shown &= time <= end
    return time[shown] - trial.begin, trial.trace.q[shown, 1]


def worst(trials: Sequence[TrialRecord]) -> TrialRecord | None:
    """The one on its feet that came furthest to the side; None where all fell."""
    upright = [trial for trial in trials if not trial.fell]
    return max(upright, key=lambda trial: trial.deviation, default=None)


def _extent(trials: Sequence[TrialRecord]) -> tuple[float, float, float, float]:
    """Limits of the axes that hold all trials: time [s] and lateral position [m]."""
    curves = [curve for trial in trials if len((curve := since_event(trial))[0])]
    times = np.concatenate([time for time, _ in curves] or [np.zeros(1)])
    sides = np.concatenate([side for _, side in curves] or [np.zeros(1)])
    low, high = min(float(sides.min()), -0.05), max(float(sides.max()), 0.05)
    margin = 0.06 * (high - low)
    return float(times.min()), float(times.max()) + 0.05, low - margin, high + margin


def _panel(cell: Cell, extent: tuple[float, float, float, float]) -> Panel:
    entry = entry_of(cell.planner)
    name, colour = entry.label, entry.colour
    furthest = worst(cell.trials)
    made, axes = figure(width=SIZE[0], height=SIZE[1])
    axes.axhline(0.0, color="black", linestyle="--", linewidth=0.7)
    axes.axvline(0.0, color="0.8", linewidth=0.7)
    for trial in cell.trials:
        thick = trial is furthest
        time, side = since_event(trial)
        axes.plot(time, side, color=colour, linewidth=2.0 if thick else 0.8,
                  alpha=1.0 if thick else 0.55)  # fmt: skip
        if trial.fell and len(time):
            axes.plot(time[-1], side[-1], "x", color="black", markersize=6, markeredgewidth=1.4)
    axes.set_xlim(extent[0], extent[1])
    axes.set_ylim(extent[2], extent[3])
    pushed = any(trial.kind for trial in cell.trials)
    axes.set_xlabel("time since the perturbation [s]" if pushed else "time [s]")
    axes.set_ylabel("lateral position [m]")
    axes.set_title(name, color=colour, loc="left", fontweight="bold")
    told = _in_words(cell, furthest)
    axes.set_title(told, loc="right", fontsize=8)
    return drawn(made, f"{name}, {cell.condition.words}: {told}", many_lines=len(cell.trials) > FEW)


def _in_words(cell: Cell, furthest: TrialRecord | None) -> str:
    fallen = len(cell.trials) - len(cell.upright)
    told = [f"{fallen} of {len(cell.trials)} fell"] if fallen else []
    if furthest is not None:
        told.append(f"trial {furthest.row['trial']}: {furthest.deviation:.2f} m")
    return ", ".join(told)
