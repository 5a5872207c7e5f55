"""How the figures of the studies look, and the kinds that several of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from saltus.common.figures import figure, save

__all__ = [
    "COLOURS", "GUARD", "LABELS", "TARGET", "convergence", "error_band", "figure", "key",
    "phase_plane", "save",
]  # fmt: skip

COLOURS = {
    "xi": "goldenrod",
    "dxr": "tab:red",
    "seed": "tab:gray",
    "initial": "tab:blue",
    "final": "tab:green",
    "actual": "black",
    "guard": "black",
    "target": "magenta",
    "direct": "teal",
}
LABELS = {
    "seed": "seed",
    "xi": r"$\Xi$-iLQR",
    "dxr": r"$D_xR$-iLQR",
    "direct": "direct collocation",
    "no_extension": r"$\Xi$, no extension",
}  # of the trajectories and methods, as the thesis writes them
GUARD = {"color": COLOURS["guard"], "linestyle": "--", "linewidth": 1.0}  # of a guard surface
TARGET = {"color": COLOURS["target"], "marker": "+", "markersize": 12, "markeredgewidth": 2.0,
          "linestyle": "none"}  # fmt: skip


def phase_plane(axes: Any, paths: Mapping[str, Sequence[ArrayLike]], **look: Any) -> None:
    """Draw paths by name in a plane, with the colours and labels of the names.

    Args:
        axes: of one panel.
        paths: each the pieces (K, 2) between its jumps; the jumps are not drawn.
        look: of every line.
    """
    for name, pieces in paths.items():
        own = {"color": COLOURS.get(name), "label": LABELS.get(name, name), "linewidth": 1.4} | look
        gap = np.full((1, 2), np.nan)
        x, y = np.concatenate([part for piece in pieces for part in (piece, gap)]).T
        axes.plot(x, y, **own)


def error_band(axes: Any, x: ArrayLike, samples: ArrayLike, **look: Any) -> None:
    """Draw the median of samples (N, len(x)) over x, and a band between their quartiles."""
    low, middle, high = np.nanquantile(np.asarray(samples), (0.25, 0.5, 0.75), axis=0)
    (line,) = axes.plot(x, middle, **look)
    axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0.0)


def convergence(
    axes: Any, sizes: ArrayLike, curves: Mapping[str, ArrayLike], order: float, level: float
) -> None:
    """Draw errors over step sizes, both logarithmic, beside a line of an order.

    Args:
        axes: of one panel.
        sizes: of the steps (K,), the largest first.
        curves: errors (K,), by label.
        order: of the dashed line.
        level: the line's error at the largest step.
    """
    steps = np.asarray(sizes)
    for label, errors in curves.items():
        axes.loglog(steps, errors, "o-", markersize=4, linewidth=1.2, label=label)
    slope = level * (steps / steps[0]) ** order
    axes.loglog(steps, slope, "--", color=COLOURS["seed"], linewidth=1.0, label=f"order {order:g}")
    key(axes)


def key(axes: Any, **look: Any) -> None:
    """Name the lines of a panel, small and without a frame."""
    axes.legend(**{"frameon": False, "fontsize": 8} | look)
