"""Accuracy of event times, and orders of convergence through events.

Event times are compared with closed forms, in Python and compiled; an error is the largest over all
random states, with a tolerance of 1e-12 relative and 1e-14 absolute. An order is the slope of the
logarithm of the error over that of fixed steps of 0.5 to 0.084 s, of a driven pendulum that strikes
a wall. The integrator is of order 8. Dense output is of order 7: it adds an error of h to the
eighth within a step, so no order is lost between steps.
"""

# Parameters of a case are states that do not change, so that one system serves all its states. Its
# transition leads to a mode of one state, the time at which it was taken; there nothing moves. So
# the end of a simulation is the event's time, in Python and compiled alike.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ellipk

from hybrid.batch import simulate_batch
from hybrid.compiled.system import native_tables
from hybrid.integration import integrate
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate, simulate_step
from hybrid.systems import Array, Mode, ScalarFunction, System, Transition, VectorFunction
from studies.figures import convergence, draw
from studies.study import Criterion, StudyOptions, StudyResult, study

TRIALS = 200  # random states of each case
TIME_BOUND = 1e-10  # [s], of every event's time
STEP_ORDER, DENSE_ORDER = 7.0, 6.5  # least orders measured of what is of order 8, and of order 7
LABELS = {
    "integrator": "integrator alone",
    "through_event": "state through an event",
    "through_moving_event": "state through an event on a moving wall",
    "event_time": "event time [s]",
    "dense_output": "between steps, through an event",
}
GRAVITY = 9.8  # [m/s^2], 5.4
BEFORE, DONE = 1, 2
# The standard tolerance lets the integrator alone err by 2e-10 s on a slow oscillator.
OPTIONS = SimulationOptions(rtol=1e-12, atol=1e-14)
_NONE = np.zeros(0)
EXACT = SimulationOptions(rtol=1e-14, atol=1e-15)
START = np.array([1.0, 0.2])
DURATION = 2.0  # [s]
SIZES: Array = 0.5 * 0.8 ** np.arange(9, dtype=np.float64)  # steps h [s]
NEAR = 0.02  # times this close to the event [s] are left out: either state may be meant


@dataclass(frozen=True)
class Case:
    """A system, random states to start from, and the time of the event from each of them."""

    name: str
    size: int  # n
    flow: VectorFunction
    guard: ScalarFunction
    draw: Callable[[int, np.random.Generator], Array]  # (count, rng) -> (count, n)
    exact: Callable[[Array], Array]  # (n, count) -> times after the start [s] (count,)
    duration: float  # that holds the event from every state [s]
    start: float = 0.0  # [s]

    @cached_property
    def system(self) -> System:
        """Two modes; nothing moves in the second."""
        still = Mode("done", 1, 0, lambda t, x, u: np.zeros(1))
        edge = Transition(BEFORE, DONE, self.guard, lambda t, x, u: np.array([t]), name="event")
        return System({BEFORE: Mode("before", self.size, 0, self.flow), DONE: still}, (edge,))


def uniform(low: Sequence[float], high: Sequence[float]) -> Callable[..., Array]:
    """Draw states between two of them."""
    return lambda count, rng: rng.uniform(low, high, (count, len(low)))


def fallen(speed: Array, height: Array) -> Array:
    """Time [s] after which what is thrown up at a speed [m/s] has fallen by a height [m]."""
    return (speed + np.sqrt(speed**2 + 2.0 * GRAVITY * height)) / GRAVITY


def event_times(case: Case, states: Array, as_compiled: bool) -> Array:
    """Times of the event [s] from each of the states (count, n); NaN where there is none."""
    if as_compiled:
        batch = simulate_batch(
            case.system, BEFORE, states, case.duration, _NONE, case.start, OPTIONS
        )
        return np.where(batch.ok & (batch.modes == DONE), batch.states[:, 0], np.nan)
    steps = [
        simulate_step(case.system, BEFORE, x, case.duration, _NONE, case.start, OPTIONS)
        for x in states
    ]
    return np.array([s.state[0] if s.status == "ok" and s.mode == DONE else np.nan for s in steps])


def event_time_error(case: Case, count: int, seed: int, as_compiled: bool) -> float:
    """Largest error [s] over ``count`` random states; NaN where an event is missed.

    Raises:
        RuntimeError: the case does not compile, so there is nothing compiled to measure.
    """
    if as_compiled and native_tables(case.system).reason:
        raise RuntimeError(f"{case.name} does not compile: {native_tables(case.system).reason}")
    states = case.draw(count, np.random.default_rng(seed))
    times = event_times(case, states, as_compiled)
    return float(np.max(np.abs(times - case.start - case.exact(states.T))))


def cases() -> tuple[Case, ...]:
    """A ball dropped, thrown over a moving floor, and past a ceiling; oscillator and pendulum."""
    speed = np.sqrt(4.0 * GRAVITY)  # carries the ball 2 m up
    return (
        Case(
            "ball_drop", 2, lambda t, x, u: np.array([x[1], -GRAVITY]), lambda t, x, u: x[0],
            lambda count, rng: np.stack(
                (rng.uniform(0.1, 5.0, count), rng.uniform(-5.0, 5.0, count)), axis=1),
            lambda x: fallen(x[1], x[0]), 2.0,
        ),
        Case(  # [z, v, f, l]: over a floor at f + l (t - 3)
            "moving_floor", 4, lambda t, x, u: np.array([x[1], -GRAVITY, 0.0, 0.0]),
            lambda t, x, u: x[0] - x[2] - x[3] * (t - 3.0),
            uniform((0.5, 0.5, -1.0, -1.0), (0.5, 6.0, 0.3, 1.5)),
            lambda x: fallen(x[1] - x[3], x[0] - x[2]), 2.5, 3.0,
        ),
        Case(  # [z, v, ceiling]: passed on the way up and on the way down, within one long step
            "double_crossing", 3, lambda t, x, u: np.array([x[1], -GRAVITY, 0.0]),
            lambda t, x, u: x[2] - x[0],
            lambda count, rng: np.stack((np.zeros(count), np.full(count, speed),
                                         2.0 - 10.0 ** rng.uniform(-6.0, -0.3, count)), axis=1),
            lambda x: (x[1] - np.sqrt(2.0 * GRAVITY * (2.0 - x[2]))) / GRAVITY,
            float(2.0 * speed / GRAVITY),
        ),
        Case(  # [x, v, w, level]: x = cos(w t) falls through a level
            "linear_oscillator", 4,
            lambda t, x, u: np.array([x[2] * x[1], -x[2] * x[0], 0.0, 0.0]),
            lambda t, x, u: x[0] - x[3],
            uniform((1.0, 0.0, 0.5, -0.95), (1.0, 0.0, 20.0, 0.95)),
            lambda x: np.arccos(x[3]) / x[2], 6.0,
        ),
        Case(  # [angle, rate, w]: let go at an angle, at the bottom after K(sin(angle / 2)) / w
            "pendulum", 3, lambda t, x, u: np.array([x[1], -x[2] * x[2] * np.sin(x[0]), 0.0]),
            lambda t, x, u: x[0], uniform((0.2, 0.0, 1.0), (3.0, 0.0, 6.0)),
            lambda x: ellipk(np.sin(0.5 * x[0]) ** 2) / x[2], 6.0,
        ),
    )  # fmt: skip


class Errors(NamedTuple):
    """Largest errors of runs with fixed steps."""

    values: Array  # (k,), one for each of SIZES

    @property
    def order(self) -> float:
        """Slope of the error over the step, both as logarithms."""
        return float(np.polyfit(np.log(SIZES), np.log(self.values), 1)[0])


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


def integrator_errors() -> Errors:
    """Of the state after DURATION in steps of h, without an event."""
    exact, values = integrate(driven, 0.0, START, DURATION, EXACT), []
    for h in SIZES:
        y = integrate(driven, 0.0, START, DURATION, fixed(h))
        values.append(np.max(np.abs(y - exact)))
    return Errors(np.array(values))


def event_errors(wall_moves: bool = False) -> tuple[Errors, Errors]:
    """Of the state after DURATION with an impact on the way, and of the impact's time [s]."""
    system = striking(wall_moves)

    def run(options: SimulationOptions) -> tuple[Array, float]:
        step = simulate_step(system, 1, START, DURATION, np.zeros(0), options=options)
        return step.state, step.events[0].time

    (end, time), states, times = run(EXACT), [], []
    for h in SIZES:
        state, event_time = run(fixed(h))
        states.append(np.max(np.abs(state - end)))
        times.append(abs(event_time - time))
    return Errors(np.array(states)), Errors(np.array(times))


def dense_output_errors() -> Errors:
    """Of states between the steps, at times before and after an impact."""
    system, exact = striking(), EXACT
    hit = simulate_step(system, 1, START, DURATION, np.zeros(0), options=exact).events[0].time
    times = [t for t in np.linspace(0.01, DURATION - 0.01, 40) if abs(t - hit) > NEAR]
    truth = [simulate_step(system, 1, START, t, np.zeros(0), options=exact).state for t in times]
    return Errors(np.array([_dense_error(system, h, times, truth) for h in SIZES]))


def _dense_error(system: System, h: float, times: Sequence[float], truth: Sequence[Array]) -> float:
    run = simulate(system, 1, START, DURATION, options=fixed(h))
    pairs = zip(times, truth, strict=True)
    return max(float(np.max(np.abs(run.at(t)[1] - x))) for t, x in pairs)


@study("closed forms", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``case, kind, value, bound, met``: errors at most, orders at least the bound."""
    plan = [(case, code) for case in cases() for code in ("interpreted", "compiled")]
    criteria = []
    for case, code in options.track(plan, lambda pair: f"{pair[0].name} {pair[1]}"):
        error = event_time_error(case, options.count(TRIALS), options.seed, code == "compiled")
        value = error if np.isfinite(error) else None
        what = f"{case.name} {code}: event_time_error_s"
        criteria.append(Criterion(what, value, "<=", TIME_BOUND))
    state, time = event_errors()
    measured = {
        "integrator": integrator_errors(),
        "through_event": state,
        "through_moving_event": event_errors(wall_moves=True)[0],
        "event_time": time,
        "dense_output": dense_output_errors(),
    }
    for name, errors in measured.items():
        least = DENSE_ORDER if name == "dense_output" else STEP_ORDER
        criteria.append(Criterion(f"{name}: order", errors.order, ">=", least))
    rows = []
    for each in criteria:
        case, kind = each.what.split(": ")
        rows.append({"case": case, "kind": kind, "value": each.value, "bound": each.bound,
                     "met": each.met})  # fmt: skip
    curves = {LABELS[name]: errors.values for name, errors in measured.items()}
    panel = convergence(SIZES, curves, 8, 0.05 * time.values[0], "step [s]", "largest error")
    return StudyResult(rows, {"event-accuracy": draw(panel)}, criteria=criteria)
