"""Figure 12: outcomes of compliant contact over the set of rigid ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from hybrid.systems import Array
from saltus.studies.style import figure

_PANELS = (
    ("stiffness_ratio", "stiffness varied", r"$k_A / k_B$", LogNorm),
    ("angle_deg", "angle varied", r"$\theta_0$ [deg]", Normalize),
)


def draw(rows: Sequence[Mapping[str, Any]], predicted: Array) -> Figure:
    """Normal velocities after the collision, one panel a sweep.

    Args:
        rows: of the study.
        predicted: normal velocities (S, 2) of the rigid outcomes [m/s].
    """
    drawing, axes = figure(columns=2, width=9.0, height=3.6)
    shown = thinned(predicted)
    for panel, (sweep, title, label, norm) in zip(axes, _PANELS, strict=True):
        own = [row for row in rows if row["sweep"] == sweep]
        place = [[row["normal_velocity_A"], row["normal_velocity_B"]] for row in own]
        values = [row["value"] for row in own]
        panel.scatter(*shown.T, s=90, color="0.75", linewidths=0, zorder=0, label="rigid set")
        dots = panel.scatter(*np.array(place).T, c=values, s=26, cmap="coolwarm", norm=norm(),
                             edgecolors="black", linewidths=0.5, label="compliant")  # fmt: skip
        drawing.colorbar(dots, ax=panel, label=label, shrink=0.8)
        panel.set(title=title, xlabel=r"A: $J_{n,A} v^+$ [m/s]", ylabel=r"B: $J_{n,B} v^+$ [m/s]")
        panel.set(aspect="equal")
        panel.legend(frameon=False)
    return drawing


def thinned(points: Array, cells: int = 400) -> Array:
    """One point of each cell of a grid over the points (S, 2): a picture needs no more."""
    span = np.ptp(points, axis=0).max()
    _, first = np.unique(np.round(points / span * cells), axis=0, return_index=True)
    return points[first]
