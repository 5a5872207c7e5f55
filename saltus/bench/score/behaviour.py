"""Behaviour: fixed trials in lock step, whose outcomes and bits repeat."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from saltus.bench.score.figures import Figure
from saltus.common.console import say
from saltus.common.files import find_file, read_table
from saltus.configuration.launch import AT_ORIGIN
from saltus.launch.lock_step import Tick
from saltus.sweep.running import Broken, attempt, run_all, run_paused, workers
from saltus.sweep.summary import succeeded
from saltus.sweep.sweep import prepare
from saltus.sweep.trials import Trial, make_trials, select
from sim_bridge.suites import read_suite

OTHER_BITS = 0.02  # by which another change of the last bits moves a deviation [m, m/s]


class Case(NamedTuple):
    """A trial of a suite: `number` among those of its group (of the whole suite without one)."""

    name: str
    suite: str
    number: int
    group: str = ""
    planner: str = "hilqr"
    settings: Sequence[str] = ()


CASES = [Case(**row) for row in read_table(__file__, "behaviour.yaml")]


def measure() -> Iterator[Figure]:
    """Run every case, as many at a time as there are cores."""
    trials = [(number, _trial(case)) for number, case in enumerate(CASES)]
    prepare([trial for _, trial in trials])
    outcomes: list[tuple[int, bool, list[Figure]]] = []
    with workers():
        for outcome in run_all(_run, sorted(trials, key=lambda each: -each[1].config.duration)):
            outcomes.append(outcome)
            say(f"behaviour: {len(outcomes)} of {len(CASES)}, {CASES[outcome[0]].name}")
    yield Figure(f"passed of {len(CASES)}", "", sum(each[1] for each in outcomes), "higher")
    for _, _, figures in sorted(outcomes):
        yield from figures


def _trial(case: Case) -> Trial:
    path = find_file("config", case.suite)
    trials = make_trials(
        read_suite(path), case.planner, "paused", str(path), (*case.settings, AT_ORIGIN)
    )
    if case.group:
        trials = select(trials, [case.group], (), 1, str(path))
    return trials[case.number].with_threads(1)


def _run(numbered: tuple[int, Trial]) -> tuple[int, bool, list[Figure]]:
    """One trial in lock step: its number, whether it passed, its measure, a hash of its course."""
    number, trial = numbered
    digest = hashlib.sha256()

    def add(tick: Tick) -> None:
        for values in (tick.truth.q, tick.truth.v, tick.command.tau):
            digest.update(np.ascontiguousarray(values).tobytes())

    finished = attempt(partial(run_paused, also=add), trial)
    passed, value, unit, bits, error = False, None, "", None, ""
    if isinstance(finished, Broken):  # such as no plan of a motion: the others are measured
        error = finished.why
    else:
        row, bits, unit = finished.row, digest.hexdigest()[:12], "m"
        passed, value = succeeded(row), row["max_lateral_deviation_m"]
        if value is None:
            value, unit = row["velocity_rmse_m_s"], "m/s"
    name = CASES[number].name
    return (
        number,
        passed,
        [
            Figure(name, unit, value, "lower", margin=OTHER_BITS, note=error),
            Figure(f"{name}: bits", "", bits, "equal", exact=True),
        ],
    )
