"""Pictures of `saltus bench rollouts`: time over candidates, and what a server on loopback adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from saltus.bench.rollouts.verdicts import (
    ADDED_BOUND_MS,
    GPU_BATCH,
    GPU_BOUND_MS,
    Measured,
    added_at_least,
)
from saltus.common.figures import figure

# Colours that stay apart for colour-blind eyes: M. Okabe and K. Ito, Color Universal Design, 2008.
COLOURS = {"mujoco": "#0072B2", "remote": "#D55E00", "warp": "#009E73", "isaacgym": "#CC79A7"}
MARKERS = ("o", "s", "^", "D")  # of a backend's devices
_BOUND: dict[str, Any] = {"color": "black", "linestyle": "--", "linewidth": 0.8}
_TITLE: dict[str, Any] = {"loc": "left", "fontsize": 9}
_LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 7}


def draw(measured: Sequence[Measured]) -> Figure:
    """Medians with their 99th percentiles (left), and the remote backend's extra time (right)."""
    drawing, (left, right) = figure(2, 1, width=8.4, height=3.8, width_ratios=[1.7, 1.0])
    _times(left, measured)
    _extra(right, measured)
    return drawing


def _times(axis: Any, measured: Sequence[Measured]) -> None:
    engines = list(dict.fromkeys((one.backend, one.device) for one in measured))
    for backend, device in engines:
        mine = [one for one in measured if (one.backend, one.device) == (backend, device)]
        sizes = [one.candidates for one in mine]
        middle, high = ([one.quantile(p) for one in mine] for p in (50.0, 99.0))
        devices = [name for kind, name in engines if kind == backend]
        marker = MARKERS[devices.index(device) % len(MARKERS)]
        style = {"color": COLOURS.get(backend, "gray"), "marker": marker}
        axis.plot(sizes, middle, label=f"{backend}: {device}", markersize=4, **style)
        axis.fill_between(sizes, middle, high, color=style["color"], alpha=0.15, linewidth=0)
    axis.plot([GPU_BATCH], [GPU_BOUND_MS], "k*", markersize=9, label="bound of a GPU")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    sizes = sorted({one.candidates for one in measured})
    axis.set_xticks(sizes, [str(size) for size in sizes])
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_locator(NullLocator())
    axis.set_xlabel("candidates")
    axis.set_ylabel("line search [ms]")
    axis.set_title("median, and shaded to the 99th percentile", **_TITLE)
    axis.legend(**_LEGEND)


def _extra(axis: Any, measured: Sequence[Measured]) -> None:
    """The share of pairs, at the planner's own batch size, of which remote takes so much longer."""
    extra, size = added_at_least(measured)
    if extra is not None:
        ms = np.sort(extra)
        share = np.arange(1, len(ms) + 1) / len(ms)
        axis.step(ms, share, where="post", color=COLOURS["remote"])
        axis.plot(
            [np.median(ms)], [0.5], "o", color=COLOURS["remote"], label="median", markersize=5
        )
        low, high = np.percentile(ms, [5.0, 95.0])
        axis.set_xlim(min(low, -0.2), max(high, 1.5 * ADDED_BOUND_MS))
    axis.axvline(ADDED_BOUND_MS, label="bound of the median", **_BOUND)
    axis.set_ylim(0.0, 1.0)
    axis.set_xlabel("remote less local, taken in turns [ms]")
    axis.set_ylabel("share of pairs")
    axis.set_title(f"what loopback adds to {size} candidates", **_TITLE)
    axis.legend(loc="lower right", **_LEGEND)
