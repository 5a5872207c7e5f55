"""Figures of the study of touchdowns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from robots.conventions import FOOT_NAMES
from saltus.metrics.touchdown_spread import ordered_outcomes
from studies.a1.a1_touchdown.runs import MeasuredTouchdown
from studies.figures import COLOURS, figure

GAIT_COLOURS = {"walk": COLOURS["initial"], "trot": COLOURS["xi"], "bound": COLOURS["dxr"]}
_MARKS = {"one foot": ".", "diagonal pair": "x", "front pair": "^", "rear pair": "v",
          "side pair": "s"}  # fmt: skip
_SMALLEST = 1e-5  # spread that the figure shows, in place of less [m/s]


def spread_figure(impacts: Sequence[MeasuredTouchdown]) -> Figure:
    """Spread against the foot's speed and against s, and s of every pair of feet."""
    made, axes = figure(columns=3, width=10.5, height=3.7, width_ratios=[1.0, 1.0, 1.1])
    for gait, kind in dict.fromkeys((each.gait, each.kind) for each in impacts):
        these = [each for each in impacts if (each.gait, each.kind) == (gait, kind)]
        spread = [max(each.spread.base, _SMALLEST) for each in these]
        look = {"color": GAIT_COLOURS[gait], "marker": _MARKS.get(kind, "D"), "linestyle": "none",
                "markersize": 5, "label": f"{gait}, {kind}"}  # fmt: skip
        axes[0].plot([each.spread.approach for each in these], spread, **look)
        axes[1].plot([abs(each.spread.cosine) for each in these], spread, **look)
    for panel in axes[:2]:
        panel.set(yscale="log", ylabel="spread of the base's velocity [m/s]")
        panel.grid(visible=True, color="0.92")
        panel.set_ylim(bottom=0.4 * _SMALLEST)
        panel.text(0.02, 0.02, f"at {_SMALLEST:g}: this or less", transform=panel.transAxes,
                   fontsize=7, color="0.4")  # fmt: skip
    axes[0].set(xlabel="largest landing speed of a foot [m/s]", xlim=(-0.05, None))
    axes[1].set(xlabel="largest |s| of a landing foot", xlim=(0.0, None))
    axes[1].legend(frameon=False, fontsize=7, loc="upper left")
    _draw_pairs(axes[2], impacts)
    return made


def _draw_pairs(panel: Any, impacts: Sequence[MeasuredTouchdown]) -> None:
    """s of each pair of feet on the ground, a column for each pair and a colour for each gait."""
    pairs = list(combinations(FOOT_NAMES, 2))
    gaits = list(dict.fromkeys(each.gait for each in impacts))
    for shift, gait in zip(np.linspace(-0.2, 0.2, len(gaits)), gaits, strict=True):
        spreads = [each.spread for each in impacts if each.gait == gait]
        values = [[s.pairs[pair] for s in spreads if pair in s.pairs] for pair in pairs]
        for column, of_pair in enumerate(values):
            panel.plot(np.full(len(of_pair), column + shift), of_pair, "_", markersize=7,
                       color=GAIT_COLOURS[gait], label=gait if column == 0 else None)  # fmt: skip
    panel.axhline(0.0, color="0.7", linewidth=0.8)
    panel.set_xticks(range(len(pairs)), ["\n".join(pair) for pair in pairs])
    panel.set(ylabel="s of a pair of feet")
    panel.legend(frameon=False, fontsize=7)


def cloud_figure(impacts: Sequence[MeasuredTouchdown]) -> Figure:
    """Of each gait the touchdown that spreads most: where the base's velocity may end."""
    gaits = list(dict.fromkeys(each.gait for each in impacts))
    made, axes = figure(columns=len(gaits), width=3.5 * len(gaits), height=3.5, squeeze=False)
    for panel, gait in zip(axes[0], gaits, strict=True):
        of_gait = [each for each in impacts if each.gait == gait]
        _draw_cloud(panel, max(of_gait, key=lambda each: each.spread.base))
    axes[0][0].legend(frameon=False, fontsize=7)
    return made


def _draw_cloud(panel: Any, each: MeasuredTouchdown) -> None:
    """Changes of the base's velocity, forward and upward in the base's axes [mm/s]."""
    plane = [0, 2]
    change = 1e3 * (each.outcomes.v_plus - each.v)[:, plane]
    ordered = 1e3 * (ordered_outcomes(each.outcomes.problem, each.v) - each.v)[:, plane]
    panel.plot(*change.T, ".", color="0.45", markersize=3, label="samples")
    panel.plot(*ordered.T, "+", color=COLOURS["dxr"], markersize=6, label="one foot after another")
    panel.set(xlabel="change forward [mm/s]", ylabel="change upward [mm/s]")
    panel.set_title(f"{each.gait}: {', '.join(each.landing)} down", fontsize=9)
