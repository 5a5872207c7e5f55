"""The library: speed beside SciPy."""

from __future__ import annotations

from collections.abc import Iterator

from saltus.bench.hybrid import OURS
from saltus.bench.hybrid import run as run_bench
from saltus.bench.score.figures import Figure, pace, time_figure
from saltus.common.console import say


def measure() -> Iterator[Figure]:
    """All figures of the group."""
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
