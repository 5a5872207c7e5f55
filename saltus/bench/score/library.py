"""The library: speed beside SciPy, and events found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from saltation.options import SimulationOptions
from saltation.simulation import simulate
from saltation.systems import Array, Mode, System, Transition
from saltus.bench.hybrid import OURS
from saltus.bench.hybrid import run as run_bench
from saltus.bench.score.figures import Figure, pace, time_figure
from saltus.common.console import say

FAST_GUARDS = 60  # systems whose guard swings faster and faster
Guard = Callable[..., float]


def measure() -> Iterator[Figure]:
    """All figures of the group."""
    found, evaluations = _fast_guards()
    yield Figure("fast guards: events found", "", found, "higher")
    yield Figure("fast guards: evaluations of the guard", "", evaluations, "equal",
                 tolerance=0.02)  # fmt: skip
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
