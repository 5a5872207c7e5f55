"""``saltus bench hybrid``: microseconds per trajectory, ours beside others.

A bouncing ball over 3 s: both simulators work to the same tolerances and must agree on where the
balls end before they are timed. Flows are integrated numerically, also where the example has a
closed form. The flow is a parabola, on which every integrator takes long steps: what is measured is
the handling of events. Then Van der Pol's oscillator, which strikes a wall 23 times, in plain
Python for the same error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from time import process_time
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from saltation.batch import simulate_batch
from saltation.compilation import compile_kernels
from saltation.compiled.system import native_tables
from saltation.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, bouncing_ball
from saltation.options import SimulationOptions
from saltation.simulation import simulate
from saltation.systems import Array, Mode, System, Transition
from saltus.bench.catalogue import BenchResult
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.timing import US, Times, take_turns

AGREE = 1e-8  # largest difference of ends [m, m/s] from the compiled ones
ROUNDS, SEED = 7, 0
DURATION = 3.0  # of a ball [s]
RELATIVE, ABSOLUTE = 1e-10, 1e-12  # tolerances
OPTIONS = SimulationOptions(rtol=RELATIVE, atol=ABSOLUTE)
FORCE = np.zeros(1)

MU, FREQUENCY, WALL, BOUNCE = 1.0, 5.0, 0.5, 0.9
START, OSCILLATION_S, IMPACTS = np.array([2.0, 0.0]), 10.0, 23
LADDER = 10.0 ** -np.arange(4.0, 13.01, 0.25)  # relative tolerances, from loose to tight
OURS, METHODS = "one_python_simulation", ("RK45", "DOP853")
Solution = tuple[Array, Array]  # times of the impacts [s], end (2,)


def run(rounds: int = ROUNDS, balls: int = 2000) -> BenchResult:
    """Measure in turns, ``balls`` by the fastest simulator and fewer by others.

    The ratio is SciPy's median time over the compiled batch's.

    Raises:
        BadRequest: the ball does not compile, or ends differ by more than AGREE.
    """
    say("preparing (compiles on the first run)")
    compile_kernels()
    if native_tables(ball()).reason:
        raise BadRequest(f"the ball does not compile: {native_tables(ball()).reason}")
    states, few = falling_balls(balls, SEED), max(1, balls // 100)
    simulators = {"compiled_batch": (compiled_batch, balls), "scipy": (scipy, few)}
    ends = {name: simulator(states[:n]) for name, (simulator, n) in simulators.items()}
    difference = float(np.max(np.abs(ends["scipy"] - ends["compiled_batch"][:few])))
    if not difference <= AGREE:
        raise BadRequest(
            f"scipy ends {difference:.2g} away from compiled_batch, at most {AGREE:g} is accepted:"
            " times of different results are not compared"
        )
    times = take_turns(
        {name: lambda k, f=f, n=n: f(states[:n]) for name, (f, n) in simulators.items()}, rounds,
        process_time,
    )  # fmt: skip
    for name, (_, n) in simulators.items():
        times.seconds[name] = [seconds / n for seconds in times.seconds[name]]
    rows = [_row(name, times, rounds * n, difference) for name, (_, n) in simulators.items()]
    say("one simulation of a Python system")
    single = equally_accurate()
    one = take_turns({name: each[0] for name, each in single.items()}, rounds, process_time)
    rows += [_row(name, one, rounds, error) for name, (_, error) in single.items()]
    return BenchResult(
        rows, times.ratio("scipy", "compiled_batch"),
        f"a ball bounces 3 to 5 times in {DURATION:g} s; scipy (solve_ivp) is stopped at bounces"
        f" alone, the batch at apexes too; {OURS} beside SciPy's methods where their error is no"
        " larger",
        extra={
            "ratio_one_python_simulation": min(one.ratio(f"scipy_{each}", OURS) for each in METHODS)
        },
    )  # fmt: skip


def _row(name: str, times: Times, trajectories: int, difference: float) -> dict[str, Any]:
    return {
        "name": name,
        **times.quantiles(name, US, median_us=50.0, p10_us=10.0, p90_us=90.0),
        "trajectories": trajectories,
        "max_difference": difference,
    }


def falling_balls(count: int, seed: int) -> Array:
    """States (count, 2) of falling balls that bounce three to five times in DURATION."""
    low, high = np.array([1.5, -1.0]), np.array([2.5, 0.0])
    return np.random.default_rng(seed).uniform(low, high, (count, 2))


@cache
def ball() -> System:
    """The bouncing ball without the closed form of its flow."""
    system = bouncing_ball()
    modes = {number: replace(mode, flow_map=None) for number, mode in system.modes.items()}
    return replace(system, modes=modes)


def compiled_batch(states: Array) -> Array:
    """Ends (B, 2) of balls (B, 2) by ``simulate_batch`` on one thread."""
    return simulate_batch(ball(), FALLING, states, DURATION, FORCE, options=OPTIONS).states


def scipy(states: Array) -> Array:
    """``solve_ivp``, restarted at each bounce."""
    bounce = np.array([1.0, -RESTITUTION])
    return np.array([
        restarted_scipy(lambda t, x: [x[1], -GRAVITY], lambda t, x: x[0], bounce, x, DURATION,
                        rtol=RELATIVE, atol=ABSOLUTE)[1]
        for x in states
    ])  # fmt: skip


def restarted_scipy(
    flow: Callable[..., Any], guard: Any, reset: Array, start: Array, duration: float,
    **options: Any,
) -> Solution:  # fmt: skip
    """Run ``solve_ivp``, stopped where the guard falls through zero, restarted from the reset.

    Args:
        flow: (t, x) -> dx/dt.
        guard: function (t, x) -> number, which is made a terminal event.
        reset: factors of the state at an event (2,).
        start: state at time 0.
        duration: [s]
        options: of ``solve_ivp``.
    """
    guard.terminal, guard.direction = True, -1.0
    t, x, times = 0.0, start, []
    while True:
        run: Any = solve_ivp(flow, (t, duration), x, events=guard, **options)
        t, x = run.t[-1], run.y[:, -1]
        if run.status != 1:
            return np.array(times), x
        times.append(t)
        x = reset * x


def flow(t: float, x: Array, u: Array) -> Array:
    """Van der Pol's equation."""
    return np.array([x[1], MU * (1.0 - x[0] * x[0]) * x[1] - FREQUENCY**2 * x[0]])


def gap(t: float, x: Array, u: Array) -> float:
    """Distance from the wall."""
    return x[0] - WALL


def bounce(t: float, x: Array, u: Array) -> Array:
    """Impact with restitution."""
    return np.array([x[0], -BOUNCE * x[1]])


SYSTEM = System({1: Mode("swing", 2, 0, flow)}, (Transition(1, 1, gap, bounce, name="wall"),))


def oscillate(rtol: float) -> Solution:
    """The oscillator by `saltation.simulation.simulate`."""
    options = SimulationOptions(rtol=rtol, atol=1e-2 * rtol, max_events=100)
    run = simulate(SYSTEM, 1, START, OSCILLATION_S, options=options)
    return np.array([event.time for event in run.events]), run.final_state


def oscillate_scipy(method: str, rtol: float, max_step: float = np.inf) -> Solution:
    """The oscillator by `solve_ivp`, restarted after each impact."""
    return restarted_scipy(
        lambda t, x: [x[1], MU * (1.0 - x[0] * x[0]) * x[1] - FREQUENCY**2 * x[0]],
        lambda t, x: x[0] - WALL, np.array([1.0, -BOUNCE]), START, OSCILLATION_S, method=method,
        rtol=rtol, atol=1e-2 * rtol, max_step=max_step,
    )  # fmt: skip


def equally_accurate() -> dict[str, tuple[Callable[[int], Solution], float]]:
    """Ours at the default tolerance, and SciPy's two methods where their error is no larger.

    Returns:
        By name, what solves in round k, and its error.

    Raises:
        BadRequest: no tolerance gives that error.
    """
    truth = oscillate_scipy("DOP853", 1e-13, max_step=0.02)
    rtol = SimulationOptions().rtol
    largest = error_of(oscillate(rtol), truth)
    found: dict[str, tuple[Callable[[int], Solution], float]] = {
        OURS: (lambda k: oscillate(rtol), largest)
    }
    for method in METHODS:
        solve = partial(oscillate_scipy, method)
        errors = ((float(rtol), error_of(solve(float(rtol)), truth)) for rtol in LADDER)
        loosest = next((each for each in errors if each[1] <= largest), None)
        if loosest is None:
            raise BadRequest(f"no tolerance down to {LADDER[-1]:g} gives an error of {largest:.2g}")
        found[f"scipy_{method}"] = (lambda k, solve=solve, at=loosest[0]: solve(at), loosest[1])
    return found


def error_of(solution: Solution, truth: Solution) -> float:
    """Largest error of the impacts' times [s] and of the end; inf where impacts are missing."""
    if len(solution[0]) != len(truth[0]) or len(truth[0]) != IMPACTS:
        return np.inf
    return float(max(np.max(np.abs(one - true)) for one, true in zip(solution, truth, strict=True)))
