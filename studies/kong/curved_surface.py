"""HiLQR for a ball inside a tube.

The thesis prints neither the initial velocity nor the time of the seed's push, and the outcome
depends on both. Wherever the seed makes a descent lift the ball off for an instant, the cost has a
cliff beside the trajectory, and either method can stop there. Both methods stop at |dJ| <= 0.05,
which 5.4.1 prints for the bouncing ball. The thesis's D_x R does not converge and ends in the air;
it converges here, in contact.
"""

from __future__ import annotations

import math

import numpy as np

from saltation.hilqr.event_linearisation import Placement
from studies.figures import Panel, draw
from studies.kong.systems.tube_ball import GRAVITY, MASS, RADIUS, UNCONSTRAINED, tube_ball
from studies.kong.two_methods import (
    SHOWN,
    STEPS,
    Comparison,
    compare,
    inputs_panel,
    reaching,
)
from studies.study import StudyOptions, StudyResult, study

DURATION = STEPS * 1e-3  # timesteps of 1 ms, 5.4 [s]
PLACE = (1.0, 0.0)  # of the start, 5.4.3
TARGET = np.array([-math.sqrt(3.0), -1.0, 0.0, 0.0])  # x_des, 5.4.3
WEIGHTS = 1e-4, (100.0,) * 4  # R / I, and the diagonal of Q_N, 5.4.3
FORCE = 2.0 * MASS * GRAVITY  # [N], upwards: the seed's vertical force 2 m g, 5.4.3
VELOCITY = (1.0, -1.0)  # [m/s], chosen
PUSH = (0.5, 0.6)  # [s]; 5.4.3 says "a small duration"; chosen


def solve(options: StudyOptions, event_at: Placement = "end", steps: int = STEPS) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    inputs = np.zeros((steps, 2))
    first, last = (round(time / DURATION * steps) for time in PUSH)
    inputs[first:last, 1] = FORCE
    model = reaching(tube_ball(), UNCONSTRAINED, TARGET, WEIGHTS, DURATION, steps, event_at)
    return compare(options, model, np.array([*PLACE, *VELOCITY]), inputs)


@study("Kong, figure 5.4")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods from a seed that leaves the tube once too often."""
    found = solve(options)
    ends, angle = found.trajectories(), np.linspace(0.0, 2.0 * np.pi, 200)
    paths = {name: one.states[:, :2] for name, one in ends.items()}
    paths |= {"target": TARGET[None, :2],
              "guard": RADIUS * np.stack((np.cos(angle), np.sin(angle)), axis=1)}  # fmt: skip
    tube = Panel(paths, "y [m]", "z [m]", settings={"aspect": "equal"})
    figure = draw(tube, inputs_panel(ends, DURATION, "inputs [N]"))
    return StudyResult(found.rows("impact"), {"figure-5.4": figure}, columns=SHOWN)
