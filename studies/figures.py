"""The figures of the studies: curves in a plane, bands of errors, and orders of convergence.

A study gives names and numbers; how they look follows from the name, the same in every study.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from saltus.common.figures import figure
from studies.study import Row

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
    "no_extension": "tab:blue",
}
LABELS = {
    "xi": r"$\Xi$-iLQR",
    "dxr": r"$D_xR$-iLQR",
    "direct": "direct collocation",
    "no_extension": r"$\Xi$, no extension",
}  # of the methods, as the thesis writes them
LOOKS: dict[str, Row] = {
    "guard": {"linestyle": "--", "linewidth": 1.0, "zorder": 0},
    "target": {"marker": "+", "markersize": 12, "markeredgewidth": 2.0, "linestyle": "none"},
}  # of curves by name, beside their colour


class Styled(NamedTuple):
    """Points of a curve, and how matplotlib shall draw it."""

    points: Any
    look: Mapping[str, Any]


class Band(NamedTuple):
    """Samples (N, len(x)) over x, of which median and quartiles are drawn."""

    x: ArrayLike
    samples: ArrayLike


class Panel(NamedTuple):
    """Curves in a plane.

    Attributes:
        curves: by name: points (K, 2), or pieces of them with gaps between; `Styled`; a `Band`.
            A name with ``_`` in front is not in the key.
        x: label, with its unit.
        y: label, with its unit.
        guards: levels of x, and of y, at which a dashed line is drawn.
        settings: further ones of ``Axes.set``, such as ``aspect``.
    """

    curves: Mapping[str, Any]
    x: str
    y: str
    guards: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    settings: Mapping[str, Any] = {}


def dots(points: Any, **look: Any) -> Styled:
    """Points without a line."""
    return Styled(points, {"marker": ".", "linestyle": "none", "markersize": 3.0} | look)


def over(x: ArrayLike, values: ArrayLike, **look: Any) -> Styled:
    """Columns of values, (K,) or (K, m), over x (K,)."""
    columns = np.asarray(values).reshape(len(np.asarray(x)), -1).T
    return Styled([np.stack((x, column), axis=1) for column in columns], look)


def convergence(
    sizes: ArrayLike, curves: Mapping[str, ArrayLike], order: float, level: float, x: str, y: str
) -> Panel:
    """Errors (K,) by label over step sizes (K,), the largest first, beside a line of an order.

    ``level`` is the line's error at the largest step.
    """
    steps = np.asarray(sizes)
    drawn = {label: over(steps, errors, marker="o", markersize=4)
             for label, errors in curves.items()}  # fmt: skip
    line = level * (steps / steps[0]) ** order
    drawn[f"order {order:g}"] = over(steps, line, linestyle="--", color="gray")
    shown = steps[:: len(steps) // 2]
    ticks = {"xticks": shown, "xticklabels": [f"{step:.3g}" for step in shown]}
    return Panel(drawn, x, y, settings={"xscale": "log", "yscale": "log"} | ticks)


def draw(*panels: Panel, columns: int = 0, width: float = 3.4, height: float = 3.0) -> Figure:
    """A figure of panels, each of ``width`` by ``height`` inches, ``columns`` or all in a row."""
    columns = columns or len(panels)
    rows = -(-len(panels) // columns)
    made, axes = figure(columns, rows, width * columns, height * rows, squeeze=False)
    for panel, axis in zip(panels, axes.flat, strict=False):
        for name, curve in panel.curves.items():
            _draw_curve(axis, name, curve)
        for x in panel.guards[0]:
            axis.axvline(x, color="black", **LOOKS["guard"])
        for y in panel.guards[1]:
            axis.axhline(y, color="black", **LOOKS["guard"])
        axis.set(xlabel=panel.x, ylabel=panel.y, **panel.settings)
        if "xticks" in panel.settings:
            axis.minorticks_off()
        if axis.get_legend_handles_labels()[1]:
            axis.legend(frameon=False, fontsize=7)
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    return made


def _draw_curve(axis: Any, name: str, curve: Any) -> None:
    look: Row = {"label": LABELS.get(name, name), "linewidth": 1.2}
    look |= LOOKS.get(name, {})
    if name in COLOURS:
        look["color"] = COLOURS[name]
    if isinstance(curve, Styled):
        curve, look = curve.points, look | {**curve.look}
    if isinstance(curve, Band):
        low, middle, high = np.nanquantile(np.asarray(curve.samples), (0.25, 0.5, 0.75), axis=0)
        (line,) = axis.plot(curve.x, middle, **look)
        axis.fill_between(curve.x, low, high, color=line.get_color(), alpha=0.15, linewidth=0.0)
        return
    pieces = curve if len(curve) and np.ndim(curve[0]) == 2 else [curve]
    gap = np.full((1, 2), np.nan)
    x, y = np.concatenate([part for piece in pieces for part in (piece, gap)]).T
    axis.plot(x, y, **look)
