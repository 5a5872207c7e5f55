"""The figure of a soak: memory, handles, missed ticks and latencies over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from saltus.common.figures import figure
from saltus.soak.samples import HANDLES, MEMORY, SETTLED_S, Columns, processes_in, total_memory
from saltus.soak.soak import LaunchEnd
from saltus.soak.stalls import Stall

END: dict[str, Any] = {"color": "tab:red", "linewidth": 1.0, "linestyle": "--", "zorder": 0}
SHOWN, LONGEST = 8, 150  # ends that are named, and letters of each
PUSH: dict[str, Any] = {"color": "0.75", "linewidth": 0.6, "zorder": 0}


def soak_figure(
    columns: Columns, ends: Sequence[LaunchEnd], pushes: Sequence[tuple[int, float]],
    stalls: Sequence[Stall] = (),
) -> Figure:  # fmt: skip
    """Five panels over the time since the soak began.

    Args:
        columns: the samples.
        ends: of the launches; one that ended early is marked.
        pushes: launch, and time of its run [s]; each is marked in the panel of missed ticks.
        stalls: of the machine.
    """
    drawing, axes = figure(rows=5, width=9.0, height=11.0, sharex=True)
    hours = columns["elapsed_s"] / 3600.0
    memory, growth, handles, missed, latency = axes
    for name in processes_in(columns):
        memory.plot(hours, columns[MEMORY + name], linewidth=1.1, label=name)
        handles.plot(hours, columns[HANDLES + name], linewidth=1.1, label=name)
    _draw_growth(growth, hours, columns)
    missed.plot(hours, _missed(columns), color="black", linewidth=1.1)
    latency.plot(hours, columns["state_age_ms"], ".", markersize=3.0,
                 label="oldest state at a command")  # fmt: skip
    latency.plot(hours, columns["plan_ms"], linewidth=0.9, label="from plan to plan, mean")
    latency.plot([s.elapsed_s / 3600.0 for s in stalls], [s.late_ms for s in stalls], "x",
                 color="tab:red", markersize=4.0, label="stall of the machine")  # fmt: skip
    memory.set(ylabel="resident\nmemory [MB]", ylim=(0.0, None))
    growth.set(ylabel="sum, since 10 min\nor the first [MB]")
    handles.set(ylabel="open handles", ylim=(0.0, None))
    missed.set(ylabel="missed ticks")
    latency.set(ylabel="latency [ms]", ylim=(0.0, None), xlabel="time [h]")
    for panel in (memory, latency):
        panel.legend(fontsize=7, ncols=7, loc="lower center", bbox_to_anchor=(0.5, 1.0),
                     frameon=False)  # fmt: skip
    for launch, at in pushes:
        missed.axvline(_when(columns, launch, at), **PUSH)
    _mark_ends(axes, columns, [end for end in ends if end.cause])
    return drawing


def _draw_growth(axes: Any, hours: Any, columns: Columns) -> None:
    """The sum of all memory, over its value ten minutes into the launch, or at its first sample."""
    total = total_memory(columns)
    for number in np.unique(columns["launch"]):
        of_launch = (columns["launch"] == number) & np.isfinite(total)
        if not of_launch.any():
            continue
        settled = of_launch & (columns["running_s"] >= SETTLED_S)
        level = total[settled if settled.any() else of_launch][0]
        axes.plot(hours[of_launch], total[of_launch] - level, color="black", linewidth=1.1)
    axes.axhline(0.0, color="0.8", linewidth=0.7)


def _missed(columns: Columns) -> Any:
    """Ticks missed since the soak began: each launch counts from 0."""
    missed = columns["missed"].copy()
    for begin in np.flatnonzero(np.diff(columns["launch"])) + 1:
        missed[begin:] += missed[begin - 1]
    return missed


def _when(columns: Columns, launch: int, running_s: float) -> float:
    """Time since the soak began [h] of a time of a launch's run [s]; NaN where it did not come."""
    of_launch = columns["launch"] == launch
    running = columns["running_s"][of_launch]
    after = np.flatnonzero(running >= running_s)
    if not after.size:
        return float("nan")
    first = after[0]
    return float(columns["elapsed_s"][of_launch][first] - running[first] + running_s) / 3600.0


def _last(columns: Columns, launch: int) -> float:
    """Time of a launch's last sample [h]; NaN without one."""
    times = columns["elapsed_s"][columns["launch"] == launch]
    return float(times[-1]) / 3600.0 if times.size else float("nan")


def _mark_ends(axes: Any, columns: Columns, ends: Sequence[LaunchEnd]) -> None:
    """Lines where robots fell and where launches ended early, and in the title why."""
    for end in ends:
        times = [] if end.whole else [_last(columns, end.launch)]
        if end.fell_at_s is not None:
            times.append(_when(columns, end.launch, end.fell_at_s))
        for panel in axes:
            for time in times:
                panel.axvline(time, **END)
    lines = [f"launch {end.launch} of {end.ran_s:.0f} s: {end.words}"[:LONGEST] for end in ends]
    more = [f"and {len(ends) - SHOWN} more"] if len(ends) > SHOWN else []
    axes[0].set_title(
        "\n".join(lines[:SHOWN] + more), loc="left", fontsize=7, color=END["color"], pad=18.0
    )
