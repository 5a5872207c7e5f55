"""Floquet multipliers from saltation matrices, against finite differences of return maps (3.4.3).

Each limit cycle is found by Newton's method on its return map. Its monodromy matrix (3.33) uses
the derivatives of flows, guards and resets; the Poincare map's Jacobian beside it only simulates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment

from hybrid.limit_cycle import LimitCycle, find_limit_cycle, sorted_eigenvalues
from hybrid.return_map import ReturnMap
from saltus.studies.engine import StudyOptions, StudyResult
from saltus.studies.kong.floquet.cases import CASES, Case
from saltus.studies.kong.floquet.figure import draw, multiplier_panel, phase_panel

NOTES = (
    "In the systems that do not depend on time one multiplier is 1, along the flow: it is listed"
    " in `multipliers` and left out of the comparison with `poincare_multipliers`.",
    "The vibrating table is driven: its return map is taken over one period of the table, in both"
    " coordinates, and no multiplier is trivial.",
    "`vibrating_table_saddle` is the other motion with one bounce a period; it is unstable.",
)


def run(options: StudyOptions) -> StudyResult:
    """Rows ``system, multipliers, poincare_multipliers, max_difference``; multipliers [re, im]."""
    rows, solved = [], []
    for done, case in enumerate(CASES):
        options.progress(done, len(CASES), case.name)
        return_map = ReturnMap(case.system, case.section, case.mode, options=case.options)
        cycle = find_limit_cycle(return_map, np.array(case.guess))
        poincare = _poincare_multipliers(cycle)
        rows.append(_row(case, cycle, poincare))
        solved.append((case, cycle, poincare))
    options.progress(len(CASES), len(CASES), "figure")
    notes = [f"{c.name}: {cycle.message}" for c, cycle, _ in solved if not cycle.ok]
    return StudyResult(rows, {"floquet": _figure(solved)}, (*NOTES, *notes))


def _poincare_multipliers(cycle: LimitCycle) -> np.ndarray:
    if not cycle.ok:
        return np.array([], dtype=np.complex128)
    D_xP = cycle.return_map.differences(cycle.state)  # noqa: N806
    return sorted_eigenvalues(D_xP) if np.all(np.isfinite(D_xP)) else np.array([], np.complex128)


def _row(case: Case, cycle: LimitCycle, poincare: np.ndarray) -> dict[str, Any]:
    values = cycle.multipliers if cycle.ok else np.array([], dtype=np.complex128)
    comparable = cycle.nontrivial_multipliers if cycle.ok else values
    return {
        "system": case.name,
        "multipliers": _pairs(values),
        "poincare_multipliers": _pairs(poincare),
        "max_difference": largest_difference(comparable, poincare),
    }


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
    made, axes = draw()
    shown = [entry for entry in solved if entry[0].title and entry[1].ok]
    for panel, (case, cycle, _) in zip(axes, shown, strict=False):
        phase_panel(panel, case, cycle)
    values = [(case.name, cycle.multipliers, fd) for case, cycle, fd in solved if cycle.ok]
    multiplier_panel(axes[-1], values)
    return made
