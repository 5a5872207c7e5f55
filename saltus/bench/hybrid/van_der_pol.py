"""One simulation of a Python system: Van der Pol's oscillator, which strikes a wall 23 times.

The functions are plain Python, which ours and SciPy's methods call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from hybrid.options import SimulationOptions
from hybrid.simulation import simulate
from hybrid.systems import Array, Mode, System, Transition
from saltus.bench.hybrid.restarted_scipy import restarted_scipy
from saltus.common.errors import BadRequest

MU, FREQUENCY, WALL, RESTITUTION = 1.0, 5.0, 0.5, 0.9
START, DURATION, IMPACTS = np.array([2.0, 0.0]), 10.0, 23
ABSOLUTE = 1e-2  # atol over rtol
LADDER = 10.0 ** -np.arange(4.0, 13.01, 0.25)  # relative tolerances, from loose to tight
TRUTH = 1e-13
Solution = tuple[Array, Array]  # times of the impacts [s], end (2,)
OURS, METHODS = "one_python_simulation", ("RK45", "DOP853")


class Simulator(NamedTuple):
    """A simulator at the tolerance that gives the error asked for."""

    name: str
    solve: Callable[[float], Solution]  # at a relative tolerance
    rtol: float
    error: float


def flow(t: float, x: Array, u: Array) -> Array:
    """Van der Pol's equation."""
    return np.array([x[1], MU * (1.0 - x[0] * x[0]) * x[1] - FREQUENCY**2 * x[0]])


def gap(t: float, x: Array, u: Array) -> float:
    """Distance from the wall."""
    return x[0] - WALL


def bounce(t: float, x: Array, u: Array) -> Array:
    """Impact with restitution."""
    return np.array([x[0], -RESTITUTION * x[1]])


SYSTEM = System({1: Mode("swing", 2, 0, flow)}, (Transition(1, 1, gap, bounce, name="wall"),))


def ours(rtol: float) -> Solution:
    """`hybrid.simulation.simulate`."""
    options = SimulationOptions(rtol=rtol, atol=ABSOLUTE * rtol, max_events=100)
    run = simulate(SYSTEM, 1, START, DURATION, options=options)
    return np.array([event.time for event in run.events]), run.final_state


def scipy(method: str, rtol: float, max_step: float = np.inf) -> Solution:
    """`solve_ivp`, restarted after each impact."""
    return restarted_scipy(
        _field, _distance, _reset, START, DURATION, method=method, rtol=rtol,
        atol=ABSOLUTE * rtol, max_step=max_step,
    )  # fmt: skip


def equally_accurate() -> list[Simulator]:
    """Ours at the default tolerance, and SciPy's two methods where their error is no larger.

    Raises:
        BadRequest: no tolerance gives that error.
    """
    truth = scipy("DOP853", TRUTH, max_step=0.02)
    rtol = SimulationOptions().rtol
    error = error_of(ours(rtol), truth)
    simulators = [Simulator(OURS, ours, rtol, error)]
    for method in METHODS:
        solve = partial(scipy, method)
        simulators.append(Simulator(f"scipy_{method}", solve, *_tolerance(solve, error, truth)))
    return simulators


def error_of(solution: Solution, truth: Solution) -> float:
    """Largest error of the impacts' times [s] and of the end; inf where impacts are missing."""
    if len(solution[0]) != len(truth[0]) or len(truth[0]) != IMPACTS:
        return np.inf
    return float(max(np.max(np.abs(one - true)) for one, true in zip(solution, truth, strict=True)))


def _tolerance(
    solve: Callable[[float], Solution], largest: float, truth: Solution
) -> tuple[float, float]:
    """The loosest tolerance whose error is at most ``largest``, and that error."""
    for rtol in LADDER:
        error = error_of(solve(float(rtol)), truth)
        if error <= largest:
            return float(rtol), error
    raise BadRequest(f"no tolerance down to {LADDER[-1]:g} gives an error of {largest:.2g}")


def _field(t: float, x: Array) -> list[float]:
    return [x[1], MU * (1.0 - x[0] * x[0]) * x[1] - FREQUENCY**2 * x[0]]


def _distance(t: float, x: Array) -> float:
    return x[0] - WALL


def _reset(x: Array) -> Array:
    return np.array([x[0], -RESTITUTION * x[1]])
