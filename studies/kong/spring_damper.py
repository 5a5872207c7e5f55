"""HiLQR for a ball on a spring-damper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from hybrid.hilqr import Trajectory
from hybrid.hilqr.event_linearisation import Placement
from studies.figures import COLOURS, GUARD, LABELS, figure
from studies.figures import TARGET as CROSS
from studies.kong.hilqr.two_methods import (
    CUT_OFF_NOTE,
    SHOWN,
    TRUE_NOTE,
    Comparison,
    compare,
    placement_notes,
)
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


@study("Kong, figure 5.3")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods from the unforced fall, with R, Q_N, N and the timestep as printed."""
    comparison = solve(options)
    notes = (CUT_OFF_NOTE, TRUE_NOTE, *placement_notes(partial(solve, options), "end"))
    drawing = {"figure-5.3": draw(comparison.trajectories())}
    return StudyResult(comparison.rows("touchdown"), drawing, notes, SHOWN)


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
            inputs.step(
                time[:-1], trajectory.inputs[:, 0], where="post", color=COLOURS[name], lw=1.0
            )
    heights.axhline(0.0, **GUARD)
    heights.plot([DURATION], [TARGET[0]], **CROSS)
    heights.set(xlabel="time [s]", ylabel="height [m]")
    heights.legend(frameon=False)
    inputs.set(xlabel="time [s]", ylabel="input [N]")
    return drawing
