"""HiLQR for a perching quadcopter.

The coefficient of friction is not printed. Tried from 0 to 0.8, the saltation matrix converges
each time and the reset Jacobian only at 0.8. Up to 0.4, and at 0.6, the saltation matrix keeps the
latch and costs less. At 0.5 it ends without the latch, as in 5.5.4, and then costs more; at 0.8
the reset Jacobian does so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from hybrid.hilqr import Trajectory
from hybrid.hilqr.event_linearisation import Placement
from hybrid.systems import Array
from studies.figures import COLOURS, GUARD, LABELS, figure
from studies.figures import TARGET as CROSS
from studies.kong.hilqr.two_methods import (
    CUT_OFF_NOTE,
    Comparison,
    MethodRow,
    compare,
    placement_notes,
)
from studies.kong.systems.quadcopter import (
    START,
    STEPS,
    TIMESTEP,
    perch,
    quadcopter_problem,
    quadcopter_seed,
)
from studies.kong.systems.quadcopter_contact import Body
from studies.study import StudyOptions, StudyResult, study

DURATION = STEPS * TIMESTEP  # [s]
SHOWN = (
    "method",
    "cost",
    "expected_reduction",
    "converged",
    "contacts",
    "final_mode",
    "position_error",
)  # keys in the table for a person
BAR_PERIOD = 0.08  # between two drawn quadcopters [s]


@dataclass(frozen=True)
class PerchRow(MethodRow):
    """One method's solution, its modes in order, and its end's distance from the perch [m]."""

    modes: list[str]
    position_error: float


@study("Kong, figure 5.1")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods from the thesis's seed, with the printed weights, N and timestep."""
    comparison = solve(options)
    notes = (
        CUT_OFF_NOTE,
        f"5.4.4 prints no coefficient of friction. Here: {Body().friction}.",
        "x_des is the perch at -pi/12 on the wall: z = 5 sin (5 cos is printed).",
        *placement_notes(partial(solve, options), "end"),
    )
    drawing = {"figure-5.1": draw(comparison.trajectories())}
    return StudyResult(rows(comparison), drawing, notes, SHOWN)


def solve(
    options: StudyOptions,
    event_at: Placement = "end",
    steps: int = STEPS,
    body: Body | None = None,
) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    model = quadcopter_problem(DURATION / steps, body, event_at)
    return compare(model, START, quadcopter_seed(model, steps, body), options.progress)


def rows(comparison: Comparison) -> list[PerchRow]:
    """Rows of the table, with the ``modes`` in order and the ``position_error`` at the end [m]."""
    made = []
    ends, modes = comparison.trajectories(), comparison.model.system.modes
    for row in comparison.rows("impact"):
        end = ends[row.method]
        sequence = [end.aux.knots[0]] + [e.event.transition.target for e in end.aux.events]
        names = [modes[int(number)].name for number in sequence]
        error = float(np.linalg.norm((end.states[-1] - perch())[:2]))
        made.append(PerchRow(**vars(row), modes=names, position_error=error))
    return made


def draw(trajectories: Mapping[str, Trajectory]) -> Figure:
    """Figure 5.1: the flights beside the wall, and both methods' thrusts over time."""
    drawing, axes = figure(columns=3, width=10.0, height=4.6, width_ratios=[1.1, 1.0, 1.0])
    for name, trajectory in trajectories.items():
        _draw_flight(axes[0], name, trajectory.states)
    _draw_wall(axes[0], Body().radius)
    axes[0].legend(frameon=False, loc="lower left")
    methods = [name for name in trajectories if name != "seed"]
    for panel, name in zip(axes[1:], methods, strict=False):
        _draw_thrusts(panel, name, trajectories[name].inputs)
    axes[2].sharey(axes[1])
    return drawing


def _draw_wall(axes: Any, radius: float) -> None:
    angle = np.linspace(-0.36, 0.72, 200)
    axes.plot(radius * np.cos(angle), radius * np.sin(angle), zorder=0, **GUARD)
    axes.plot([START[0]], [START[1]], "o", color=COLOURS["initial"], markersize=4)
    axes.plot(*perch()[:2, None], **CROSS)
    axes.set(xlabel="y [m]", ylabel="z [m]", aspect="equal")


def _draw_flight(axes: Any, name: str, states: Array) -> None:
    """Path of the centre, and the quadcopter as a bar of its own width every so often."""
    every = max(1, round(BAR_PERIOD / DURATION * (len(states) - 1)))
    shown = states[::every]
    half = 0.5 * Body().width * np.stack([np.cos(shown[:, 2]), np.sin(shown[:, 2])], axis=1)
    bars = np.stack([shown[:, :2] - half, shown[:, :2] + half], axis=1)
    axes.plot(*states[:, :2].T, color=COLOURS[name], lw=0.7, label=LABELS[name])
    axes.add_collection(LineCollection(list(bars), colors=COLOURS[name], linewidths=1.8))


def _draw_thrusts(axes: Any, name: str, inputs: Array) -> None:
    time = np.arange(len(inputs)) * DURATION / len(inputs)
    for channel, style, label in ((0, "-", "left"), (1, ":", "right")):
        axes.step(time, inputs[:, channel], style, where="post", color=COLOURS[name], label=label)
    axes.set(xlabel="time [s]", ylabel="thrust [N]", title=LABELS[name])
    axes.legend(frameon=False)
