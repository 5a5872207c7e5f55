"""Pictures of `saltus bench estimators`: errors per stream, and the moments around a push."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from saltus.bench.estimators.replay import Measured
from saltus.common.figures import figure

# Colours that stay apart for colour-blind eyes: M. Okabe and K. Ito, Color Universal Design, 2008.
COLOURS = {"salted": "#0072B2", "leg_odometry": "#D55E00", "invariant": "#009E73"}
NAMES = {"salted": "salted", "leg_odometry": "leg odometry", "invariant": "invariant"}
BEFORE, AFTER = 50, 250  # ticks around a push
_BARS = {
    "velocity_rmse_m_s": "whole run",
    "velocity_rmse_after_touchdown_m_s": "50 ms after touchdowns",
}
_LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 8}


def draw(measured: Sequence[Measured], pushed_at: Mapping[str, Sequence[int]]) -> dict[str, Figure]:
    """The figures; `pushed_at` names the streams with a push, and its tick in each run."""
    figures = {"velocity-error": _bars(measured)}
    if pushed_at:
        figures["push"] = _around_pushes(measured, pushed_at)
    return figures


def _bars(measured: Sequence[Measured]) -> Figure:
    """Velocity errors, a group of bars for each stream; logarithmic, for pushes are far larger."""
    streams = list(dict.fromkeys(one.stream for one in measured))
    filters = list(dict.fromkeys(one.filter for one in measured))
    drawing, axes = figure(1, 2, width=7.2, height=5.0, sharex=True)
    width = 0.8 / len(filters)
    for axis, (key, title) in zip(axes, _BARS.items(), strict=True):
        for i, name in enumerate(filters):
            heights = [1e3 * (one.row[key] or np.nan) for one in measured if one.filter == name]
            left = np.arange(len(streams)) + (i - 0.5 * (len(filters) - 1)) * width
            axis.bar(left, heights, width, color=COLOURS[name], label=NAMES[name])
        axis.set_yscale("log")
        axis.set_ylim(bottom=0.5)
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_locator(NullLocator())
        axis.set_ylabel("velocity error, RMS [mm/s]")
        axis.set_title(title, loc="left")
    axes[-1].set_xticks(range(len(streams)), [name.replace("_", " ") for name in streams])
    axes[0].legend(**_LEGEND)
    return drawing


def _around_pushes(measured: Sequence[Measured], pushed_at: Mapping[str, Sequence[int]]) -> Figure:
    """Length of the velocity's error over time: each run thin, their root mean square thick."""
    drawing, axes = figure(len(pushed_at), 1, width=7.2, height=3.2, sharey=True, squeeze=False)
    time = np.arange(-BEFORE, AFTER)  # [ms]: a tick is one
    for axis, (stream, ticks) in zip(axes[0], pushed_at.items(), strict=True):
        for one in measured:
            if one.stream != stream:
                continue
            errors = _windows(one, ticks)
            axis.plot(time, errors.T, color=COLOURS[one.filter], linewidth=0.5, alpha=0.5)
            mean = np.sqrt((errors**2).mean(axis=0))
            axis.plot(time, mean, color=COLOURS[one.filter], label=NAMES[one.filter])
        axis.set_title(stream.replace("_", " ") + " m/s", loc="left")
        axis.set_xlabel("time after the push [ms]")
    axes[0, 0].set_ylabel("velocity error [m/s]")
    axes[0, -1].legend(**_LEGEND)
    return drawing


def _windows(one: Measured, ticks: Sequence[int]) -> np.ndarray:
    """Lengths of the velocity's error around each push (runs, ticks), NaN outside of the run."""
    windows = np.full((len(ticks), BEFORE + AFTER), np.nan)
    for row, run, tick in zip(windows, one.runs, ticks, strict=True):
        length = np.linalg.norm(run.velocity, axis=1)
        window = tick + np.arange(-BEFORE, AFTER)
        inside = (window >= 0) & (window < len(length))
        row[inside] = length[window[inside]]
    return windows
