"""The figures of a report: each function draws one panel."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from controller.gaits import GAITS
from robots.conventions import FOOT_NAMES
from robots.planar_pose import PlanarPose
from runtime.checked import Array
from saltus.common.figures import figure, png
from saltus.configuration.planners import entry_of
from saltus.launch.trace import Trace
from saltus.report.measures import Cell, worst
from saltus.report.reading import TrialRecord

BEFORE_S, AFTER_S = 0.25, 1.25  # of contacts, shown around the perturbation
SIDE_BEFORE_S = 0.3  # of the lateral position, shown before the perturbation
WITHOUT_EVENT_S = 3.0  # shown of an undisturbed run
BAR = 0.72  # height of a bar, of the space between two feet
STEEP = 5.0  # most over least cost from which the axis is logarithmic
GREY = "0.45"


class Panel(NamedTuple):
    """One picture, and its description for readers without it."""

    source: str  # data URI
    alt: str


def data_uri(kind: str, content: bytes) -> str:
    """A file as a URI that holds it; ``kind`` is its MIME type."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def drawn(drawing: Figure, alt: str) -> Panel:
    """A figure as a panel."""
    return Panel(data_uri("image/png", png(drawing)), alt)


def lateral(beside: Sequence[Cell]) -> list[Panel]:
    """Lateral position over time (Figs. 6.5 and 6.6) of cells, on the same axes."""
    curves = [since_event(trial) for cell in beside for trial in cell.trials]
    times = np.concatenate([time for time, _ in curves if len(time)] or [np.zeros(1)])
    sides = np.concatenate([side for _, side in curves if len(side)] or [np.zeros(1)])
    low, high = min(float(sides.min()), -0.05), max(float(sides.max()), 0.05)
    margin = 0.06 * (high - low)
    limits = {"xlim": (float(times.min()), float(times.max()) + 0.05),
              "ylim": (low - margin, high + margin)}  # fmt: skip
    return [_lateral(cell, limits) for cell in beside]


def _lateral(cell: Cell, limits: Mapping[str, tuple[float, float]]) -> Panel:
    """A line for each trial, the worst one marked."""
    entry, furthest = entry_of(cell.planner), worst(cell.trials)
    made, axes = figure(width=3.5, height=2.5)
    axes.axhline(0.0, color="black", linestyle="--", linewidth=0.7)
    axes.axvline(0.0, color="0.8", linewidth=0.7)
    for trial in cell.trials:
        thick = trial is furthest
        time, side = since_event(trial)
        axes.plot(time, side, color=entry.colour, linewidth=2.0 if thick else 0.8,
                  alpha=1.0 if thick else 0.55)  # fmt: skip
        if trial.fell and len(time):
            axes.plot(time[-1], side[-1], "x", color="black", markersize=6, markeredgewidth=1.4)
    pushed = any(trial.pushed for trial in cell.trials)
    axes.set(**limits, xlabel=_since(pushed), ylabel="lateral position [m]")
    axes.set_title(entry.label, color=entry.colour, loc="left", fontweight="bold")
    fallen = sum(trial.fell for trial in cell.trials)
    told = [f"{fallen} of {len(cell.trials)} fell"] if fallen else []
    if furthest is not None:
        told.append(f"trial {furthest.row['trial']}: {furthest.deviation:.2f} m")
    axes.set_title(", ".join(told), loc="right", fontsize=8)
    alt = f"{entry.label}, {cell.condition.words}: {', '.join(told)}"
    return drawn(made, alt)


def since_event(trial: TrialRecord) -> tuple[Array, Array]:
    """Time since the perturbation (n,) [s] and lateral position (n,) [m], up to a fall."""
    assert trial.trace is not None
    time, end = trial.trace.time, trial.fall_time
    shown = time >= trial.begin - SIDE_BEFORE_S
    if end is not None:
        shown &= time <= end
    return time[shown] - trial.begin, trial.trace.q[shown, 1]


def _since(pushed: bool) -> str:
    return "time since the perturbation [s]" if pushed else "time [s]"


def contacts(trial: TrialRecord) -> Panel:
    """Contacts of the feet (Figs. 6.7 and 6.8): schedule, plan and truth above each other."""
    trace = trial.trace
    assert trace is not None
    # The strides of a robot that is driven live are unknown before it makes them.
    unknown = trial.is_driven and trace.planned.all()
    rows = [] if unknown else [("schedule", trace.time, trace.planned)]
    if len(trace.plan_contacts) > 1:
        steps = np.arange(len(trace.plan_contacts), dtype=np.float64)
        knots: Array = trace.plan_time + trace.plan_period * steps
        rows.append(("one plan", knots, trace.plan_contacts))
    rows.append(("robot", trace.time, trace.contact))
    made, axes = figure(
        rows=len(rows), width=4.4, height=0.55 + 0.8 * len(rows), sharex=True, squeeze=False
    )
    begin = trial.begin if trial.pushed else 0.0
    for ax, (name, time, contact) in zip(axes[:, 0], rows, strict=True):
        _draw_contacts(ax, time - begin, contact)
        ax.set_ylabel(name)
        if trial.pushed:
            ax.axvline(0.0, color="0.6", linewidth=0.9)
    end = min(WITHOUT_EVENT_S, trace.time[-1])
    axes[-1, 0].set_xlim(*((-BEFORE_S, AFTER_S) if trial.pushed else (0.0, end)))
    axes[-1, 0].set_xlabel(_since(trial.pushed))
    alt = (f"Contacts of the feet {', '.join(FOOT_NAMES)} over time, "
           f"{trial.entry.label}: {', '.join(name for name, _, _ in rows)}")  # fmt: skip
    return drawn(made, alt)


def _draw_contacts(ax: Axes, time: Array, contact: Array) -> None:
    """Bars of the stances, FR on top; contact (n, 4) holds from its sample up to the next."""
    edges = np.append(time, time[-1] + np.median(np.diff(time)))
    for foot in range(4):
        low = foot - BAR / 2
        stance = low + BAR * (contact[:, foot] > 0.5)
        ax.stairs(stance, edges, baseline=low, fill=True, color="black")
    ax.set_ylim(3.6, -0.6)
    ax.set_yticks(range(4), FOOT_NAMES, fontsize=7)
    ax.tick_params(length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


def driving(trial: TrialRecord) -> Panel:
    """Commanded and true velocities and the gait above each other, on one axis of time."""
    trace, entry = trial.trace, trial.entry
    assert trace is not None
    made, axes = figure(
        rows=4, width=7.2, height=5.4, sharex=True, gridspec_kw={"height_ratios": (3, 3, 3, 1)}
    )
    motion, goals = base_motion(trace), trace.goals
    since = np.append(goals[:, 0], trace.time[-1])
    for i, label in enumerate(("forward [m/s]", "left [m/s]", "yaw rate [rad/s]")):
        axes[i].plot(trace.time, motion[:, i], color=entry.colour, linewidth=1.1)
        axes[i].stairs(goals[:, 1 + i], since, baseline=None, color="black", linestyle="--",
                       linewidth=0.9)  # fmt: skip
        axes[i].set_ylabel(label)
        for begin in trace.events:
            axes[i].axvline(begin, color="0.7", linewidth=0.8, zorder=0)
    _draw_gaits(axes[3], since, goals[:, 4])
    axes[3].set_xlim(trace.time[0], trace.time[-1])
    axes[3].set_xlabel("time [s]")
    return drawn(made, f"Commanded and true velocity over time, {entry.label}")


def base_motion(trace: Trace) -> Array:
    """Velocity forward and left [m/s] and yaw rate [rad/s] (T, 3) of the base, from its path."""
    q = trace.q
    yaw = np.unwrap([PlanarPose.of(each).yaw for each in q])
    x, y, rate = np.gradient(np.column_stack((q[:, :2], yaw)), trace.time, axis=0).T
    c, s = np.cos(yaw), np.sin(yaw)
    return np.column_stack((c * x + s * y, c * y - s * x, rate))


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


def line_search(trial: TrialRecord) -> Panel:
    """Cost of the candidates of the first line search after a push, by step size (Fig. 6.2)."""
    assert trial.trace is not None
    sizes, costs = trial.trace.step_sizes, trial.trace.costs[0]
    colour = trial.entry.colour
    made, axes = figure(width=4.4, height=2.8)
    own, fine = sizes <= 0.0, np.isfinite(costs)  # own: the trajectory before the step
    line = [i for i in np.argsort(sizes) if fine[i] and not own[i]]
    axes.plot(sizes[line], costs[line], "o-", color=colour, linewidth=0.8, markersize=4,
              label="candidate")  # fmt: skip
    for cost in costs[own & fine]:
        axes.axhline(cost, color=GREY, linestyle=":", linewidth=1.2, label="before the step")
    top = axes.get_xaxis_transform()  # so high whatever the costs
    axes.plot(sizes[~fine & ~own], np.full(int(np.sum(~fine & ~own)), 0.97), "x", color="black",
              transform=top, clip_on=False, label="diverged or not tried")  # fmt: skip
    if fine.any():
        best = int(np.argmin(costs))
        at = sizes[best] if sizes[best] > 0.0 else sizes[sizes > 0.0].min(initial=1.0)
        axes.plot(at, costs[best], "o", color="black", markersize=11, fillstyle="none",
                  label="least")  # fmt: skip
    axes.set_xscale("log")
    if fine.any() and costs[fine].max() > STEEP * max(costs[fine].min(), 1e-12):
        axes.set_yscale("log")
    axes.set_xlabel("step size")
    axes.set_ylabel("cost")
    axes.legend(fontsize=7, frameon=False, markerscale=0.8)
    axes.set_title(trial.label, loc="left", color=colour)
    diverged = int(np.sum(~fine))
    return drawn(made, f"Cost of {len(costs)} candidates by step size, {diverged} of them diverged")


def solve_histogram(times: Mapping[str, Array]) -> Panel:
    """Durations of all solves [ms], by planner."""
    every = np.concatenate(list(times.values()))
    low, high = float(every[every > 0.0].min()), float(every.max())
    bins = np.geomspace(0.9 * low, 1.1 * high, 60).tolist()
    made, axes = figure(width=4.8, height=2.6)
    medians = []
    for planner, ms in times.items():
        entry, share = entry_of(planner), np.full(len(ms), 100.0 / len(ms))
        colour = entry.colour
        axes.hist(ms, bins=bins, weights=share, histtype="stepfilled", color=colour, alpha=0.35)
        axes.hist(ms, bins=bins, weights=share, histtype="step", color=colour, label=entry.label)
        axes.axvline(float(np.median(ms)), color=colour, linewidth=0.8, linestyle="--")
        medians.append(f"{entry.label} median {np.median(ms):.2f} ms")
    axes.set_xscale("log")
    axes.set_xlabel("time of a solve [ms]; dashed: median")
    axes.set_ylabel("share of the solves [%]")
    axes.legend(fontsize=8, frameon=False)
    return drawn(made, f"Histogram of solve times: {'; '.join(medians)}")
