"""Bouncing ball: HiLQR with the saltation matrix or the reset Jacobian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hybrid.hilqr import Trajectory
from studies.figures import COLOURS, GUARD, LABELS, TARGET, figure
from studies.kong.hilqr.ball_cases import (
    CASES,
    STEPS,
    BallRow,
    Case,
    Solved,
    seed_force,
    solve_case,
)
from studies.study import StudyOptions, StudyResult, study

SHOWN = (1, 3)  # optimal and seeded bounces of figure 5.2
FRACTIONS = tuple(np.linspace(0.1, 0.9, 9))  # of the seed's last flight, tried by --full


@study("Kong, table 5.1", "full")
def run(options: StudyOptions) -> StudyResult:
    """The 16 rows of Table 5.1; it is printed with N = 1000 and has nothing random in it."""
    solved: list[Solved] = []
    for i, case in enumerate(CASES):
        what = f"{case.seed} bounces seeded, {case.optimal} optimal: {case.method}"
        options.progress(i, len(CASES), what)
        solved.append(solve_case(case, STEPS))
    options.progress(len(CASES), len(CASES), "done")
    rows = [one.row for one in solved]
    shown = {one.row.method: one for one in solved if _bounces(one.row) == SHOWN}
    figures = {"figure-5.2": draw_example(shown), "table-5.1": draw_costs(rows)}
    scanned = other_seeds(options) if options.full else ()
    return StudyResult(rows, figures, (*notes(rows), *scanned))


def notes(rows: Sequence[BallRow]) -> tuple[str, ...]:
    """How the seeds were chosen, and what 5.5.1 says of the rows counted in them."""
    seeds = sorted({(case.duration, case.seed) for case in CASES})
    forces = ", ".join(f"{seed_force(n, T):.1f} N ({n} in {T:.0f} s)" for T, n in seeds)
    xi = [row for row in rows if row.method == "xi"]
    kept = [row for row in rows if row.method == "dxr" and row.actual]
    return (
        "Seeds are constant forces that end halfway through the flight after the last seeded"
        f" bounce: {forces}.",
        "Expected reduction: |dJ| of (5.19); converged: at most 0.05. For direct collocation it is"
        " not defined, and converged is the status of its optimiser.",
        f"Converged: Xi in {sum(row.converged for row in xi)} of {len(xi)} rows; D_xR in"
        f" {sum(row.converged for row in kept)} of the {len(kept)} rows with a bounce.",
    )


def other_seeds(options: StudyOptions) -> tuple[str, ...]:
    """A line a case: how the methods end from seeds across the forces that give its bounces."""
    lines, pairs = [], [(0, 1), (1, 1), (1, 3), (3, 1), (3, 3)]
    for i, (optimal, seed) in enumerate(pairs):
        options.progress(i, len(pairs), f"other seeds of {optimal}, {seed}")
        rows = {
            method: [solve_case(Case(optimal, seed, method), STEPS, f).row for f in FRACTIONS]
            for method in ("xi", "dxr")
        }
        kept = [row for row in rows["dxr"] if row.actual]
        xi, dxr = (sum(row.converged for row in group) for group in (rows["xi"], kept))
        lines.append(
            f"{optimal} optimal, {seed} seeded: xi converged from {xi} of {len(FRACTIONS)} seeds,"
            f" dxr from {dxr} of the {len(kept)} seeds with a bounce at the end."
        )
    return tuple(lines)


def draw_example(solved: dict[str, Solved]) -> Figure:
    """Figure 5.2: height, phase plane and input of the seed and of both methods."""
    drawing, axes = figure(columns=2, rows=2, width=7.2, height=4.6, width_ratios=(3, 2))
    (heights, plane), (inputs, zoomed) = axes
    case = Case(*SHOWN, "xi")
    trajectories = {"seed": solved["xi"].seed, **{name: one.final for name, one in solved.items()}}
    for name, trajectory in trajectories.items():
        if trajectory is not None:
            time = np.linspace(0.0, case.duration, len(trajectory.states))
            look: dict[str, Any] = {"color": COLOURS[name], "label": LABELS[name], "lw": 1.4}
            heights.plot(time, trajectory.states[:, 0], **look)
            plane.plot(*_branches(trajectory), **look)
            for panel in (inputs, zoomed):
                panel.step(time[:-1], trajectory.inputs[:, 0], where="post", **look)
    heights.plot(case.duration, case.target_height, **TARGET, label="target", clip_on=False)
    plane.plot(case.target_height, 0.0, **TARGET)
    heights.axhline(0.0, **GUARD)
    plane.axvline(0.0, **GUARD)
    heights.set(xlabel="time [s]", ylabel="height [m]")
    plane.set(xlabel="height [m]", ylabel="velocity [m/s]")
    inputs.set(xlabel="time [s]", ylabel="force [N]")
    zoomed.set(xlabel="time [s]", ylabel="force [N]", ylim=_limits(trajectories))
    zoomed.set_title("without the seed", fontsize=9)
    drawing.legend(*heights.get_legend_handles_labels(), loc="outside upper center", ncols=4,
                   fontsize=8, frameon=False)  # fmt: skip
    return drawing


def draw_costs(rows: Sequence[BallRow]) -> Figure:
    """Cost of every row; a bar that is not filled did not converge."""
    drawing, axes = figure(width=7.2, height=3.2)
    colours = {**COLOURS, "no_extension": COLOURS["seed"]}
    groups = list(dict.fromkeys(_bounces(row) for row in rows))
    for g, group in enumerate(groups):
        members = [row for row in rows if _bounces(row) == group and row.cost is not None]
        for j, row in enumerate(members):
            x, colour = g + 0.25 * (j - 0.5 * (len(members) - 1)), colours[row.method]
            face = colour if row.converged else "none"
            axes.bar(x, row.cost, 0.22, facecolor=face, edgecolor=colour, linewidth=1.2)
            axes.annotate(f"{row.cost:.3g}", (x, row.cost), ha="center", va="bottom",
                          fontsize=6)  # fmt: skip
    for method in dict.fromkeys(row.method for row in rows):
        axes.bar(0.0, 0.0, color=colours[method], label=LABELS[method])
    labels = [f"optimal {optimal}\nseed {seed}" for optimal, seed in groups]
    axes.set_xticks(range(len(groups)), labels)
    axes.set(yscale="log", ylabel="cost (not filled: not converged)")
    drawing.legend(loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    return drawing


def _bounces(row: BallRow) -> tuple[int, int]:
    return row.optimal, row.seed


def _branches(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Heights and velocities with both sides of each event, and a gap for its jump."""
    states = [trajectory.states]
    knots = [happened.knot + 1 for happened in trajectory.aux.events]
    both = [
        (e.event.state_before, [np.nan] * 2, e.event.state_after) for e in trajectory.aux.events
    ]
    joined = states[0]
    for knot, rows in zip(reversed(knots), reversed(both), strict=True):
        joined = np.insert(joined, [knot] * 3, np.stack(rows), axis=0)
    return joined[:, 0], joined[:, 1]


def _limits(trajectories: dict[str, Trajectory | None]) -> tuple[float, float]:
    """Range of the optimised inputs, widened by a tenth."""
    inputs = [t.inputs for name, t in trajectories.items() if t is not None and name != "seed"]
    if not inputs:
        return -1.0, 1.0
    low, high = np.min(np.concatenate(inputs)), np.max(np.concatenate(inputs))
    return low - 0.1 * (high - low), high + 0.1 * (high - low)
