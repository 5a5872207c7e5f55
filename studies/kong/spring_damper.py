"""HiLQR for a ball on a spring-damper.

R, Q_N, N and the timestep are those printed, and the seed is the unforced fall. Both methods stop
at |dJ| <= 0.05, which 5.4.1 prints for the bouncing ball. ``--full`` places events in other ways.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from saltation.hilqr.event_linearisation import Placement
from studies.figures import draw
from studies.kong.systems.spring_damper_ball import AERIAL, START, spring_damper_ball
from studies.kong.two_methods import (
    SHOWN,
    STEPS,
    Comparison,
    compare,
    heights_panel,
    inputs_panel,
    reaching,
)
from studies.study import StudyOptions, StudyResult, study

DURATION = STEPS * 1e-3  # timesteps of 1 ms, 5.4 [s]
TARGET = np.array([1.0, 0.0])  # x_des, 5.4.2
WEIGHTS = 1e-4, (100.0, 100.0)  # R, and the diagonal of Q_N, 5.4.2


def solve(options: StudyOptions, event_at: Placement = "end", steps: int = STEPS) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    ball = spring_damper_ball()
    model = reaching(ball, AERIAL, TARGET, WEIGHTS, DURATION, steps, event_at)
    return compare(options, model, np.array(START), np.zeros((steps, 1)))


@study("Kong, figure 5.3", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods; with ``full`` by every placement of events."""
    places = get_args(Placement) if options.full else ("end",)
    found = {where: solve(options, where) for where in places}
    rows = [row for each in found.values() for row in each.rows("touchdown")]
    ends = found["end"].trajectories()
    figure = draw(heights_panel(ends, DURATION, TARGET[0]),
                  inputs_panel(ends, DURATION, "input [N]"))  # fmt: skip
    return StudyResult(rows, {"figure-5.3": figure}, columns=SHOWN)
