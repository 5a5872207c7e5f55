"""HiLQR for a perching quadcopter.

Weights, N, the timestep and the seed are those printed. The coefficient of friction is not. Tried
from 0 to 0.8, the saltation matrix converges each time and the reset Jacobian only at 0.8. Up to
0.4, and at 0.6, the saltation matrix keeps the latch and costs less. At 0.5 it ends without the
latch, as in 5.5.4, and then costs more; at 0.8 the reset Jacobian does so. x_des is the perch at
-pi/12 on the wall: z = 5 sin (5 cos is printed). Both methods stop at |dJ| <= 0.05, which 5.4.1
prints for the bouncing ball. ``--full`` places events in other ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from hybrid.hilqr import Trajectory
from hybrid.hilqr.event_linearisation import Placement
from studies.figures import COLOURS, GUARD, LABELS, figure
from studies.figures import TARGET as CROSS
from studies.kong.hilqr.two_methods import Comparison, compare, draw_inputs
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
SHOWN = ("method", "event_at", "cost", "expected_reduction", "converged", "contacts",
         "final_mode", "position_error")  # fmt: skip
BAR_PERIOD = 0.08  # between two drawn quadcopters [s]


@study("Kong, figure 5.1", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods; with ``full`` by every placement of events."""
    placements: tuple[Placement, ...] = get_args(Placement) if options.full else ("end",)
    found = {where: solve(options, where) for where in placements}
    made = [row for each in found.values() for row in rows(each)]
    return StudyResult(made, {"figure-5.1": draw(found["end"].trajectories())}, columns=SHOWN)


def solve(options: StudyOptions, event_at: Placement = "end", steps: int = STEPS) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    model = quadcopter_problem(DURATION / steps, None, event_at)
    return compare(model, START, quadcopter_seed(model, steps), options.progress)


def rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Rows of the table, with the ``modes`` in order and the ``position_error`` at the end [m]."""
    made = []
    ends, modes = comparison.trajectories(), comparison.model.system.modes
    for row in comparison.rows("impact"):
        end = ends[row["method"]]
        sequence = [end.aux.knots[0]] + [e.event.transition.target for e in end.aux.events]
        names = [modes[int(number)].name for number in sequence]
        error = float(np.linalg.norm((end.states[-1] - perch())[:2]))
        made.append(row | {"modes": names, "position_error": error})
    return made


def draw(trajectories: Mapping[str, Trajectory]) -> Figure:
    """Figure 5.1: the flights beside the wall, and both methods' thrusts over time."""
    drawing, (wall, *panels) = figure(
        columns=3, width=10.0, height=4.6, width_ratios=[1.1, 1.0, 1.0]
    )
    for name, trajectory in trajectories.items():
        every = max(1, round(BAR_PERIOD / DURATION * (len(trajectory.states) - 1)))
        shown = trajectory.states[::every]
        half = 0.5 * Body().width * np.stack([np.cos(shown[:, 2]), np.sin(shown[:, 2])], axis=1)
        bars = np.stack([shown[:, :2] - half, shown[:, :2] + half], axis=1)
        wall.plot(*trajectory.states[:, :2].T, color=COLOURS[name], lw=0.7, label=LABELS[name])
        wall.add_collection(LineCollection(list(bars), colors=COLOURS[name], linewidths=1.8))
    angle, radius = np.linspace(-0.36, 0.72, 200), Body().radius
    wall.plot(radius * np.cos(angle), radius * np.sin(angle), zorder=0, **GUARD)
    wall.plot([START[0]], [START[1]], "o", color=COLOURS["initial"], markersize=4)
    wall.plot(*perch()[:2, None], **CROSS)
    wall.set(xlabel="y [m]", ylabel="z [m]", aspect="equal")
    wall.legend(frameon=False, loc="lower left")
    for panel, name in zip(panels, list(trajectories)[1:], strict=True):
        draw_inputs(panel, name, trajectories[name].inputs, DURATION)
        panel.set(xlabel="time [s]", ylabel="thrust [N]: left solid, right dotted")
        panel.set_title(LABELS[name])
    panels[1].sharey(panels[0])
    return drawing
