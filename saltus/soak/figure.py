"""The figure of a soak: memory, handles, missed ticks and latencies over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from saltus.common.figures import figure
from saltus.common.stalls import Stall
from saltus.soak.samples import HANDLES, MEMORY, Columns
from saltus.soak.soak import LaunchEnd

# Label of each panel, and what the names of its columns begin with.
PANELS = {
    "resident\nmemory [MB]": MEMORY, "open handles": HANDLES,
    "missed ticks\nof the launch": "missed", "oldest state\nat a command [ms]": "state_age_ms",
    "from plan to plan,\nmean [ms]": "plan_ms",
}  # fmt: skip


def soak_figure(
    columns: Columns, ends: Sequence[LaunchEnd], stalls: Sequence[Stall] = ()
) -> Figure:
    """Panels over the time since the soak began.

    Args:
        columns: the samples.
        ends: of the launches; a line marks the last sample of one that did not go well.
        stalls: of the machine, in the panel of the oldest state.
    """
    drawing, axes = figure(rows=len(PANELS), width=9.0, height=11.0, sharex=True)
    hours = columns["elapsed_s"] / 3600.0
    bad = [hours[columns["launch"] == end.launch][-1:] for end in ends if end.cause]
    for panel, (label, prefix) in zip(axes, PANELS.items(), strict=True):
        for name in (name for name in columns if name.startswith(prefix)):
            panel.plot(hours, columns[name], linewidth=1.1, label=name.removeprefix(prefix))
        for time in np.concatenate([*bad, []]):
            panel.axvline(time, color="tab:red", linestyle="--", linewidth=1.0)
        panel.set(ylabel=label, ylim=(0.0, None))
    axes[3].plot([s.elapsed_s / 3600.0 for s in stalls], [s.late_ms for s in stalls], "x",
                 color="tab:red", markersize=4.0)  # fmt: skip
    axes[0].legend(fontsize=7, ncols=7, loc="lower center", bbox_to_anchor=(0.5, 1.0),
                   frameon=False)  # fmt: skip
    axes[-1].set(xlabel="time [h]")
    return drawing
