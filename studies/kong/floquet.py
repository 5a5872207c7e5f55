"""Floquet multipliers from saltation matrices against Poincare maps.

Each limit cycle is found by Newton's method on its return map. Its monodromy matrix (3.33) uses
the derivatives of flows, guards and resets; the Poincare map's Jacobian beside it only simulates.

A system that does not depend on time has one multiplier of 1, along the flow. It is in
`multipliers`, but not in the comparison with `poincare_multipliers`. The vibrating table is driven.
Its return map is over one period of the table, in both coordinates, and has no trivial multiplier.
`vibrating_table_saddle` is the second motion with one bounce per period; it is unstable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment

from hybrid.examples import hopper
from hybrid.limit_cycle import LimitCycle, find_limit_cycle, sorted_eigenvalues
from hybrid.options import SimulationOptions
from hybrid.return_map import EventSection, PhaseSection, ReturnMap, Section
from hybrid.simulation import simulate_step
from hybrid.systems import Array, System
from studies.figures import COLOURS, figure
from studies.kong.systems import rimless_wheel, vibrating_table
from studies.study import Criterion, StudyOptions, StudyResult, study

REQUIRED = 1e-6  # difference of multipliers
_OFF = (3e-3, -0.02)  # of a closed form, so that Newton's method has something to do


class Case(NamedTuple):
    """A system, where its cycle is cut and searched, and how its phase plane is drawn."""

    name: str
    system: System
    mode: int
    guess: tuple[float, float]
    section: Section
    options: SimulationOptions
    title: str = ""  # of its panel; none: it is not drawn
    nudges: tuple[tuple[float, float], ...] = ()  # of trajectories beside the cycle
    labels: tuple[str, str] = ("", "")


def _wheel(name: str, slope: float, half_angle: float, **drawn) -> Case:
    system = rimless_wheel.rimless_wheel(half_angle, slope)
    guess = (slope - half_angle, 1.5)
    section = EventSection("forward")
    return Case(name, system, rimless_wheel.ROLLING, guess, section, SimulationOptions(), **drawn)


def _hopper(name: str, damping: float, push: float, **drawn) -> Case:
    system = hopper.hopper(damping=damping, push=push)
    section = EventSection("liftoff")
    return Case(name, system, hopper.FLIGHT, (0.8, 0.0), section, SimulationOptions(), **drawn)


def _table(name: str, amplitude: float, stable: bool = True, **drawn) -> Case:
    bounce = vibrating_table.periodic_bounce(amplitude, stable_phase=stable)
    start, x = vibrating_table.in_flight(bounce, 0.25)
    options = SimulationOptions(max_step=bounce.period / 16.0)
    return Case(
        name,
        vibrating_table.vibrating_table(amplitude),
        vibrating_table.RISING,
        (x[0] + _OFF[0], x[1] + _OFF[1]),
        PhaseSection(start, bounce.period),
        options,
        **drawn,
    )


CASES = (
    _wheel(
        "rimless_wheel",
        rimless_wheel.SLOPE,
        rimless_wheel.HALF_ANGLE,
        title="Rimless wheel",
        nudges=((0.0, -0.1), (0.0, 0.6)),
        labels=("stance angle [rad]", "rate [rad/s]"),
    ),
    _wheel("rimless_wheel_twelve_spokes", 0.05, math.pi / 12.0),
    _hopper(
        "hopper",
        hopper.DAMPING,
        hopper.PUSH,
        title="Hopper",
        nudges=((0.0, -1.0), (0.0, 1.2)),
        labels=("height [m]", "velocity [m/s]"),
    ),
    _hopper("hopper_strong_push", 6.0, 30.0),
    _table(
        "vibrating_table",
        vibrating_table.AMPLITUDE,
        title="Ball on a vibrating table",
        nudges=((0.03, 0.0), (-0.02, -0.2)),
        labels=("height [m]", "velocity [m/s]"),
    ),
    _table("vibrating_table_saddle", vibrating_table.AMPLITUDE, stable=False),
)
_SAMPLES = 120  # a period
_PERIODS = 8  # of a trajectory beside the cycle
@study("Kong, section 3.4.3")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``system, multipliers, poincare_multipliers, max_difference``; multipliers [re, im]."""
    rows, solved = [], []
    for case in options.track(CASES, lambda case: case.name):
        return_map = ReturnMap(case.system, case.section, case.mode, options=case.options)
        cycle = find_limit_cycle(return_map, np.array(case.guess))
        poincare, none = _poincare_multipliers(cycle), np.array([], dtype=np.complex128)
        compared = cycle.nontrivial_multipliers if cycle.ok else none
        rows.append({
            "system": case.name,
            "multipliers": _pairs(cycle.multipliers if cycle.ok else none),
            "poincare_multipliers": _pairs(poincare),
            "max_difference": largest_difference(compared, poincare),
        })  # fmt: skip
        solved.append((case, cycle, poincare))
    criteria = [
        Criterion(f"{row['system']}: max_difference", row["max_difference"], "<=", REQUIRED)
        for row in rows
    ]
    return StudyResult(rows, {"floquet": _figure(solved)}, criteria=criteria)


def _poincare_multipliers(cycle: LimitCycle) -> np.ndarray:
    if not cycle.ok:
        return np.array([], dtype=np.complex128)
    D_xP = cycle.return_map.differences(cycle.state)  # noqa: N806
    return sorted_eigenvalues(D_xP) if np.all(np.isfinite(D_xP)) else np.array([], np.complex128)


def _pairs(values: np.ndarray) -> list[list[float]]:
    return [[float(value.real), float(value.imag)] for value in values]


def largest_difference(values: np.ndarray, others: np.ndarray) -> float | None:
    """Largest distance between two sets of complex numbers, paired so that it adds up to least.

    None where the sets differ in size or are empty: there is nothing to compare.
    """
    if len(values) != len(others) or not len(values):
        return None
    distances = np.abs(np.subtract.outer(values, others))
    return float(np.max(distances[linear_sum_assignment(distances)]))


def _figure(solved: list[tuple[Case, LimitCycle, np.ndarray]]) -> Figure:
    made, panels = figure(columns=2, rows=2, width=7.2, height=6.4)
    axes = list(panels.ravel())
    shown = [entry for entry in solved if entry[0].title and entry[1].ok]
    for panel, (case, cycle, _) in zip(axes, shown, strict=False):
        phase_panel(panel, case, cycle)
    values = [(case.name, cycle.multipliers, fd) for case, cycle, fd in solved if cycle.ok]
    multiplier_panel(axes[-1], values)
    return made


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
        advanced = simulate_step(case.system, mode, x, step, np.zeros(0), t, case.options)
        if advanced.status != "ok":
            break
        for event in advanced.events:
            arcs[-1].append(event.state_before)
            arcs.append([event.state_after])
        mode, x = advanced.mode, advanced.state
        arcs[-1].append(x)
    return [np.array(arc) for arc in arcs]


def multiplier_panel(axes: Any, cycles: Sequence[tuple[str, Any, Any]]) -> None:
    """Multipliers as dots and those of the Poincare map as rings, about the unit circle."""
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    axes.plot(np.cos(angle), np.sin(angle), color="black", linewidth=0.8)
    axes.axhline(0.0, color="lightgray", linewidth=0.6, zorder=0)
    axes.axvline(0.0, color="lightgray", linewidth=0.6, zorder=0)
    for number, (name, values, poincare) in enumerate(cycles):
        colour = f"C{number}"
        label = name.replace("_", " ")
        axes.plot(values.real, values.imag, ".", color=colour, markersize=7, label=label)
        ring = {"marker": "o", "markersize": 10, "markerfacecolor": "none", "linestyle": "none"}
        axes.plot(poincare.real, poincare.imag, color=colour, **ring)
    axes.set(xlabel="Re (dots: monodromy, rings: return map)", ylabel="Im", aspect="equal")
    axes.set_title("Floquet multipliers", fontsize=10)
    axes.legend(fontsize=6, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.3))
