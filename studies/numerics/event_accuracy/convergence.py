"""Orders of convergence, measured on a pendulum that is driven and strikes a wall.

With fixed steps of h [s] an error is C h^p: p is the slope of its logarithm over that of h. The
reference is the same motion at the accuracy of rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybrid.integration import integrate
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate, simulate_step
from hybrid.systems import Array, Mode, System, Transition

EXACT = SimulationOptions(rtol=1e-14, atol=1e-15)
START = np.array([1.0, 0.2])
DURATION = 2.0  # [s]
SIZES: Array = 0.5 * 0.8 ** np.arange(9, dtype=np.float64)  # steps h [s]
NEAR = 0.02  # times this close to the event [s] are left out: either state may be meant


class Errors(NamedTuple):
    """Largest errors of runs with fixed steps."""

    sizes: Array  # h (k,) [s]
    values: Array  # (k,)

    @property
    def order(self) -> float:
        """Slope of the error over the step, both as logarithms."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.values), 1)[0])


def driven(t: float, y: Array) -> Array:
    """Vector field (2,) of the pendulum: smooth, nonlinear, and a function of time."""
    return np.array([y[1], -4.0 * np.sin(y[0]) - 0.2 * y[1] + np.cos(3.0 * t)])


def striking(wall_moves: bool = False) -> System:
    """The pendulum strikes a wall, which may move, and swings on with another field."""
    speed = 0.1 if wall_moves else 0.0
    swing = Mode("swing", 2, 0, lambda t, x, u: driven(t, x))
    after = Mode("after", 2, 0, lambda t, x, u: driven(t, x) + np.array([0.0, x[0] ** 2]))
    wall = Transition(
        1,
        2,
        guard=lambda t, x, u: x[0] + 0.2 + speed * np.sin(5.0 * t),
        reset=lambda t, x, u: np.array([x[0], -0.7 * x[1] + speed * np.cos(5.0 * t)]),
    )
    return System({1: swing, 2: after}, (wall,), "pendulum and wall")


def fixed(h: float) -> SimulationOptions:
    """Options by which every step is h [s], but the one that an event cuts and the last."""
    return SimulationOptions(rtol=0.0, atol=1e12, max_step=h)


def integrator_errors(sizes: Array = SIZES) -> Errors:
    """Of the state after DURATION in steps of h, without an event."""
    exact, values = integrate(driven, 0.0, START, DURATION, EXACT), []
    for h in sizes:
        y = integrate(driven, 0.0, START, DURATION, fixed(h))
        values.append(np.max(np.abs(y - exact)))
    return Errors(sizes, np.array(values))


def event_errors(wall_moves: bool = False, sizes: Array = SIZES) -> tuple[Errors, Errors]:
    """Of the state after DURATION with an impact on the way, and of the impact's time [s]."""
    system = striking(wall_moves)

    def run(options: SimulationOptions) -> tuple[Array, float]:
        step = simulate_step(system, 1, START, DURATION, np.zeros(0), options=options)
        return step.state, step.events[0].time

    (end, time), states, times = run(EXACT), [], []
    for h in sizes:
        state, event_time = run(fixed(h))
        states.append(np.max(np.abs(state - end)))
        times.append(abs(event_time - time))
    return Errors(sizes, np.array(states)), Errors(sizes, np.array(times))


def dense_output_errors(sizes: Array = SIZES, count: int = 40) -> Errors:
    """Of states between the steps, at ``asked`` times before and after an impact."""
    system, exact = striking(), EXACT
    hit = simulate_step(system, 1, START, DURATION, np.zeros(0), options=exact).events[0].time
    times = [t for t in np.linspace(0.01, DURATION - 0.01, count) if abs(t - hit) > NEAR]
    truth = [simulate_step(system, 1, START, t, np.zeros(0), options=exact).state for t in times]
    return Errors(sizes, np.array([_dense_error(system, h, times, truth) for h in sizes]))


def _dense_error(
    system: System, h: float, times: Sequence[float], truth: Sequence[Array]
) -> float:
    run = simulate(system, 1, START, DURATION, options=fixed(h))
    pairs = zip(times, truth, strict=True)
    return max(float(np.max(np.abs(run.at(t)[1] - x))) for t, x in pairs)
