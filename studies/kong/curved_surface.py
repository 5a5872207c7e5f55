"""HiLQR for a ball inside a tube.

The thesis prints neither the initial velocity nor the time of the seed's push, and the outcome
depends on both. Wherever the seed makes a descent lift the ball off for an instant, the cost has a
cliff beside the trajectory, and either method can stop there; ``--full`` tries other starts and
places events in other ways. Both methods stop at |dJ| <= 0.05, which 5.4.1 prints for the bouncing
ball.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import numpy as np
from matplotlib.figure import Figure

from hybrid.hilqr import Trajectory
from hybrid.hilqr.event_linearisation import Placement
from hybrid.systems import Array
from studies.figures import COLOURS, GUARD, LABELS, figure
from studies.figures import TARGET as CROSS
from studies.kong.hilqr.two_methods import SHOWN, Comparison, compare, draw_inputs
from studies.kong.systems.tube_ball import (
    GRAVITY,
    INPUT_WEIGHT,
    MASS,
    RADIUS,
    START,
    STEPS,
    TARGET,
    TIMESTEP,
    tube_problem,
)
from studies.study import StudyOptions, StudyResult, study

DURATION = STEPS * TIMESTEP  # [s]
FORCE = 2.0 * MASS * GRAVITY  # [N], upwards: the seed's vertical force 2 m g, 5.4.3
PUSH = (0.5, 0.6)  # [s]; 5.4.3 says "a small duration"; the project's choice
VELOCITIES = ((1.0, -1.0), (1.0, -2.0), (2.0, -2.0), (0.5, -0.5), (1.0, 0.0))  # tried by --full
PUSHES = (PUSH, (0.45, 0.55), (0.55, 0.65), (0.6, 0.7), (0.5, 0.55))  # tried by --full [s]


@study("Kong, figure 5.4", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods from a seed that leaves the tube once too often."""
    found = solve(options)
    rows = rows_of(found)
    if options.full:
        rows += [row for at in get_args(Placement) if at != "end"
                 for row in rows_of(solve(options, at))]  # fmt: skip
        rows += other_starts(options)
    return StudyResult(rows, {"figure-5.4": draw(found.trajectories())}, columns=SHOWN)


def rows_of(
    found: Comparison,
    velocity: tuple[float, ...] = START[2:],
    push: tuple[float, float] = PUSH,
) -> list[dict[str, Any]]:
    """Both methods' rows, with the start's velocity [m/s] and begin and end of the push [s]."""
    more = {"velocity": list(velocity), "push": list(push)}
    return [row | more for row in found.rows("impact")]


def other_starts(options: StudyOptions) -> Iterator[dict[str, Any]]:
    """Rows of the starts that can be simulated, at other velocities and times of the push."""
    model, cases = tube_problem(), [(each, push) for each in VELOCITIES for push in PUSHES]
    for velocity, push in options.track(cases):
        x0 = np.array([*START[:2], *velocity])
        try:
            found = compare(model, x0, seed_inputs(STEPS, push))
        except ValueError:  # a seed that grazes the tube: no rollout, and nothing to compare
            continue
        yield from rows_of(found, velocity, push)


def solve(options: StudyOptions, event_at: Placement = "end", steps: int = STEPS) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    model = tube_problem(DURATION / steps, INPUT_WEIGHT * STEPS / steps, event_at)
    return compare(model, np.array(START), seed_inputs(steps), options.progress)


def seed_inputs(steps: int, push: tuple[float, float] = PUSH) -> Array:
    """Inputs (steps, 2) of the seed: none but the push, from its start to its end [s]."""
    inputs = np.zeros((steps, 2))
    first, last = (round(time / DURATION * steps) for time in push)
    inputs[first:last, 1] = FORCE
    return inputs


def draw(trajectories: Mapping[str, Trajectory]) -> Figure:
    """Figure 5.4: the path in the tube, and both inputs over time."""
    drawing, (path, inputs) = figure(columns=2, width=8.0, height=3.6)
    for name, trajectory in trajectories.items():
        path.plot(*trajectory.states[:, :2].T, color=COLOURS[name], label=LABELS[name])
        draw_inputs(inputs, name, trajectory.inputs, DURATION)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    path.plot(RADIUS * np.cos(angle), RADIUS * np.sin(angle), zorder=0, **GUARD)
    path.plot([START[0]], [START[1]], "o", color=COLOURS["initial"], markersize=5)
    path.plot([TARGET[0]], [TARGET[1]], **CROSS)
    path.set(xlabel="y [m]", ylabel="z [m]", aspect="equal")
    path.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.9))  # in the circle
    inputs.set(xlabel="time [s]", ylabel="input [N]: horizontal solid, vertical dotted")
    return drawing
