"""``saltus bench hybrid``: microseconds per trajectory, ours beside others.

A bouncing ball over 3 s: all simulators but hybrid-tools work to the same tolerances and must agree
on where the balls end before they are timed. Flows are integrated numerically, also where the
example has a closed form. The flow is a parabola, on which every integrator takes long steps: what
is measured is the handling of events. Then Van der Pol's oscillator, which strikes a wall 23 times,
in plain Python for the same error, and the first simulation of a new system in a fresh process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from time import process_time
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from hybrid.batch import simulate_batch
from hybrid.compiled.system import native_tables
from hybrid.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, bouncing_ball
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate, simulate_step
from hybrid.systems import Array, Mode, System, Transition
from saltus.bench.catalogue import BenchResult
from saltus.bench.timing import US, Times, take_turns
from saltus.common.console import say
from saltus.common.criterion import Criterion
from saltus.common.errors import BadRequest

AGREE = 1e-8  # largest difference of ends [m, m/s] from the compiled ones
ROUNDS, SEED = 7, 0
DURATION = 3.0  # of a ball [s]
RELATIVE, ABSOLUTE = 1e-10, 1e-12  # tolerances of all but hybrid-tools
PEER_STEP = 0.01  # of hybrid-tools [s]
OPTIONS = SimulationOptions(rtol=RELATIVE, atol=ABSOLUTE)
FORCE = np.zeros(1)

MU, FREQUENCY, WALL, BOUNCE = 1.0, 5.0, 0.5, 0.9
START, OSCILLATION_S, IMPACTS = np.array([2.0, 0.0]), 10.0, 23
LADDER = 10.0 ** -np.arange(4.0, 13.01, 0.25)  # relative tolerances, from loose to tight
OURS, METHODS = "one_python_simulation", ("RK45", "DOP853")
Solution = tuple[Array, Array]  # times of the impacts [s], end (2,)

MOST_S = 3.0  # that a first simulation should take
_SYSTEM = """
from time import perf_counter
begin = perf_counter()
import numpy as np
from hybrid.batch import simulate_batch
from hybrid.simulation import simulate
from hybrid.systems import Mode, System, Transition
def flow(t, x, u):
    return np.array([x[1], -9.8])
def gap(t, x, u):
    return x[0]
def bounce(t, x, u):
    return np.array([x[0], -0.8 * x[1]])
system = System({1: Mode("air", 2, 0, flow)}, (Transition(1, 1, gap, bounce, name="impact"),))
%s
print(perf_counter() - begin)
"""
PROGRAMS = {
    "first_python_simulation":
        _SYSTEM % "assert len(simulate(system, 1, [1.0, 0.0], 1.5).events) == 2",
    "first_compiled_batch":
        _SYSTEM % "assert simulate_batch(system, 1, np.array([[1.0, 0], [1.1, 0]]), 1.5).ok.all()",
}  # fmt: skip


def run(rounds: int = ROUNDS, balls: int = 2000) -> BenchResult:
    """Measure in turns, ``balls`` by the fastest simulator and fewer by others.

    The ratio is SciPy's median time over the compiled batch's.

    Raises:
        BadRequest: the ball does not compile, or ends differ by more than AGREE.
    """
    say("preparing (compiles on the first run)")
    if native_tables(ball()).reason:
        raise BadRequest(f"the ball does not compile: {native_tables(ball()).reason}")
    states, few = falling_balls(balls, SEED), max(1, balls // 100)
    simulators: dict[str, tuple[Callable[[Array], Array], int]] = {
        "compiled_batch": (compiled_batch, balls), "callbacks": (callbacks, few),
        "scipy": (scipy, few),
    }  # fmt: skip
    try:
        simulators["hybrid_tools"] = (HybridTools(), 1)
    except ImportError:
        say("hybrid-tools is not installed: pip install hybrid-tools==0.1.0 adds its row")
    ends = {name: simulator(states[:n]) for name, (simulator, n) in simulators.items()}
    differences = _differences(ends)
    times = take_turns(
        {name: lambda k, f=f, n=n: f(states[:n]) for name, (f, n) in simulators.items()}, rounds
    )
    for name, (_, n) in simulators.items():
        times.seconds[name] = [seconds / n for seconds in times.seconds[name]]
    rows = [_row(name, times, rounds * n, differences[name]) for name, (_, n) in simulators.items()]
    say("one simulation of a Python system")
    single = equally_accurate()
    one = take_turns({name: each[0] for name, each in single.items()}, rounds, process_time)
    rows += [_row(name, one, rounds, error) for name, (_, error) in single.items()]
    first = Times()
    for name in PROGRAMS:
        say(name.replace("_", " "))
        first.add(name, first_times(name, min(rounds, 3)))
        rows.append(_row(name, first, len(first.seconds[name])))
    return BenchResult(
        rows, times.ratio("scipy", "compiled_batch"),
        f"a ball bounces 3 to 5 times in {DURATION:g} s; scipy (solve_ivp) is stopped at bounces"
        f" alone, the others at apexes too; hybrid_tools steps by {PEER_STEP:g} s with fixed"
        f" tolerances; {OURS} beside SciPy's methods where their error is no larger; first"
        " simulations: imports included, in fresh processes with warm caches",
        extra={
            "ratio_one_python_simulation": min(one.ratio(f"scipy_{each}", OURS) for each in METHODS)
        },
        criteria=[Criterion(f"{name} [s]", first.median(name), "<=", MOST_S) for name in PROGRAMS],
    )  # fmt: skip


def _differences(ends: dict[str, Array]) -> dict[str, float]:
    """Largest difference of each simulator's ends from the compiled batch's first ones.

    Raises:
        BadRequest: one that works to the same tolerances differs by more than AGREE, or by NaN.
    """
    ours = ends["compiled_batch"]
    found = {name: float(np.max(np.abs(end - ours[: len(end)]))) for name, end in ends.items()}
    for name, difference in found.items():
        if name != "hybrid_tools" and not difference <= AGREE:
            raise BadRequest(
                f"{name} ends {difference:.2g} away from compiled_batch, at most {AGREE:g} is"
                " accepted: times of different results are not compared"
            )
    return found


def _row(
    name: str, times: Times, trajectories: int, difference: float | None = None
) -> dict[str, Any]:
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


def callbacks(states: Array) -> Array:
    """``simulate_step``, ball by ball, with functions called as Python."""
    ends = (simulate_step(ball(), FALLING, x, DURATION, FORCE, 0.0, OPTIONS) for x in states)
    return np.array([end.state for end in ends])


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


class HybridTools:
    """The package's simulator in steps of PEER_STEP, without noise."""

    def __init__(self) -> None:
        """Import it.

        Raises:
            ImportError: it is not installed.
        """
        from hybrid_tools import HybridDynamicalSystem, HybridSimulator, ModeNoise
        from hybrid_tools.basic_hybrid_systems import bouncing_ball as peer_ball

        system = peer_ball()
        none = ModeNoise(np.zeros((1, 1)), np.zeros((2, 2)))
        noises = dict.fromkeys(system.dynamics, none)
        self._system = HybridDynamicalSystem(system.dynamics, system.resets, system.guards, noises)
        self._simulator = HybridSimulator

    def __call__(self, states: Array) -> Array:
        """Ends of the balls."""
        return np.array([self._end(x) for x in states])

    def _end(self, x: Array) -> Array:
        parameters = np.array([RESTITUTION, GRAVITY])
        simulator = self._simulator(x, "I", PEER_STEP, parameters, self._system)
        for k in range(round(DURATION / PEER_STEP)):
            simulator.simulate_timestep(k * PEER_STEP, FORCE)
        return simulator.get_state()


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
    """The oscillator by `hybrid.simulation.simulate`."""
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


def first_times(name: str, rounds: int) -> Array:
    """Times [s] of one of PROGRAMS in fresh processes (rounds,), after one that warms the caches.

    The system is new in each process, so nothing of it is in a cache. The time begins before the
    library is imported. One simulation calls its functions as Python; a batch compiles them.

    Raises:
        BadRequest: the program fails.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    seconds = []
    for _ in range(rounds + 1):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAMS[name]], env=environment, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise BadRequest(f"the first simulation failed: {done.stderr.strip()[-300:]}")
        seconds.append(float(done.stdout))
    return np.array(seconds[1:])
