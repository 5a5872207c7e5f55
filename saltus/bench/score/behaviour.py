"""Behaviour: fixed trials in lock step, whose outcomes and bits repeat."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from saltus.bench.score.figures import Figure
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.files import find_file, read_table
from saltus.configuration.launch import AT_ORIGIN
from saltus.launch.lock_step import LockStep, Tick
from saltus.sweep.running import run_all, workers
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


class Outcome(NamedTuple):
    """Result of a case: success, its measure with a unit, and a hash of its whole course.

    `error` says why there is no measure.
    """

    case: int
    passed: bool = False
    value: float | None = None
    unit: str = ""
    bits: str | None = None
    error: str = ""


def measure() -> Iterator[Figure]:
    """Run every case, as many at a time as there are cores."""
    trials = [(number, _trial(case)) for number, case in enumerate(CASES)]
    prepare([trial for _, trial in trials])
    outcomes: list[Outcome] = []
    with workers():
        for outcome in run_all(_run, sorted(trials, key=lambda each: -each[1].config.duration)):
            outcomes.append(outcome)
            say(f"behaviour: {len(outcomes)} of {len(CASES)}, {CASES[outcome.case].name}")
    passed = sum(outcome.passed for outcome in outcomes)
    yield Figure(f"passed of {len(CASES)}", "", passed, "higher")
    for number, _, value, unit, bits, error in sorted(outcomes):
        name = CASES[number].name
        yield Figure(name, unit, value, "lower", margin=OTHER_BITS, note=error)
        yield Figure(f"{name}: bits", "", bits, "equal", exact=True)


def _trial(case: Case) -> Trial:
    path = find_file("config", case.suite)
    trials = make_trials(
        read_suite(path), case.planner, "paused", str(path), (*case.settings, AT_ORIGIN)
    )
    if case.group:
        trials = select(trials, [case.group], (), 1, str(path))
    return trials[case.number].with_threads(1)


def _run(numbered: tuple[int, Trial]) -> Outcome:
    """One trial in lock step, with a hash of all its states and commands."""
    number, trial = numbered
    logging.getLogger("controller").addHandler(logging.NullHandler())
    digest = hashlib.sha256()

    def add(tick: Tick) -> None:
        for values in (tick.truth.q, tick.truth.v, tick.command.tau):
            digest.update(np.ascontiguousarray(values).tobytes())

    try:
        metrics = LockStep(trial.config).run(add)
    except BadRequest as error:  # no plan of a motion: the other cases are measured all the same
        return Outcome(number, error=str(error))
    summary: dict[str, Any] = metrics.summary()
    way = summary["displacement_m" if trial.config.is_driven else "distance_m"]
    passed = not metrics.fell and (trial.pass_distance is None or way >= trial.pass_distance)
    value, unit = summary["max_lateral_deviation_m"], "m"
    if value is None:
        value, unit = summary["velocity_rmse_m_s"], "m/s"
    return Outcome(number, passed, float(value), unit, digest.hexdigest()[:12])
