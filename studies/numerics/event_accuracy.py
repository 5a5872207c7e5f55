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
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ellipk

from saltation.batch import simulate_batch
from saltation.compiled.system import native_tables
from saltation.integration import integrate
from saltation.options import SimulationOptions
from saltation.simulation import simulate, simulate_step
from saltation.systems import Array, Mode, ScalarFunction, System, Transition, VectorFunction
from studies.figures import convergence, draw
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

TRIALS = 200  # random states of each case
TIME_BOUND = 1e-10  # [s], of every event's time
STEP_ORDER, DENSE_ORDER = 7.0, 6.5  # least orders measured of what is of order 8, and of order 7
GRAVITY = 9.8  # [m/s^2], 5.4
BEFORE, DONE = 1, 2
# The standard tolerance lets the integrator alone err by 2e-10 s on a slow oscillator.
OPTIONS = SimulationOptions(rtol=1e-12, atol=1e-14)
EXACT = SimulationOptions(rtol=1e-14, atol=1e-15)
START = np.array([1.0, 0.2])
DURATION = 2.0  # [s]
SIZES: Array = 0.5 * 0.8 ** np.arange(9, dtype=np.float64)  # steps h [s]
NEAR = 0.02  # times this close to the event [s] are left out: either state may be meant


class Case(NamedTuple):
    """A system, random states to start from, and the time of the event from each of them."""

    name: str
    size: int  # n
    flow: VectorFunction
    guard: ScalarFunction
    draw: Callable[[int, np.random.Generator], Array]  # (count, rng) -> (count, n)
    exact: Callable[[Array], Array]  # (n, count) -> times after the start [s] (count,)
    duration: float  # that holds the event from every state [s]
    start: float = 0.0  # [s]


def uniform(low: Sequence[float], high: Sequence[float]) -> Callable[..., Array]:
    """Draw states between two of them."""
    return lambda count, rng: rng.uniform(low, high, (count, len(low)))


def fallen(speed: Array, height: Array) -> Array:
    """Time [s] after which what is thrown up at a speed [m/s] has fallen by a height [m]."""
    return (speed + np.sqrt(speed**2 + 2.0 * GRAVITY * height)) / GRAVITY


def event_time_error(case: Case, count: int, seed: int, as_compiled: bool) -> float:
    """Largest error [s] over ``count`` random states; NaN where an event is missed.

    Raises:
        RuntimeError: the case does not compile, so there is nothing compiled to measure.
    """
    still = Mode("done", 1, 0, lambda t, x, u: np.zeros(1))  # nothing moves
    edge = Transition(BEFORE, DONE, case.guard, lambda t, x, u: np.array([t]), name="event")
    modes = {BEFORE: Mode("before", case.size, 0, case.flow), DONE: still}
    system, rest = System(modes, (edge,)), (case.duration, np.zeros(0), case.start, OPTIONS)
    states = case.draw(count, np.random.default_rng(seed))
    if as_compiled:
        if reason := native_tables(system).reason:
            raise RuntimeError(f"{case.name} does not compile: {reason}")
        batch = simulate_batch(system, BEFORE, states, *rest)
        times = np.where(batch.ok & (batch.modes == DONE), batch.states[:, 0], np.nan)
    else:
        steps = [simulate_step(system, BEFORE, x, *rest) for x in states]
        times = [s.state[0] if s.status == "ok" and s.mode == DONE else np.nan for s in steps]
    return np.max(np.abs(np.array(times) - case.start - case.exact(states.T)))


# A ball dropped, thrown over a moving floor, and past a ceiling; oscillator and pendulum.
SPEED = np.sqrt(4.0 * GRAVITY)  # carries the ball 2 m up
CASES = (
    Case(
        "ball_drop", 2, lambda t, x, u: np.array([x[1], -GRAVITY]), lambda t, x, u: x[0],
        lambda count, rng: np.stack(
            (rng.uniform(0.1, 5.0, count), rng.uniform(-5.0, 5.0, count)), axis=1),
        lambda x: fallen(x[1], x[0]), 2.0
    ),
    Case(  # [z, v, f, l]: over a floor at f + l (t - 3)
        "moving_floor", 4, lambda t, x, u: np.array([x[1], -GRAVITY, 0.0, 0.0]),
        lambda t, x, u: x[0] - x[2] - x[3] * (t - 3.0),
        uniform((0.5, 0.5, -1.0, -1.0), (0.5, 6.0, 0.3, 1.5)),
        lambda x: fallen(x[1] - x[3], x[0] - x[2]), 2.5, 3.0
    ),
    Case(  # [z, v, ceiling]: passed on the way up and on the way down, within one long step
        "double_crossing", 3, lambda t, x, u: np.array([x[1], -GRAVITY, 0.0]),
        lambda t, x, u: x[2] - x[0],
        lambda count, rng: np.stack((np.zeros(count), np.full(count, SPEED),
                                     2.0 - 10.0 ** rng.uniform(-6.0, -0.3, count)), axis=1),
        lambda x: (x[1] - np.sqrt(2.0 * GRAVITY * (2.0 - x[2]))) / GRAVITY,
        2.0 * SPEED / GRAVITY
    ),
    Case(  # [x, v, w, level]: x = cos(w t) falls through a level
        "linear_oscillator", 4,
        lambda t, x, u: np.array([x[2] * x[1], -x[2] * x[0], 0.0, 0.0]),
        lambda t, x, u: x[0] - x[3],
        uniform((1.0, 0.0, 0.5, -0.95), (1.0, 0.0, 20.0, 0.95)),
        lambda x: np.arccos(x[3]) / x[2], 6.0
    ),
    Case(  # [angle, rate, w]: let go at an angle, at the bottom after K(sin(angle / 2)) / w
        "pendulum", 3, lambda t, x, u: np.array([x[1], -x[2] * x[2] * np.sin(x[0]), 0.0]),
        lambda t, x, u: x[0], uniform((0.2, 0.0, 1.0), (3.0, 0.0, 6.0)),
        lambda x: ellipk(np.sin(0.5 * x[0]) ** 2) / x[2], 6.0
    )
)  # fmt: skip


def order_of(errors: Array) -> float:
    """Slope of errors (k,), one for each of SIZES, over the step, both as logarithms."""
    return np.polyfit(np.log(SIZES), np.log(errors), 1)[0]


def driven(t: float, y: Array) -> Array:
    """Vector field (2,) of the pendulum: smooth, nonlinear, and a function of time."""
    return np.array([y[1], -4.0 * np.sin(y[0]) - 0.2 * y[1] + np.cos(3.0 * t)])


def striking(wall_moves: bool = False) -> System:
    """The pendulum strikes a wall, which may move, and swings on with another field."""
    speed = 0.1 if wall_moves else 0.0
    swing = Mode("swing", 2, 0, lambda t, x, u: driven(t, x))
    after = Mode("after", 2, 0, lambda t, x, u: driven(t, x) + np.array([0.0, x[0] ** 2]))
    wall = Transition(
        1, 2, lambda t, x, u: x[0] + 0.2 + speed * np.sin(5.0 * t),
        lambda t, x, u: np.array([x[0], -0.7 * x[1] + speed * np.cos(5.0 * t)])
    )  # fmt: skip
    return System({1: swing, 2: after}, (wall,), "pendulum and wall")


def fixed(h: float) -> SimulationOptions:
    """Options by which every step is h [s], but the one that an event cuts and the last."""
    return SimulationOptions(rtol=0.0, atol=1e12, max_step=h)


def event_errors(wall_moves: bool = False) -> tuple[Array, Array]:
    """Errors of the state after DURATION with an impact on the way, and of its time [s]."""
    system = striking(wall_moves)
    exact, *found = (simulate_step(system, 1, START, DURATION, np.zeros(0), options=options)
                     for options in (EXACT, *map(fixed, SIZES)))  # fmt: skip
    states = [np.max(np.abs(step.state - exact.state)) for step in found]
    times = [abs(step.events[0].time - exact.events[0].time) for step in found]
    return np.array(states), np.array(times)


def dense_output_errors() -> Array:
    """Errors of states between the steps, at times before and after an impact."""

    def run(duration: float) -> Any:
        return simulate_step(system, 1, START, duration, np.zeros(0), options=EXACT)

    system, errors = striking(), []
    hit = run(DURATION).events[0].time
    times = [t for t in np.linspace(0.01, DURATION - 0.01, 40) if abs(t - hit) > NEAR]
    truth = [run(t).state for t in times]
    for h in SIZES:
        found = simulate(system, 1, START, DURATION, options=fixed(h))
        errors.append(max(np.max(np.abs(found.at(t)[1] - x))
                          for t, x in zip(times, truth, strict=True)))  # fmt: skip
    return np.array(errors)


@study("closed forms", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``case, kind, value, bound, met``: errors at most, orders at least the bound."""
    criteria, rows = list[Criterion](), list[Row]()

    def judge(case: str, kind: str, value: float | None, op: str, bound: float) -> None:
        criteria.append(each := Criterion(f"{case}: {kind}", value, op, bound))
        rows.append({"case": case, "kind": kind, "value": value, "bound": bound, "met": each.met})

    plan = [(case, code) for case in CASES for code in ("interpreted", "compiled")]
    for case, code in options.track(plan, "event times"):
        error = event_time_error(case, options.count(TRIALS), options.seed, code == "compiled")
        value = error if np.isfinite(error) else None
        judge(f"{case.name} {code}", "event_time_error_s", value, "<=", TIME_BOUND)
    exact, *found = (integrate(driven, 0.0, START, DURATION, options)
                     for options in (EXACT, *map(fixed, SIZES)))  # fmt: skip
    state, time = event_errors()
    measured = {
        "integrator": np.max(np.abs(np.array(found) - exact), axis=1),
        "through_event": state,
        "through_moving_event": event_errors(wall_moves=True)[0],
        "event_time": time,
        "dense_output": dense_output_errors(),
    }
    for name, errors in measured.items():
        least = DENSE_ORDER if name == "dense_output" else STEP_ORDER
        judge(name, "order", order_of(errors), ">=", least)
    panel = convergence(SIZES, measured, 8, 0.05 * time[0], "step [s]", "largest error")
    return StudyResult(rows, {"event-accuracy": draw(panel)}, criteria=criteria)
