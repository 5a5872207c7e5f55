"""HiLQR for a ball on a spring-damper.

R, Q_N, N and the timestep are those printed, and the seed is the unforced fall. Both methods stop
at |dJ| <= 0.05, which 5.4.1 prints for the bouncing ball. ``--full`` places events in other ways.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import numpy as np

from saltation.examples.bouncing_ball import FALLING, GRAVITY, MASS, bouncing_ball
from saltation.hilqr.event_linearisation import Placement
from saltation.systems import Array, FlowMap, Mode, System, Transition
from studies.figures import draw
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

AERIAL, SPRING_DAMPER, SPRING = 1, 2, 3  # mode numbers of 5.4.2
STIFFNESS = 100.0  # k [N/m], 5.4.2
DAMPING = 5.0  # d [N s/m], 5.4.2
START = (3.0, -2.0)  # x0, 5.4.2
DURATION = STEPS * 1e-3  # timesteps of 1 ms, 5.4 [s]
TARGET = np.array([1.0, 0.0])  # x_des, 5.4.2
WEIGHTS = 1e-4, (100.0, 100.0)  # R, and the diagonal of Q_N, 5.4.2


def spring_damper_ball() -> System:
    """A ball that falls on a spring-damper, which releases it as a spring (5.4.2).

    State x = [height z [m], velocity [m/s]], input u = [force [N]]. The ground's force is
    -k z - d dz/dt. Modes AERIAL, SPRING_DAMPER and SPRING are left at z = 0, at dz/dt = 0 and at
    z = 0. All resets are the identity. The force jumps by d dz/dt at touchdown and is continuous at
    the other two, so only touchdown has a saltation matrix that is not the identity. The print has
    an error: docs/errata.md.
    """
    modes = {
        AERIAL: replace(bouncing_ball().modes[FALLING], name="aerial"),
        SPRING_DAMPER: _contact("spring-damper", DAMPING),
        SPRING: _contact("spring", 0.0),
    }
    made, invariant = Transition.continuous, {"time_invariant": True}
    return System(modes, (
        made(AERIAL, SPRING_DAMPER, lambda t, x, u: x[0], "touchdown", **invariant),
        made(SPRING_DAMPER, SPRING, lambda t, x, u: -x[1], "turn", **invariant),
        made(SPRING, AERIAL, lambda t, x, u: -x[0], "release", **invariant)
    ), "spring-damper ball")  # fmt: skip


def _contact(name: str, damping: float) -> Mode:
    """Flow on the ground, m d2z/dt2 = u - m g - k z - d dz/dt, an oscillation about rest."""
    square, decay = STIFFNESS / MASS, 0.5 * damping / MASS
    frequency = math.sqrt(square - decay**2)

    def fundamental(h: float) -> Array:
        shrink = math.exp(-decay * h)
        c, s = shrink * math.cos(frequency * h), shrink * math.sin(frequency * h) / frequency
        return np.array([[c + decay * s, s], [-square * s, c - decay * s]])

    def solution(t: float, x: Array, u: Array, h: float) -> Array:
        rest = np.array([(u[0] - MASS * GRAVITY) / STIFFNESS, 0.0])
        return rest + fundamental(h) @ (x - rest)

    def jacobians(t: float, x: Array, u: Array, h: float) -> tuple[Array, Array]:
        change = fundamental(h)
        return change, (np.eye(2) - change)[:, :1] / STIFFNESS

    return Mode(
        name, 2, 1,
        lambda t, x, u: np.array(
            [x[1], u[0] / MASS - GRAVITY - square * x[0] - 2.0 * decay * x[1]]),
        flow_map=FlowMap(solution, jacobians)
    )  # fmt: skip


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
