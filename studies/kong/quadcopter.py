"""HiLQR for a perching quadcopter.

Weights, N, the timestep and the seed are those printed. The coefficient of friction is not. Tried
from 0 to 0.8, the saltation matrix converges each time and the reset Jacobian only at 0.8. Up to
0.4, and at 0.6, the saltation matrix keeps the latch and costs less. At 0.5 it ends without the
latch, as in 5.5.4, and then costs more; at 0.8 the reset Jacobian does so. x_des is the perch at
-pi/12 on the wall: z = 5 sin (5 cos is printed). Both methods stop at |dJ| <= 0.05, which 5.4.1
prints for the bouncing ball.
"""

from __future__ import annotations

import numpy as np

from studies.figures import COLOURS, Panel, Styled, draw
from studies.kong.systems.quadcopter import (
    ARM,
    FREE,
    GRAVITY,
    LATCHED,
    MASS,
    PERCH,
    RADIUS,
    START,
    quadcopter,
)
from studies.kong.two_methods import (
    SHOWN,
    STEPS,
    Comparison,
    compare,
    inputs_panel,
    open_loop,
    reaching,
)
from studies.study import Row, StudyOptions, StudyResult, study

DURATION = STEPS * 0.002  # timesteps of 2 ms, 5.4.4 [s]
WEIGHTS = 0.01, (1000.0, 1000.0, 1000.0, 0.1, 0.1, 0.1)  # R / I, and the diagonal of Q_N, 5.4.4
SEED_THRUST = 1.5  # both thrusters together [m g], 5.4.4
LATCHED_THRUST = 0.1  # once both edges touch [m g], 5.4.4


def solve(options: StudyOptions, steps: int = STEPS) -> Comparison:
    """Solve in ``steps`` timesteps of the same duration and the same cost of an input over time."""
    model = reaching(quadcopter(), FREE, PERCH, WEIGHTS, DURATION, steps)
    inputs = np.full((steps, 2), 0.5 * SEED_THRUST * (MASS * GRAVITY))
    for knot, event in model.roll_out(START, open_loop(inputs, 6)).select(0).aux.events:
        if event.transition.target == LATCHED:
            inputs[knot + 1 :] = 0.5 * LATCHED_THRUST * (MASS * GRAVITY)
    return compare(options, model, START, inputs)


@study("Kong, figure 5.1")
def run(options: StudyOptions) -> StudyResult:
    """Rows: both methods; ``modes`` are in order, ``position_error`` is at the end [m]."""
    found, rows = solve(options), []
    ends, modes = found.trajectories(), found.model.system.modes
    for row in found.rows("impact"):
        end = ends[row["method"]]
        numbers = [end.aux.knots[0]] + [e.event.transition.target for e in end.aux.events]
        rows.append(row | {
            "modes": [modes[number].name for number in numbers],
            "position_error": np.linalg.norm((end.states[-1] - PERCH)[:2])
        })  # fmt: skip
    angle = np.linspace(-0.36, 0.72, 200)
    paths: Row = {name: one.states[:, :2] for name, one in ends.items()}
    for name, one in ends.items():  # the quadcopter now and then
        middle, turn = one.states[::40, :2], one.states[::40, 2]
        half = ARM * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        bars = np.stack([middle - half, middle + half], axis=1)
        paths[f"_{name}"] = Styled(bars, {"color": COLOURS[name]})
    paths |= {"target": PERCH[None, :2],
              "guard": RADIUS * np.stack((np.cos(angle), np.sin(angle)), axis=1)}  # fmt: skip
    wall = Panel(paths, "y [m]", "z [m]", settings={"aspect": "equal"})
    figure = draw(wall, inputs_panel(ends, DURATION, "both thrusts [N]"), height=4.2)
    return StudyResult(rows, {"figure-5.1": figure}, SHOWN + ", final_mode, position_error")
