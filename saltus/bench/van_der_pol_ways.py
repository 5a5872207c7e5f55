"""One simulation of a Python system: Van der Pol's oscillator, which strikes a wall 23 times.

The functions are plain Python, which ours and SciPy's solvers call. Each way gives the times of its
impacts and the end, for a relative tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from hybrid.options import SimulationOptions
from hybrid.simulation import simulate
from hybrid.systems import Array, Mode, System, Transition
from saltus.common.errors import BadRequest

MU, FREQUENCY, WALL, RESTITUTION = 1.0, 5.0, 0.5, 0.9
START, DURATION, IMPACTS = np.array([2.0, 0.0]), 10.0, 23
ABSOLUTE = 1e-2  # atol over rtol
LADDER = 10.0 ** -np.arange(4.0, 13.01, 0.25)  # relative tolerances, from loose to tight
TRUTH = 1e-13
Way = Callable[[float], tuple[Array, Array]]  # rtol -> times (impacts,) [s], end (2,)


class Timed(NamedTuple):
    """A way at the tolerance that gives the error asked for."""

    name: str
    rtol: float
    error: float
    times: Array  # (rounds,) of the processor [s]


def flow(t: float, x: Array, u: Array) -> Array:
    """Van der Pol's equation."""
    return np.array([x[1], MU * (1.0 - x[0] * x[0]) * x[1] - FREQUENCY**2 * x[0]])


def gap(t: float, x: Array, u: Array) -> float:
    """Distance from the wall."""
    return x[0] - WALL


def bounce(t: float, x: Array, u: Array) -> Array:
    """Impact with restitution."""
    return np.array([x[0], -RESTITUTION * x[1]])


def ours() -> Way:
    """`hybrid.simulation.simulate`."""
    system = System({1: Mode("swing", 2, 0, flow)}, (Transition(1, 1, gap, bounce, name="wall"),))

    def way(rtol: float) -> tuple[Array, Array]:
        options = SimulationOptions(rtol=rtol, atol=ABSOLUTE * rtol, max_events=100)
        run = simulate(system, 1, START, DURATION, options=options)
        return np.array([event.time for event in run.events]), run.final_state

    return way


def scipy_way(method: str, max_step: float = np.inf) -> Way:
    """`solve_ivp` with a terminal event, restarted after each impact."""

    def field(t: float, x: Array) -> list[float]:
        return [x[1], MU * (1.0 - x[0] * x[0]) * x[1] - FREQUENCY**2 * x[0]]

    def distance(t: float, x: Array) -> float:
        return x[0] - WALL

    distance.terminal, distance.direction = True, -1.0  # type: ignore[attr-defined]

    def way(rtol: float) -> tuple[Array, Array]:
        t, x, times = 0.0, START, []
        while True:
            run: Any = solve_ivp(
                field, (t, DURATION), x, method=method, rtol=rtol, atol=ABSOLUTE * rtol,
                max_step=max_step, events=distance,
            )  # fmt: skip
            t, x = run.t[-1], run.y[:, -1]
            if run.status != 1:
                return np.array(times), x
            times.append(t)
            x = np.array([x[0], -RESTITUTION * x[1]])

    return way


def same_error(rounds: int) -> list[Timed]:
    """Ours at the default tolerance, and SciPy's two methods where their error is no larger.

    Raises:
        BadRequest: a way misses an impact, or no tolerance gives that error.
    """
    truth = scipy_way("DOP853", max_step=0.02)(TRUTH)
    rtol = SimulationOptions().rtol
    own, error = ours(), 0.0
    error = error_of(own(rtol), truth)
    ways = [("one_python_simulation", own, rtol, error)]
    for method in ("RK45", "DOP853"):
        way = scipy_way(method)
        ways.append((f"scipy_{method}", way, *_tolerance(way, error, truth)))
    times = np.array([[_seconds(way, rtol) for _, way, rtol, _ in ways] for _ in range(rounds)])
    return [
        Timed(name, rtol, error, times[:, i]) for i, (name, _, rtol, error) in enumerate(ways)
    ]


def error_of(result: tuple[Array, Array], truth: tuple[Array, Array]) -> float:
    """Largest error of the impacts' times [s] and of the end; inf where impacts are missing."""
    if len(result[0]) != len(truth[0]) or len(truth[0]) != IMPACTS:
        return np.inf
    return float(max(np.max(np.abs(one - true)) for one, true in zip(result, truth, strict=True)))


def best_ratio(timed: Sequence[Timed]) -> float:
    """Median time of SciPy's faster method over ours."""
    medians = {each.name: float(np.median(each.times)) for each in timed}
    own = medians.pop("one_python_simulation")
    return min(medians.values()) / own


def _tolerance(way: Way, largest: float, truth: tuple[Array, Array]) -> tuple[float, float]:
    """The loosest tolerance whose error is at most ``largest``, and that error."""
    for rtol in LADDER:
        error = error_of(way(float(rtol)), truth)
        if error <= largest:
            return float(rtol), error
    raise BadRequest(f"no tolerance down to {LADDER[-1]:g} gives an error of {largest:.2g}")


def _seconds(way: Way, rtol: float) -> float:
    begin = process_time()
    way(rtol)
    return process_time() - begin
