"""HiLQR for a ball on a spring-damper.

R, Q_N, N and the timestep are those printed, and the seed is the unforced fall. Both methods stop
at |dJ| <= 0.05, which 5.4.1 prints for the bouncing ball. ``--full`` places events in other ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import numpy as np
from matplotlib.figure import Figure

from hybrid.hilqr import Trajectory
from hybrid.hilqr.event_linearisation import Placement
from studies.figures import COLOURS, GUARD, LABELS, figure
from studies.figures import TARGET as CROSS
from studies.kong.hilqr.two_methods import SHOWN, Comparison, compare, draw_inputs
from studies.kong.systems.spring_damper_ball import (
    INPUT_WEIGHT,
    START,
    STEPS,
    TARGET,
    TIMESTEP,
    spring_damper_problem,
)
from studies.study import StudyOptions, StudyResult, study

DURATION = STEPS * TIMESTEP  # [s]


@study("Kong, figure 5.3", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods; with ``full`` by every placement of events."""
    placements: tuple[Placement, ...] = get_args(Placement) if options.full else ("end",)
    found = {where: solve(options, where) for where in placements}
    rows = [row for each in found.values() for row in each.rows("touchdown")]
    return StudyResult(rows, {"figure-5.3": draw(found["end"].trajectories())}, columns=SHOWN)


def solve(options: StudyOptions, event_at: Placement = "end", steps: int = STEPS) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    model = spring_damper_problem(DURATION / steps, INPUT_WEIGHT * STEPS / steps, event_at)
    return compare(model, np.array(START), np.zeros((steps, 1)), options.progress)


def draw(trajectories: Mapping[str, Trajectory]) -> Figure:
    """Figure 5.3: height and input over time."""
    drawing, (heights, inputs) = figure(columns=2, width=7.2, height=3.0)
    for name, trajectory in trajectories.items():
        time = np.linspace(0.0, DURATION, len(trajectory.states))
        heights.plot(time, trajectory.states[:, 0], color=COLOURS[name], label=LABELS[name])
        if name != "seed":
            draw_inputs(inputs, name, trajectory.inputs, DURATION)
    heights.axhline(0.0, **GUARD)
    heights.plot([DURATION], [TARGET[0]], **CROSS)
    heights.set(xlabel="time [s]", ylabel="height [m]")
    heights.legend(frameon=False)
    inputs.set(xlabel="time [s]", ylabel="input [N]")
    return drawing
