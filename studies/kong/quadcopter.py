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

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from hybrid.hilqr import Policies, Trajectory
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.event_linearisation import Placement
from studies.figures import COLOURS, GUARD, LABELS, figure
from studies.figures import TARGET as CROSS
from studies.kong.systems.quadcopter import (
    ARM,
    FREE,
    GRAVITY,
    LATCHED,
    MASS,
    RADIUS,
    START,
    perch,
    quadcopter,
)
from studies.kong.two_methods import Comparison, compare, draw_inputs, placements
from studies.study import StudyOptions, StudyResult, study

STEPS = 1000  # N, 5.4
DURATION = STEPS * 0.002  # timesteps of 2 ms, 5.4.4 [s]
INPUT_WEIGHT = 0.01  # R per step, 5.4.4
TERMINAL_WEIGHT = (1000.0, 1000.0, 1000.0, 0.1, 0.1, 0.1)  # diagonal of Q_N, 5.4.4
SEED_THRUST = 1.5  # both thrusters together [m g], 5.4.4
LATCHED_THRUST = 0.1  # once both edges touch [m g], 5.4.4
PRINTED = {"xi": 4.76, "dxr": 2660.0}  # costs; 4.76 would be 0.49 N rms a rotor at this R
SHOWN = ("method", "event_at", "cost", "thesis_cost", "expected_reduction", "converged",
         "contacts", "final_mode", "position_error")  # fmt: skip
BAR_PERIOD = 0.08  # between two drawn quadcopters [s]


@study("Kong, figure 5.1", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods; with ``full`` by every placement of events.

    ``modes`` are in order, ``position_error`` is at the end [m].
    """
    rows, found = [], {where: solve(options, where) for where in placements(options)}
    for each in found.values():
        ends, modes = each.trajectories(), each.model.system.modes
        for row in each.rows("impact", PRINTED):
            end = ends[row["method"]]
            numbers = [end.aux.knots[0]] + [e.event.transition.target for e in end.aux.events]
            rows.append(row | {
                "modes": [modes[int(number)].name for number in numbers],
                "position_error": float(np.linalg.norm((end.states[-1] - perch())[:2])),
            })  # fmt: skip
    return StudyResult(rows, {"figure-5.1": draw(found["end"].trajectories())}, columns=SHOWN)


def solve(options: StudyOptions, event_at: Placement = "end", steps: int = STEPS) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    model = problem(event_at, steps)
    return compare(options, model, START, seed_inputs(model, steps))


def problem(event_at: Placement = "end", steps: int = STEPS) -> EventDrivenModel:
    """Reach the perch, at a cost on the thrusts alone (5.4.4)."""
    timestep = DURATION / steps
    R = INPUT_WEIGHT * timestep / (DURATION / STEPS) * np.eye(2)  # noqa: N806
    cost = QuadraticCost.reaching(perch(), R, np.diag(TERMINAL_WEIGHT))
    return EventDrivenModel(quadcopter(), FREE, timestep, cost, event_at=event_at)


def seed_inputs(model: EventDrivenModel, steps: int) -> np.ndarray:
    """Inputs (steps, 2) of the seed of 5.4.4: 1.5 m g in all, 0.1 m g once both edges touch."""
    inputs = np.full((steps, 2), 0.5 * SEED_THRUST * (MASS * GRAVITY))
    policies = Policies.of(np.zeros((steps + 1, 6)), inputs, np.zeros((steps, 2, 6)))
    for knot, event in model.roll_out(START, policies).select(0).aux.events:
        if event.transition.target == LATCHED:
            inputs[knot + 1 :] = 0.5 * LATCHED_THRUST * (MASS * GRAVITY)
    return inputs


def draw(trajectories: Mapping[str, Trajectory]) -> Figure:
    """Figure 5.1: the flights beside the wall, and both methods' thrusts over time."""
    drawing, (wall, *panels) = figure(columns=3, width=10.0, height=4.6)
    for name, trajectory in trajectories.items():
        every = max(1, round(BAR_PERIOD / DURATION * (len(trajectory.states) - 1)))
        middle, turn = trajectory.states[::every, :2], trajectory.states[::every, 2]
        half = ARM * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        wall.plot(*trajectory.states[:, :2].T, color=COLOURS[name], lw=0.7, label=LABELS[name])
        bars = list(np.stack([middle - half, middle + half], axis=1))
        wall.add_collection(LineCollection(bars, colors=COLOURS[name], linewidths=1.8))
    angle = np.linspace(-0.36, 0.72, 200)
    wall.plot(RADIUS * np.cos(angle), RADIUS * np.sin(angle), zorder=0, **GUARD)
    wall.plot(*START[:2, None], "o", color=COLOURS["initial"], markersize=4)
    wall.plot(*perch()[:2, None], **CROSS)
    wall.set(xlabel="y [m]", ylabel="z [m]", aspect="equal")
    wall.legend(frameon=False, loc="lower left")
    for panel, name in zip(panels, list(trajectories)[1:], strict=True):
        draw_inputs(panel, name, trajectories[name].inputs, DURATION)
        panel.set(xlabel="time [s]", ylabel="thrust [N]: left solid, right dotted")
        panel.set_title(LABELS[name])
    panels[1].sharey(panels[0])
    return drawing
