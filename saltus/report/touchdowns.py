"""Touchdowns: how far apart rigid impacts in any order may leave the robot, and the measure s."""

from __future__ import annotations

import numpy as np

from robots.robot import load_robot
from saltus.common.figures import figure
from saltus.configuration.planners import entry_of
from saltus.report.html import Html, note, section, table, tag
from saltus.report.pictures import Panel, drawn, side_by_side
from saltus.report.subject import Subject, TrialRecord
from saltus.report.touchdown_measures import SAMPLES, TouchdownMeasurements, measured

MOST = 40  # touchdowns that are measured for one page, which shall be there at once
TITLE = "Touchdowns"
CAPTION = (
    "A touchdown beside other feet on the ground need not have a single outcome: it may depend on "
    "which foot stops first, which no rigid model can know. Spread: the largest distance between "
    f"the base's velocities of {SAMPLES} sampled outcomes of the set-valued impact of Halm and "
    "Posa, of rigid feet on level ground, from the true state before it. s: the cosine between the "
    "contact normals of a foot that lands and another one, in the metric of the kinetic energy "
    "(Seghete and Murphey); at 0 the order of two impacts without friction does not matter. A ring "
    "is one foot, a filled mark feet that land within 10 ms."
)
OLDER = "Its trace is older than the touchdowns in traces: run it again to have them."
HEAD = ("Trial", "Down together", "Touchdowns", "Jump, median [m/s]", "Spread, median [mm/s]",
        "Spread, largest [mm/s]", "s, largest")  # fmt: skip
TABLE = (
    "Touchdowns by the feet that come down together. Jump: the change of the base's velocity, to "
    "the mean of the outcomes."
)


def touchdowns_section(subject: Subject, shown: list[TrialRecord]) -> Html:
    """The part of the page about touchdowns.

    Args:
        subject: of the report.
        shown: trials to look at, one per planner.
    """
    known = [trial for trial in shown if trial.trace and trial.trace.touchdowns is not None]
    if not known:
        older = any(trial.trace for trial in shown)
        return section(TITLE, note(OLDER if older else "There is no trace of a trial to draw."))
    most = max(1, MOST // len(known))
    found = [(trial, measured(load_robot(trial.robot), trial, most)) for trial in known]
    drawable = [(trial, each) for trial, each in found if each.landings]
    parts = [side_by_side([_panel(trial, each)], _caption(trial, each)) for trial, each in drawable]
    told = [note(f"{_name(trial)}: {text}") for trial, each in found for text in _left_out(each)]
    told += [note(f"{_name(trial)}: {OLDER}") for trial in shown if trial not in known]
    if not parts:
        return section(TITLE, *told)
    rows = [row for trial, each in drawable for row in _rows(trial, each)]
    listed = table(HEAD, rows, TABLE, words=2)
    return section(TITLE, note(CAPTION), tag("div", *parts, class_="grid"), *told, listed)


def _name(trial: TrialRecord) -> str:
    return f"{entry_of(trial.planner).label}, trial {trial.row['trial']}"


def _left_out(each: TouchdownMeasurements) -> list[str]:
    if not each.refused:
        return ["no foot came down."] if not each.of else []
    return [f"{len(each.refused)} of {each.of} touchdowns are left out, the first one because "
            f"{each.refused[0]}."]  # fmt: skip


def _caption(trial: TrialRecord, each: TouchdownMeasurements) -> str:
    shown = len(each.landings) + len(each.refused)
    some = f"; {shown} of {each.of} touchdowns" if shown < each.of else ""
    return _name(trial) + some


def _panel(trial: TrialRecord, each: TouchdownMeasurements) -> Panel:
    """Spread and s over time, above each other."""
    entry = entry_of(trial.planner)
    name, colour = entry.label, entry.colour
    made, axes = figure(rows=2, width=4.4, height=3.0, sharex=True, height_ratios=[1.6, 1.0])
    assert trial.trace is not None
    events = bool(trial.trace.events)
    at = np.array([landing.time for landing in each.landings]) - (trial.begin if events else 0.0)
    spread = np.array([1e3 * landing.spread.base for landing in each.landings])
    cosine = np.array([landing.spread.cosine for landing in each.landings])
    alone = np.array([landing.kind == "one foot" for landing in each.landings])
    axes[0].vlines(at, 0.0, spread, color=colour, linewidth=0.7, zorder=0)
    for these, face in ((alone, "white"), (~alone, colour)):
        mark = {"color": colour, "markerfacecolor": face, "markersize": 4, "clip_on": False}
        axes[0].plot(at[these], spread[these], "o", **mark)
        axes[1].plot(at[these], cosine[these], "o", **mark)
    for ax in axes:
        ax.axhline(0.0, color="0.7", linewidth=0.7, zorder=0)
        if events:
            ax.axvline(0.0, color="0.6", linewidth=0.9, zorder=0)
    axes[0].set(ylabel="spread [mm/s]", ylim=(0.0, None))
    axes[1].set(ylabel="s", xlabel="time since the perturbation [s]" if events else "time [s]")
    alt = (f"Spread of the outcomes and s of {len(at)} touchdowns over time, {name}: at most "
           f"{spread.max():.2g} mm/s")  # fmt: skip
    return drawn(made, alt)


def _rows(trial: TrialRecord, each: TouchdownMeasurements) -> list[list[str]]:
    """A row of the table for each kind of touchdown."""
    rows = []
    for kind in sorted({landing.kind for landing in each.landings}):
        spreads = [landing.spread for landing in each.landings if landing.kind == kind]
        wide = 1e3 * np.array([spread.base for spread in spreads])
        cosine = max((spread.cosine for spread in spreads if spread.pairs), key=abs, default=None)
        rows.append([
            _name(trial), kind, str(len(spreads)),
            f"{np.median([spread.jump for spread in spreads]):.3f}",
            f"{np.median(wide):.2f}", f"{wide.max():.2f}",
            "" if cosine is None else f"{cosine:.3f}",
        ])  # fmt: skip
    return rows
