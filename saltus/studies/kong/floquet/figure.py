"""Limit cycles in the phase plane, nearby trajectories, and multipliers on the unit circle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hybrid.limit_cycle import LimitCycle
from hybrid.return_map import PhaseSection
from hybrid.simulation import simulate_step
from hybrid.systems import Array
from saltus.studies.kong.floquet.cases import Case
from saltus.studies.style import COLOURS, figure

_SAMPLES = 120  # a period
_PERIODS = 8  # of a trajectory beside the cycle


def draw() -> tuple[Figure, Sequence[Any]]:
    """The empty figure and its four axes: three phase planes and the unit circle."""
    made, axes = figure(columns=2, rows=2, width=7.2, height=6.4)
    return made, list(axes.ravel())


def phase_panel(axes: Any, case: Case, cycle: LimitCycle) -> None:
    """One limit cycle, and trajectories that start beside it; jumps are dotted."""
    for nudge in case.nudges:
        beside = cycle.state + np.array(nudge)
        arcs = sample(case, cycle, beside, _PERIODS)
        for number, arc in enumerate(arcs):
            fading = 0.9 - 0.6 * number / len(arcs)
            axes.plot(*arc.T, color=COLOURS["seed"], linewidth=0.7, alpha=fading)
        axes.plot(*beside, marker="o", markersize=3, color=COLOURS["initial"])
    arcs = sample(case, cycle, cycle.state, 1)
    for number, arc in enumerate(arcs):
        axes.plot(*arc.T, color=COLOURS["xi"], linewidth=2.0)
        jump = np.array([arc[-1], arcs[(number + 1) % len(arcs)][0]])
        axes.plot(*jump.T, color=COLOURS["xi"], linewidth=1.2, linestyle=":")
    axes.set(xlabel=case.labels[0], ylabel=case.labels[1])
    axes.set_title(case.title, fontsize=10)


def sample(case: Case, cycle: LimitCycle, x: Array, periods: int) -> list[Array]:
    """Points (k, 2) of a trajectory from x (2,), one array for each stretch between events."""
    phase = cycle.return_map.section
    start = phase.start if isinstance(phase, PhaseSection) else 0.0
    mode, arcs, step = cycle.mode, [[x]], cycle.period / _SAMPLES
    for k in range(periods * _SAMPLES):
        t = start + k * step
        found = simulate_step(case.system, mode, x, step, np.zeros(0), t, case.options)
        if found.status != "ok":
            break
        for event in found.events:
            arcs[-1].append(event.state_before)
            arcs.append([event.state_after])
        mode, x = found.mode, found.state
        arcs[-1].append(x)
    return [np.array(arc) for arc in arcs]


def multiplier_panel(axes: Any, found: Sequence[tuple[str, Any, Any]]) -> None:
    """Multipliers as dots and those of the Poincare map as rings, about the unit circle."""
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    axes.plot(np.cos(angle), np.sin(angle), color="black", linewidth=0.8)
    axes.axhline(0.0, color="lightgray", linewidth=0.6, zorder=0)
    axes.axvline(0.0, color="lightgray", linewidth=0.6, zorder=0)
    for number, (name, values, poincare) in enumerate(found):
        colour = f"C{number}"
        label = name.replace("_", " ")
        axes.plot(values.real, values.imag, ".", color=colour, markersize=7, label=label)
        ring = {"marker": "o", "markersize": 10, "markerfacecolor": "none", "linestyle": "none"}
        axes.plot(poincare.real, poincare.imag, color=colour, **ring)
    axes.set(xlabel="Re (dots: monodromy, rings: return map)", ylabel="Im", aspect="equal")
    axes.set_title("Floquet multipliers", fontsize=10)
    axes.legend(fontsize=6, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.3))
