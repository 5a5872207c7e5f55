"""The library: speed beside SciPy, criteria of the fast studies, closed forms, events found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from saltation.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION
from saltation.options import SimulationOptions
from saltation.saltations import saltation
from saltation.simulation import simulate
from saltation.systems import Array, Mode, System, Transition
from saltus.bench.hybrid import OURS, ball
from saltus.bench.hybrid import run as run_bench
from saltus.bench.score.figures import Figure, pace, time_figure
from saltus.common.console import say
from studies.study import StudyOptions, find

FAST_STUDIES = ("zeno-block",)  # a few seconds each
FAST_GUARDS = 60  # systems whose guard swings faster and faster
Guard = Callable[..., float]
TIGHT = SimulationOptions(rtol=1e-12, atol=1e-13)


def measure() -> Iterator[Figure]:
    """All figures of the group."""
    for name, error in (
        ("ball after four bounces", _ball_error()),
        ("saltation matrix of the ball", _saltation_error()),
        ("oscillator through 20 crossings", _oscillator_error()),
    ):
        yield Figure(f"error: {name}", "", error, tolerance=1.0, margin=1e-12)
    found, evaluations = _fast_guards()
    yield Figure("fast guards: events found", "", found, "higher")
    yield Figure("fast guards: evaluations of the guard", "", evaluations, "equal",
                 tolerance=0.02)  # fmt: skip
    met = total = 0
    for name in FAST_STUDIES:
        say(f"library: study {name}")
        criteria = find(name)[1](StudyOptions()).criteria
        met, total = met + sum(each.met for each in criteria), total + len(criteria)
    yield Figure(f"criteria met of {', '.join(FAST_STUDIES)}", "", met, "higher",
                 note="" if met == total else f"of {total}")  # fmt: skip
    say("library: simulations beside SciPy")
    before, result = pace(), run_bench(rounds=3, balls=1000)
    unit = 0.5 * (before + pace())
    taken = {row["name"]: row["median_us"] / unit for row in result.rows}
    # How much faster than SciPy depends on the processor, by a factor of 2.
    for what, name, ratio in (
        ("batch", "compiled_batch", result.ratio),
        ("one simulation", OURS, result.extra["ratio_one_python_simulation"]),
    ):
        yield time_figure(f"{what}: a trajectory", "us", taken[name], tolerance=0.5)
        yield Figure(f"{what}: SciPy's time over ours", "", ratio, "shown")


def _ball_error() -> float:
    """Largest error of a ball after four bounces, against the closed form."""
    duration, height = 3.0, 1.0
    run = simulate(ball(), FALLING, np.array([height, 0.0]), duration, options=TIGHT)
    t, speed = np.sqrt(2.0 * height / GRAVITY), np.sqrt(2.0 * height * GRAVITY)
    while True:
        speed *= RESTITUTION
        flight = 2.0 * speed / GRAVITY
        if t + flight > duration:
            break
        t += flight
    rest = duration - t
    exact = np.array([speed * rest - 0.5 * GRAVITY * rest**2, speed - GRAVITY * rest])
    return float(np.max(np.abs(run.final_state - exact)))


def _saltation_error() -> float:
    """Largest error of the ball's Xi (3.2) against [[-e, 0], [-g (1 + e) / v, -e]]."""
    system, v = ball(), -3.0
    transition = next(each for each in system.transitions if each.name == "impact")
    xi = saltation(system, transition, 0.0, np.array([0.0, v]), np.zeros(1)).matrix
    e = RESTITUTION
    exact = np.array([[-e, 0.0], [-GRAVITY * (1.0 + e) / v, -e]])
    return float(np.max(np.abs(xi - exact)))


def _oscillator_error() -> float:
    """Largest error of the times at which a harmonic oscillator crosses zero."""
    system = System(
        {0: Mode("positive", 2, 0, _oscillate), 1: Mode("negative", 2, 0, _oscillate)},
        (
            Transition.continuous(0, 1, lambda t, x, u: x[0], name="down"),
            Transition.continuous(1, 0, lambda t, x, u: -x[0], name="up"),
        ),
    )
    run = simulate(system, 0, np.array([1.0, 0.0]), 20.0 * np.pi, options=TIGHT)
    times = np.array([event.time for event in run.events])
    exact = np.pi * (np.arange(20) + 0.5)
    return float(np.max(np.abs(times - exact))) if len(times) == 20 else float("inf")


def _oscillate(t: float, x: Array, u: Array) -> Array:
    return np.array([x[1], -x[0]])


def _fast_guards() -> tuple[int, int]:
    """Events found in runs of 1 s whose guard is cos(w t), and evaluations of the guard.

    w grows from 20 to 140 periods a run: how often guards are sampled in a step decides how many
    of them are found.
    """
    found = evaluations = 0

    def drift(t: float, x: Array, u: Array) -> Array:
        return np.array([1.0])

    for periods in np.linspace(20.0, 140.0, FAST_GUARDS):
        w, counts = 2.0 * np.pi * periods, [0]

        def cosine(t: float, x: Array, u: Array, w: float = w, counts: list[int] = counts) -> float:
            counts[0] += 1
            return np.cos(w * t)

        def opposite(t: float, x: Array, u: Array, cosine: Guard = cosine) -> float:
            return -cosine(t, x, u)

        system = System(
            {0: Mode("even", 1, 0, drift), 1: Mode("odd", 1, 0, drift)},
            (Transition.continuous(0, 1, cosine), Transition.continuous(1, 0, opposite)),
        )
        options = SimulationOptions(max_events=1000)
        run = simulate(system, 0, np.array([0.0]), 1.0, options=options)
        found, evaluations = found + len(run.events), evaluations + counts[0]
    return found, evaluations
