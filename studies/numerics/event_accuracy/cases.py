"""Events whose times are known in closed form, from many random states.

Parameters of a case are states that do not change, so that one system serves all its states. Its
transition leads to a mode of one state, the time at which it was taken; there nothing moves. So
the end of a simulation is the event's time, in Python and compiled alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ellipk

from hybrid.batch import simulate_batch
from hybrid.compiled.system import native_tables
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import Array, Mode, ScalarFunction, System, Transition, VectorFunction

GRAVITY = 9.8  # [m/s^2], 5.4
BEFORE, DONE = 1, 2
# The standard tolerance lets the integrator alone err by 2e-10 s on a slow oscillator.
OPTIONS = SimulationOptions(rtol=1e-12, atol=1e-14)
_NONE = np.zeros(0)


@dataclass(frozen=True)
class Case:
    """A system, random states to start from, and the time of the event from each of them."""

    name: str
    system: System
    draw: Callable[[int, np.random.Generator], Array]  # (count, rng) -> (count, n)
    exact: Callable[[Array], Array]  # (count, n) -> times after the start [s] (count,)
    duration: float  # that holds the event from every state [s]
    start: float = 0.0  # [s]


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
    return float(np.max(np.abs(times - case.start - case.exact(states))))


def cases() -> tuple[Case, ...]:
    """A ball dropped, thrown over a moving floor, and past a ceiling; oscillator and pendulum."""
    return _drop(), _moving_floor(), _ceiling(), _oscillator(), _pendulum()


def _system(n: int, flow: VectorFunction, guard: ScalarFunction) -> System:
    still = Mode("done", 1, 0, lambda t, x, u: np.zeros(1))
    edge = Transition(BEFORE, DONE, guard, lambda t, x, u: np.array([t]), name="event")
    return System({BEFORE: Mode("before", n, 0, flow), DONE: still}, (edge,))


def _drop() -> Case:
    """z = z0 + v0 t - g t^2 / 2 falls to zero."""

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[1], -GRAVITY])

    def draw(count: int, rng: np.random.Generator) -> Array:
        return np.stack((rng.uniform(0.1, 5.0, count), rng.uniform(-5.0, 5.0, count)), axis=1)

    def exact(x: Array) -> Array:
        return (x[:, 1] + np.sqrt(x[:, 1] ** 2 + 2.0 * GRAVITY * x[:, 0])) / GRAVITY

    return Case("ball_drop", _system(2, flow, lambda t, x, u: x[0]), draw, exact, 2.0)


def _moving_floor() -> Case:
    """State [z, v, f, l]: thrown up from z over a floor at f + l (t - 3)."""
    start = 3.0

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[1], -GRAVITY, 0.0, 0.0])

    def guard(t: float, x: Array, u: Array) -> float:
        return x[0] - x[2] - x[3] * (t - start)

    def draw(count: int, rng: np.random.Generator) -> Array:
        low, high = np.array([0.5, 0.5, -1.0, -1.0]), np.array([0.5, 6.0, 0.3, 1.5])
        return rng.uniform(low, high, (count, 4))

    def exact(x: Array) -> Array:
        speed, gap = x[:, 1] - x[:, 3], x[:, 0] - x[:, 2]
        return (speed + np.sqrt(speed**2 + 2.0 * GRAVITY * gap)) / GRAVITY

    return Case("moving_floor", _system(4, flow, guard), draw, exact, 2.5, start)


def _ceiling() -> Case:
    """State [z, v, ceiling]: passed on the way up and on the way down, within one long step."""
    speed = np.sqrt(4.0 * GRAVITY)  # carries the ball 2 m up

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[1], -GRAVITY, 0.0])

    def draw(count: int, rng: np.random.Generator) -> Array:
        past = 10.0 ** rng.uniform(-6.0, -0.3, count)  # how far the ball goes beyond [m]
        return np.stack((np.zeros(count), np.full(count, speed), 2.0 - past), axis=1)

    def exact(x: Array) -> Array:
        return (x[:, 1] - np.sqrt(2.0 * GRAVITY * (2.0 - x[:, 2]))) / GRAVITY

    system = _system(3, flow, lambda t, x, u: x[2] - x[0])
    return Case("double_crossing", system, draw, exact, float(2.0 * speed / GRAVITY))


def _oscillator() -> Case:
    """State [x, v, w, level]: x = cos(w t) falls through a level."""

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[2] * x[1], -x[2] * x[0], 0.0, 0.0])

    def draw(count: int, rng: np.random.Generator) -> Array:
        low, high = np.array([1.0, 0.0, 0.5, -0.95]), np.array([1.0, 0.0, 20.0, 0.95])
        return rng.uniform(low, high, (count, 4))

    def exact(x: Array) -> Array:
        return np.arccos(x[:, 3]) / x[:, 2]

    return Case(
        "linear_oscillator", _system(4, flow, lambda t, x, u: x[0] - x[3]), draw, exact, 6.0
    )


def _pendulum() -> Case:
    """State [angle, rate, w]: let go at an angle, at the bottom after K(sin(angle / 2)) / w."""

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[1], -x[2] * x[2] * np.sin(x[0]), 0.0])

    def draw(count: int, rng: np.random.Generator) -> Array:
        low, high = np.array([0.2, 0.0, 1.0]), np.array([3.0, 0.0, 6.0])
        return rng.uniform(low, high, (count, 3))

    def exact(x: Array) -> Array:
        return ellipk(np.sin(0.5 * x[:, 0]) ** 2) / x[:, 2]

    return Case("pendulum", _system(3, flow, lambda t, x, u: x[0]), draw, exact, 6.0)
