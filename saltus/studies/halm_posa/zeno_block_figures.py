"""Pictures of the rocking block's half cycle and of its trajectory (figures 7 and 8)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from hybrid.systems import Array
from saltus.studies.halm_posa.systems.block_zeno import ZenoRun
from saltus.studies.halm_posa.systems.block_zeno_closed_form import Accumulation
from saltus.studies.halm_posa.systems.block_zeno_trajectory import ZenoTrajectory, trajectory
from saltus.studies.halm_posa.systems.rocking_block import RockingBlock
from saltus.studies.style import COLOURS, GUARD, figure

_THETA, _RATE = COLOURS["initial"], COLOURS["dxr"]
_REST = 0.5  # shown after the accumulation [s]


def draw_block(block: RockingBlock, apex: float, rate: float, ratio: float) -> Figure:
    """Figure 7: a half cycle, from leaving the ground to the impact at the other corner."""
    poses = (
        ("(a) start", 0.0, 0, rate),
        ("(b) apex", apex, 0, 0.0),
        ("(c) before the impact", 0.0, 0, -rate),
        ("(d) after the impact", 0.0, 1, -ratio * rate),
    )
    drawing, axes = figure(columns=4, width=8.4, height=3.0, sharey=True)
    for panel, (title, theta, corner, spin) in zip(axes, poses, strict=True):
        _draw_pose(panel, block, theta, corner, spin)
        panel.set_title(title)
    return drawing


def _draw_pose(axes: Any, block: RockingBlock, theta: float, corner: int, spin: float) -> None:
    base = np.array([[0.0, 0.0], [block.width, 0.0]])
    outline = np.concatenate([base, base[::-1] + [0.0, block.height]])
    c, s = np.cos(theta), np.sin(theta)
    turned = outline @ np.array([[c, s], [-s, c]])
    axes.add_patch(Polygon(turned, facecolor="gold", edgecolor="black", linewidth=0.8))
    axes.axhline(0.0, **GUARD)
    for name, place, shift in zip("AB", turned[:2], (-0.12, 0.12), strict=True):
        held = name == "AB"[corner]
        axes.plot(*place, "o", color="black" if held else "white", markeredgecolor="black",
                  markersize=5, zorder=3)  # fmt: skip
        axes.annotate(name, [place[0] + shift, -0.3], ha="center")
    rate = rf"$\dot\theta$ = {spin:.2g} rad/s" if spin else rf"$\theta$ = {theta:.2g} rad"
    axes.annotate(rate, turned.mean(axis=0), ha="center", va="center", fontsize=8)
    axes.set(xlim=(-0.7, 1.5), ylim=(-0.4, 2.25), aspect="equal")
    axes.axis("off")


def draw_trajectory(block: RockingBlock, run: ZenoRun, limit: Accumulation) -> Figure:
    """Figure 8: angle and rate over t(s) and over s, and how fast time and impulses accrue."""
    shown = trajectory(block, run, rest=_REST)
    drawing, axes = figure(columns=3, width=10.4, height=3.4)
    for panel, x, end, label in (
        (axes[0], shown.t, limit.time, "t(s) [s]"),
        (axes[1], shown.s, limit.s, "s [s + N s]"),
    ):
        _draw_states(panel, x, shown)
        panel.axvline(end, label="accumulation", **GUARD)
        panel.set(xlabel=label, ylim=(-1.1, 1.1), xlim=(0.0, x[-1]))
    axes[0].set(ylabel=r"$\theta$ [rad], $\dot\theta$ [rad/s]")
    _draw_rates(axes[2], shown, limit.s)
    handles = [*axes[0].get_lines(), *axes[2].get_lines()[:3]]
    drawing.legend(handles=handles, loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    return drawing


def _draw_states(axes: Any, x: Array, shown: ZenoTrajectory) -> None:
    axes.plot(x, shown.theta, color=_THETA, lw=1.2, label=r"$\theta$")
    axes.plot(x, shown.rate, color=_RATE, lw=1.2, label=r"$\dot\theta$")


def _draw_rates(axes: Any, shown: ZenoTrajectory, end: float) -> None:
    colours = ("black", _THETA, COLOURS["xi"])
    rates = (shown.time_rate, *shown.impulse_rates.T)
    labels = (r"$\dot t$", r"$\lambda_{n,A}$", r"$\lambda_{n,B}$")
    for values, colour, label in zip(rates, colours, labels, strict=True):
        axes.plot(shown.s, values, color=colour, lw=0.9, label=label)
    axes.axvline(end, **GUARD)
    axes.set(xlabel="s [s + N s]", ylabel="rate by s", xlim=(0.0, shown.s[-1]), ylim=(-0.03, 1.05))
