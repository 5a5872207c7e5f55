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

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from saltation.examples.hopper import DAMPING, FLIGHT, PUSH, hopper
from saltation.limit_cycle import LimitCycle, find_limit_cycle, sorted_eigenvalues
from saltation.options import SimulationOptions
from saltation.return_map import EventSection, PhaseSection, ReturnMap
from saltation.simulation import simulate
from saltation.systems import Array
from studies.figures import Panel, Styled, draw
from studies.kong.systems import rimless_wheel, vibrating_table
from studies.study import Criterion, StudyOptions, StudyResult, study

REQUIRED = 1e-6  # difference of multipliers
Complex = NDArray[np.complex128]


def _wheel(slope: float, half_angle: float) -> tuple[ReturnMap, Array]:
    system = rimless_wheel.rimless_wheel(half_angle, slope)
    section = EventSection("forward")
    return ReturnMap(system, section, rimless_wheel.ROLLING), np.array([slope - half_angle, 1.5])


def _hopper(damping: float, push: float) -> tuple[ReturnMap, Array]:
    system = hopper(damping=damping, push=push)
    return ReturnMap(system, EventSection("liftoff"), FLIGHT), np.array([0.8, 0.0])


def _table(stable: bool) -> tuple[ReturnMap, Array]:
    """Guessed off its closed form, so that Newton's method has something to do."""
    bounce = vibrating_table.periodic_bounce(stable_phase=stable)
    start, x = vibrating_table.in_flight(bounce, 0.25)
    options = SimulationOptions(max_step=bounce.period / 16.0)
    section, system = PhaseSection(start, bounce.period), vibrating_table.vibrating_table()
    found = ReturnMap(system, section, vibrating_table.RISING, options=options)
    return found, np.array([x[0] + 3e-3, x[1] - 0.02])


NUDGES = {
    "rimless_wheel": (((0.0, -0.1), (0.0, 0.6)), "stance angle [rad]", "rate [rad/s]"),
    "hopper": (((0.0, -1.0), (0.0, 1.2)), "height [m]", "velocity [m/s]"),
    "vibrating_table": (((0.03, 0.0), (-0.02, -0.2)), "height [m]", "velocity [m/s]"),
}  # of trajectories beside the cycles that are drawn, and labels
CASES = {
    "rimless_wheel": _wheel(rimless_wheel.SLOPE, rimless_wheel.HALF_ANGLE),
    "rimless_wheel_twelve_spokes": _wheel(0.05, math.pi / 12.0),
    "hopper": _hopper(DAMPING, PUSH),
    "hopper_strong_push": _hopper(6.0, 30.0),
    "vibrating_table": _table(True),
    "vibrating_table_saddle": _table(False),
}


@study("Kong, section 3.4.3")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``system, multipliers, poincare_multipliers, max_difference``; multipliers [re, im]."""
    rows, panels = [], []
    for name in options.track(CASES):
        cycle, curves = find_limit_cycle(*CASES[name]), {}
        compared = multipliers = poincare = np.array([], dtype=np.complex128)
        nudges, x, y = NUDGES.get(name, ((), "", ""))
        if cycle.ok:
            multipliers, compared = cycle.multipliers, cycle.nontrivial_multipliers
            D_xP = cycle.return_map.differences(cycle.state)  # noqa: N806
            poincare = sorted_eigenvalues(D_xP) if np.all(np.isfinite(D_xP)) else poincare
            beside = [arc for nudge in nudges for arc in sample(cycle, cycle.state + nudge, 8)]
            curves = {"started beside it": Styled(beside, {"linewidth": 0.6, "color": "0.6"}),
                      "limit cycle": sample(cycle, cycle.state, 1)}  # fmt: skip
        if nudges:
            panels.append(Panel(curves, x, y, settings={"title": name.replace("_", " ")}))
        rows.append({
            "system": name,
            "multipliers": multipliers.view(float).reshape(-1, 2),
            "poincare_multipliers": poincare.view(float).reshape(-1, 2),
            "max_difference": largest_difference(compared, poincare)
        })  # fmt: skip
    criteria = [Criterion(f"{row['system']}: max_difference", row["max_difference"], "<=", REQUIRED)
                for row in rows]  # fmt: skip
    return StudyResult(rows, {"floquet": draw(*panels)}, criteria=criteria)


def largest_difference(values: Complex, others: Complex) -> float | None:
    """Largest distance between two sets of complex numbers, paired so that it adds up to least.

    None where the sets differ in size or are empty: there is nothing to compare.
    """
    if len(values) != len(others) or not len(values):
        return None
    distances = np.abs(np.subtract.outer(values, others))
    return np.max(distances[linear_sum_assignment(distances)])


def sample(cycle: LimitCycle, x: Array, periods: int) -> list[Array]:
    """Points (k, 2) of a trajectory from x (2,), one array for each stretch between events."""
    own, phase = cycle.return_map, cycle.return_map.section
    start = phase.start if isinstance(phase, PhaseSection) else 0.0
    fine = SimulationOptions(max_step=cycle.period / 120)
    duration = periods * cycle.period
    run = simulate(own.system, cycle.mode, x, duration, np.zeros(0), t=start, options=fine)
    return [segment.states for segment in run.segments]
