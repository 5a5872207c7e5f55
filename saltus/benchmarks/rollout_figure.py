"""Pictures of `saltus bench rollouts`: time over candidates, and what a server on loopback adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from saltus.benchmarks.rollout_times import Measured
from saltus.benchmarks.rollout_verdicts import ASKED_ADDED_MS, ASKED_GPU_MS, GPU_BATCH, added
from saltus.figures import figure

# Colours that stay apart for colour-blind eyes: M. Okabe and K. Ito, Color Universal Design, 2008.
COLOURS = {"mujoco": "#0072B2", "remote": "#D55E00", "warp": "#009E73", "isaacgym": "#CC79A7"}
OTHERS = ("o", "s", "^", "D")  # markers of a backend's devices
_ASKED: dict[str, Any] = {"color": "black", "linestyle": "--", "linewidth": 0.8}
_LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 7}


def draw(measured: Sequence[Measured]) -> Figure:
    """Medians with their 99th percentiles (left), and the remote backend's extra time (right)."""
    made, (left, right) = figure(2, 1, width=8.4, height=3.8, width_ratios=[1.7, 1.0])
    _times(left, measured)
    _extra(right, measured)
    return made


def _times(axis: Any, measured: Sequence[Measured]) -> None:
    engines = list(dict.fromkeys((one.backend, one.device) for one in measured))
    for backend, device in engines:
        mine = [one for one in measured if (one.backend, one.device) == (backend, device)]
        sizes = [one.candidates for one in mine]
        middle, high = ([one.quantile(p) for one in mine] for p in (50.0, 99.0))
        devices = [name for kind, name in engines if kind == backend]
        style = {"color": COLOURS.get(backend, "gray"), "marker": OTHERS[devices.index(device) % 4]}
        axis.plot(sizes, middle, label=f"{backend}: {device}", markersize=4, **style)
        axis.fill_between(sizes, middle, high, color=style["color"], alpha=0.15, linewidth=0)
    axis.plot([GPU_BATCH], [ASKED_GPU_MS], "k*", markersize=9, label="asked of a GPU: below this")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("candidates")
    axis.set_ylabel("line search [ms]")
    axis.set_title("median, and shaded to the 99th percentile", loc="left")
    axis.legend(**_LEGEND)


def _extra(axis: Any, measured: Sequence[Measured]) -> None:
    sizes = [one.candidates for one in measured if one.backend == "remote"]
    found = [(size, added(measured, size)) for size in sizes]
    boxes = [(size, ms) for size, ms in found if ms is not None]
    for i, (_, ms) in enumerate(boxes):
        low, middle, high = np.percentile(ms, [10.0, 50.0, 90.0])
        axis.plot([i, i], [low, high], color=COLOURS["remote"], linewidth=1.0)
        axis.plot([i], [middle], "o", color=COLOURS["remote"], markersize=5)
    axis.axhline(ASKED_ADDED_MS, label="asked: median below this, at the first", **_ASKED)
    axis.axhline(0.0, color="black", linewidth=0.6)
    axis.set_xticks(range(len(boxes)), [str(size) for size, _ in boxes])
    axis.set_xlim(-0.5, max(len(boxes), 1) - 0.5)
    axis.set_xlabel("candidates")
    axis.set_ylabel("remote less local, in turns [ms]")
    axis.set_title("what loopback adds, 10th to 90th", loc="left")
    axis.legend(**_LEGEND)
