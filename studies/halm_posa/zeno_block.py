"""Accumulation of a rocking block's impacts against its closed form.

The simulation goes through contact forces and sticking impacts; accumulation is compared with the
closed form, which knows the pendulum (56) and the ratio (68). In s, time and normal impulse add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from hybrid.systems import Array
from studies.figures import COLOURS, GUARD, figure
from studies.halm_posa.systems.block_zeno import ZenoRun, rock
from studies.halm_posa.systems.block_zeno_closed_form import (
    Accumulation,
    accumulation,
    apex,
    half_cycle_s,
    half_cycle_time,
    rate_ratio,
    rates,
)
from studies.halm_posa.systems.block_zeno_trajectory import ZenoTrajectory, trajectory
from studies.halm_posa.systems.rocking_block import RockingBlock
from studies.study import Criterion, StudyOptions, StudyResult, study

_THETA, _RATE = COLOURS["initial"], COLOURS["dxr"]
_REST = 0.5  # shown after the accumulation [s]
RATE = 1.0  # theta'_0 [rad/s], 4.3
IMPACTS = 40
REQUIRED = 1e-3  # of the accumulation, relative
SHOWN = ("half_cycle", "corner", "time", "s", "rate", "time_error", "s_error")


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


@dataclass(frozen=True)
class CycleRow:
    """One half cycle: the impact at its end, and relative errors to the closed form."""

    half_cycle: int | str
    corner: str
    time: float
    s: float
    rate: float
    impulse: float
    time_error: float
    s_error: float
    friction_used: float


@dataclass(frozen=True)
class AccumulationRow(CycleRow):
    """The end of the last impact, and relative distances from the closed form's accumulation."""

    closed_form_time: float
    closed_form_s: float


@study("Halm and Posa, figure 8")
def run(options: StudyOptions) -> StudyResult:
    """Rows: one half cycle each, and ``accumulation``."""
    return simulate_impacts(IMPACTS)


def simulate_impacts(impacts: int) -> StudyResult:
    """The study with a number of impacts."""
    block = RockingBlock()
    simulated = rock(block, RATE, impacts)
    limit = accumulation(block, RATE)
    total = accumulated(simulated, limit)
    figures = {
        "figure-7": draw_block(block, apex(block, RATE), RATE, rate_ratio(block)),
        "figure-8": draw_trajectory(block, simulated, limit),
    }
    criteria = [
        Criterion(f"{key} of the accumulation, relative", getattr(total, key), "<=", REQUIRED)
        for key in ("time_error", "s_error")
    ]
    return StudyResult(
        [*rows(block, simulated), total],
        figures,
        notes(block, simulated, total),
        SHOWN,
        criteria=criteria,
    )


def rows(block: RockingBlock, simulated: ZenoRun) -> list[CycleRow]:
    """Each impact: where it ends in t [s] and s, and its half cycle against the closed form."""
    made, t, s = [], 0.0, 0.0
    starts = rates(block, RATE, len(simulated.impacts))
    for number, (impact, rate) in enumerate(zip(simulated.impacts, starts, strict=True)):
        end = impact.s + impact.impulse
        lasted, expected = impact.time - t, half_cycle_time(block, rate)
        grown, expected_s = end - s, half_cycle_s(block, rate)
        made.append(
            CycleRow(
                half_cycle=number + 1,
                corner="AB"[impact.corner],
                time=impact.time,
                s=end,
                rate=impact.rate,
                impulse=impact.impulse,
                time_error=abs(lasted / expected - 1.0),
                s_error=abs(grown / expected_s - 1.0),
                friction_used=impact.friction_used,
            )
        )
        t, s = impact.time, end
    return made


def accumulated(simulated: ZenoRun, limit: Accumulation) -> AccumulationRow:
    """The row of the accumulation: the last impact's end, and its relative distance from the sum.

    What the impacts still to come would add is part of the distance.
    """
    last = simulated.impacts[-1]
    end = last.s + last.impulse
    return AccumulationRow(
        half_cycle="accumulation",
        corner="",
        time=last.time,
        s=end,
        rate=last.rate,
        impulse=last.impulse,
        time_error=abs(last.time / limit.time - 1.0),
        s_error=abs(end / limit.s - 1.0),
        friction_used=max(impact.friction_used for impact in simulated.impacts),
        closed_form_time=limit.time,
        closed_form_s=limit.s,
    )


def notes(block: RockingBlock, simulated: ZenoRun, total: AccumulationRow) -> Sequence[str]:
    """What was reached, and where the source is misprinted."""
    worst = max(total.time_error, total.s_error)
    met = "within" if worst <= REQUIRED else "NOT within"
    stopped = (
        []
        if simulated.status == "stopped"
        else [f"Ended early: {' '.join(simulated.message.split())}"]
    )
    return (
        f"Accumulation after {len(simulated.impacts)} impacts: {worst:.1e} from the closed form"
        f" t = {total.closed_form_time:.6g} s, s = {total.closed_form_s:.6g}, {met} the"
        f" {REQUIRED:g} required (figure 8: about 2.67 and 28.4).",
        f"Each impact leaves {abs(simulated.impacts[0].rate) / RATE:.6g} of the angular rate; (68)"
        f" gives {rate_ratio(block):.6g}. The errors of a row are those of its half cycle.",
        f"The corners never slide: the ratio of tangential to normal force or impulse is at most"
        f" {total.friction_used:.3g}; the limit is mu = {block.friction:g}.",
        "(57) is printed with - sin(alpha); with + sin(alpha) it gives the 0.22 rad printed there."
        " The caption of figure 7d squares the factor 0.7, which acts once per impact.",
        *stopped,
    )
