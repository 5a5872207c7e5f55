"""HiLQR for a ball inside a tube.

The thesis prints neither the initial velocity nor the time of the seed's push, and the outcome
depends on both. Wherever the seed makes a descent lift the ball off for an instant, the cost has a
cliff beside the trajectory, and either method can stop there; ``--full`` tries other starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hybrid.hilqr import Trajectory
from hybrid.hilqr.event_linearisation import Placement
from hybrid.systems import Array
from studies.figures import COLOURS, GUARD, LABELS, figure
from studies.figures import TARGET as CROSS
from studies.kong.hilqr.two_methods import (
    CUT_OFF_NOTE,
    SHOWN,
    TRUE_NOTE,
    Comparison,
    compare,
    ends_note,
    placement_notes,
)
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
PUSH = 2.0 * MASS * GRAVITY  # [N], upwards: the seed's vertical force 2 m g, 5.4.3
VELOCITIES = ((1.0, -1.0), (1.0, -2.0), (2.0, -2.0), (0.5, -0.5), (1.0, 0.0))  # tried by --full
PUSHES = ((0.5, 0.6), (0.45, 0.55), (0.55, 0.65), (0.6, 0.7), (0.5, 0.55))  # tried by --full [s]
PUSH_START, PUSH_END = 0.5, 0.6  # [s]; 5.4.3 says "a small duration"; the project's choice


@study("Kong, figure 5.4", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods from a seed that leaves the tube once too often."""
    comparison = solve(options)
    notes = (
        CUT_OFF_NOTE,
        TRUE_NOTE,
        f"5.4.3 prints neither initial velocity nor time of the push. Here: {START[2:]} m/s and"
        f" {PUSH_START} to {PUSH_END} s; other values can lead to another optimum.",
        *placement_notes(partial(solve, options), "end"),
        *(other_starts(options) if options.full else ()),
    )
    drawing = {"figure-5.4": draw(comparison.trajectories())}
    return StudyResult(comparison.rows("impact"), drawing, notes, SHOWN)


def other_starts(options: StudyOptions) -> tuple[str, ...]:
    """One line: how the methods end from other velocities and times of the push."""
    cases = [(velocity, push) for velocity in VELOCITIES for push in PUSHES]
    model, ends = tube_problem(), []
    for i, (velocity, push) in enumerate(cases):
        options.progress(i, len(cases), "other starts")
        x0 = np.array([*START[:2], *velocity])
        try:
            ends.append(compare(model, x0, seed_inputs(STEPS, push)).solutions)
        except ValueError:  # a seed that grazes the tube: no rollout, and nothing to compare
            continue
    return (ends_note(f"From the {len(ends)} of {len(cases)} starts that can be simulated", ends),)


def solve(options: StudyOptions, event_at: Placement = "end", steps: int = STEPS) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    model = tube_problem(DURATION / steps, INPUT_WEIGHT * STEPS / steps, event_at)
    return compare(model, np.array(START), seed_inputs(steps), options.progress)


def seed_inputs(steps: int, push: tuple[float, float] = (PUSH_START, PUSH_END)) -> Array:
    """Inputs (steps, 2) of the seed: none but the push, from its start to its end [s]."""
    inputs = np.zeros((steps, 2))
    first, last = (round(time / DURATION * steps) for time in push)
    inputs[first:last, 1] = PUSH
    return inputs


def draw(trajectories: Mapping[str, Trajectory]) -> Figure:
    """Figure 5.4: the path in the tube, and both inputs over time."""
    drawing, axes = figure(columns=2, width=8.0, height=3.6)
    for name, trajectory in trajectories.items():
        axes[0].plot(*trajectory.states[:, :2].T, color=COLOURS[name], label=LABELS[name])
        _draw_inputs(axes[1], name, trajectory.inputs)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    axes[0].plot(RADIUS * np.cos(angle), RADIUS * np.sin(angle), zorder=0, **GUARD)
    axes[0].plot([START[0]], [START[1]], "o", color=COLOURS["initial"], markersize=5)
    axes[0].plot([TARGET[0]], [TARGET[1]], **CROSS)
    axes[0].set(xlabel="y [m]", ylabel="z [m]", aspect="equal")
    axes[0].legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.9))  # in the circle
    axes[1].set(xlabel="time [s]", ylabel="input [N]: horizontal solid, vertical dotted")
    return drawing


def _draw_inputs(axes: Any, name: str, inputs: Array) -> None:
    time = np.arange(len(inputs)) * DURATION / len(inputs)
    for channel, style in ((0, "-"), (1, ":")):
        axes.step(
            time, inputs[:, channel], where="post", color=COLOURS[name], linestyle=style, lw=1.2
        )
