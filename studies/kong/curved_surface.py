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

from saltation.examples.bouncing_ball import GRAVITY, MASS
from saltation.hilqr.event_linearisation import Placement
from saltation.systems import Array, FlowMap, Mode, System, Transition
from studies.figures import Panel, draw
from studies.kong.systems.complex_steps import mode
from studies.kong.two_methods import (
    SHOWN,
    STEPS,
    Comparison,
    compare,
    inputs_panel,
    reaching,
)
from studies.study import StudyOptions, StudyResult, study

UNCONSTRAINED = 1  # 5.4.3; mode U of 3.6.1
CONSTRAINED = 2  # 5.4.3; mode S of 3.6.1
LEAVING = 3  # mode V of 3.6.1
APPROACH = 1e-9  # -da/dt at which a ball that has left counts as coming back [m^2/s]
RADIUS = 2.0  # [m], 5.4.3
DURATION = STEPS * 1e-3  # timesteps of 1 ms, 5.4 [s]
PLACE = (1.0, 0.0)  # of the start, 5.4.3
TARGET = np.array([-math.sqrt(3.0), -1.0, 0.0, 0.0])  # x_des, 5.4.3
WEIGHTS = 1e-4, (100.0,) * 4  # R / I, and the diagonal of Q_N, 5.4.3
FORCE = 2.0 * MASS * GRAVITY  # [N], upwards: the seed's vertical force 2 m g, 5.4.3
VELOCITY = (1.0, -1.0)  # [m/s], chosen
PUSH = (0.5, 0.6)  # [s]; 5.4.3 says "a small duration"; chosen


def tube_ball() -> System:
    """A ball in a hollow tube, with a force on it in both directions (5.4.3).

    State x = [y, z, dy/dt, dz/dt] [m, m/s], input u = [u_y, u_z] [N]. The tube is the circle
    a(q) = r^2 - y^2 - z^2 >= 0 with J = D_q a = -2 q'. Impacts are plastic and without friction, so
    the ball then slides on the circle, and leaves it where the tube would have to pull. Here
    m d2q/dt2 = u - N + J' lambda with N = [0, m g], and the tube pushes while lambda > 0. The print
    has errors: docs/errata.md.

    UNCONSTRAINED and CONSTRAINED are the modes of 5.4.3. LEAVING is mode V of 3.6.1: on leaving,
    the ball is on the circle and moves along it, so rounding alone would decide whether the impact
    guard fires again. LEAVING has no impact; it ends where the ball first comes back towards the
    circle. Between the modes are:

    - impact: plastic (3.67), the part of the velocity along q is lost.
    - liftoff: where the multiplier of (3.69), in our sign, falls through zero (3.70). J J' is 4 r^2
      to the last digits, and written so the guard has no quotient.
    - apex: the end of LEAVING, the distance to the circle has begun to fall (3.6.2).
    """

    def reset(t: float, x: Array, u: Array) -> Array:
        outward = (x[0] * x[2] + x[1] * x[3]) / (x[0] * x[0] + x[1] * x[1])
        return np.array([x[0], x[1], x[2] - outward * x[0], x[3] - outward * x[1]])

    def multiplier(t: float, x: Array, u: Array) -> float:
        force = x[0] * u[0] + x[1] * (u[1] - MASS * GRAVITY)
        return (force + MASS * (x[2] * x[2] + x[3] * x[3])) / (2.0 * RADIUS * RADIUS)

    impact = Transition(
        UNCONSTRAINED, CONSTRAINED, lambda t, x, u: RADIUS * RADIUS - x[0] * x[0] - x[1] * x[1],
        reset, name="impact", time_invariant=True
    )  # fmt: skip
    liftoff = Transition.continuous(
        CONSTRAINED, LEAVING, multiplier, "liftoff", time_invariant=True
    )
    apex = Transition.continuous(
        LEAVING, UNCONSTRAINED, lambda t, x, u: -2.0 * (x[0] * x[2] + x[1] * x[3]) + APPROACH,
        "apex", time_invariant=True
    )  # fmt: skip
    modes = {
        UNCONSTRAINED: _free("unconstrained"),
        CONSTRAINED: _constrained(),
        LEAVING: _free("leaving"),
    }
    return System(modes, (impact, liftoff, apex), "ball in a tube")


def _free(name: str) -> Mode:
    """Ballistic flow with direct inputs, (5.33) without a constraint."""

    def solution(t: float, x: Array, u: Array, h: float) -> Array:
        a = u / MASS - np.array([0.0, GRAVITY])
        return np.concatenate((x[:2] + h * (x[2:] + 0.5 * h * a), x[2:] + h * a))

    def jacobians(t: float, x: Array, u: Array, h: float) -> tuple[Array, Array]:
        by_start = np.eye(4)
        by_start[0, 2] = by_start[1, 3] = h
        return by_start, np.vstack((0.5 * h * h * np.eye(2), h * np.eye(2))) / MASS

    return mode(
        name, 4, 2, lambda t, x, u: np.array([x[2], x[3], u[0] / MASS, u[1] / MASS - GRAVITY]),
        FlowMap(solution, jacobians),
    )  # fmt: skip


def _constrained() -> Mode:
    """Flow that keeps J d2q/dt2 + dJ/dt dq/dt = 0 (3.59): (3.60) solved for d2q/dt2.

    With f = u - [0, m g] and the pull s = (q'f / m + |dq/dt|^2) / |q|^2 it is f / m - s q.
    """

    def flow(t: float, x: Array, u: Array) -> Array:
        y, z, vy, vz = x[0], x[1], x[2], x[3]
        fy, fz = u[0] / MASS, u[1] / MASS - GRAVITY
        pull = (y * fy + z * fz + vy * vy + vz * vz) / (y * y + z * z)
        return np.array([vy, vz, fy - pull * y, fz - pull * z])

    return mode("constrained", 4, 2, flow)


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
