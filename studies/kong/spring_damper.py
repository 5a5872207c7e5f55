"""HiLQR for a ball on a spring-damper.

R, Q_N, N and the timestep are those printed, and the seed is the unforced fall. Both methods stop
at |dJ| <= 0.05, which 5.4.1 prints for the bouncing ball. ``--full`` places events in other ways.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from hybrid.hilqr import Trajectory
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.event_linearisation import Placement
from studies.figures import COLOURS, GUARD, LABELS, figure, key
from studies.figures import TARGET as CROSS
from studies.kong.systems.spring_damper_ball import AERIAL, START, spring_damper_ball
from studies.kong.two_methods import SHOWN, Comparison, compare, draw_inputs, placements
from studies.study import StudyOptions, StudyResult, study

STEPS = 1000  # N, 5.4
DURATION = STEPS * 1e-3  # timesteps of 1 ms, 5.4 [s]
TARGET = np.array([1.0, 0.0])  # x_des, 5.4.2
INPUT_WEIGHT = 1e-4  # R at each timestep, 5.4.2
TERMINAL_WEIGHT = 100.0  # Q_N / I, 5.4.2


@study("Kong, figure 5.3", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods; with ``full`` by every placement of events."""
    found = {where: solve(options, where) for where in placements(options)}
    rows = [row for each in found.values() for row in each.rows("touchdown")]
    return StudyResult(rows, {"figure-5.3": draw(found["end"].trajectories())}, columns=SHOWN)


def solve(options: StudyOptions, event_at: Placement = "end", steps: int = STEPS) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    weight = np.array([[INPUT_WEIGHT * STEPS / steps]])
    cost = QuadraticCost.reaching(TARGET, weight, TERMINAL_WEIGHT * np.eye(2))
    timestep = DURATION / steps
    model = EventDrivenModel(spring_damper_ball(), AERIAL, timestep, cost, event_at=event_at)
    return compare(options, model, np.array(START), np.zeros((steps, 1)))


def draw(trajectories: Mapping[str, Trajectory]) -> Figure:
    """Figure 5.3: height and input over time."""
    drawing, (heights, inputs) = figure(columns=2, width=7.2, height=3.0)
    for name, trajectory in trajectories.items():
        time = np.linspace(0.0, DURATION, len(trajectory.states))
        heights.plot(time, trajectory.states[:, 0], color=COLOURS[name], label=LABELS[name])
        if name != "seed":
            draw_inputs(inputs, name, trajectory.inputs, DURATION)
    heights.axhline(0.0, **GUARD)
    heights.plot([DURATION], TARGET[:1], **CROSS)
    heights.set(xlabel="time [s]", ylabel="height [m]")
    key(heights)
    inputs.set(xlabel="time [s]", ylabel="input [N]")
    return drawing
