"""Errors of rollouts over their horizon, a column for each motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from hybrid.systems import Array
from saltus.studies.a1.rollout_drift.drift import Drift
from saltus.studies.style import figure

_ROWS = (("position", "base position [m]"), ("joints", "farthest joint [rad]"))
_COLOURS = ("tab:gray", "tab:blue", "tab:red")  # the yardstick first
_FLOOR = 1e-10  # smaller errors are drawn here


def draw(times: Array, drifts: Mapping[tuple[str, str, str], Sequence[Drift]]) -> Figure:
    """Median (solid) and 99 % (dashed) over candidates, by (motion, backend, device).

    `times` (N+1,) [s] of the knots.
    """
    motions = list(dict.fromkeys(motion for motion, _, _ in drifts))
    backends = list(dict.fromkeys((name, device) for _, name, device in drifts))
    drawing, axes = figure(
        columns=len(motions), rows=len(_ROWS), width=2.5 * len(motions), height=4.6,
        sharex=True, sharey="row", squeeze=False,
    )  # fmt: skip
    for (motion, name, device), found in drifts.items():
        colour = _COLOURS[backends.index((name, device)) % len(_COLOURS)]
        column = motions.index(motion)
        for panel, (field, _) in zip(axes[:, column], _ROWS, strict=True):
            errors = np.concatenate([getattr(drift, field) for drift in found])
            for q, line in ((50, "-"), (99, "--")):
                shown = np.maximum(np.percentile(errors, q, axis=0), _FLOOR)
                panel.semilogy(times, shown, line, color=colour, linewidth=1.2)
    for column, motion in enumerate(motions):
        axes[0, column].set_title(motion)
        axes[-1, column].set_xlabel("time [s]")
    for panel, (_, label) in zip(axes[:, 0], _ROWS, strict=True):
        panel.set_ylabel(label)
    for (name, device), colour in zip(backends, _COLOURS, strict=False):
        axes[0, 0].plot([], [], color=colour, label=f"{name} ({device})")
    axes[0, 0].plot([], [], "k-", linewidth=1.2, label="median")
    axes[0, 0].plot([], [], "k--", linewidth=1.2, label="99 %")
    drawing.legend(loc="outside lower center", ncols=len(backends) + 2, frameon=False, fontsize=8)
    return drawing
