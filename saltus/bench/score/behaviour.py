"""Behaviour: fixed trials in lock step, whose outcomes and bits repeat."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from saltus.bench.score.figures import Figure
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.files import find_file
from saltus.configuration.launch import AT_ORIGIN
from saltus.launch.lock_step import LockStep, Tick
from saltus.sweep.running import backend_ready, default_jobs, run_all
from saltus.sweep.sweep import prepare
from saltus.sweep.trials import Trial, make_trials, select
from sim_bridge.suites import parse_suite

LATE = ("timing.solve=0.025",)
OTHER_BITS = 0.02  # by which another change of the last bits moves a deviation [m, m/s]


class Case(NamedTuple):
    """A trial of a suite: `number` among those of its group (of the whole suite without one)."""

    name: str
    suite: str
    number: int
    group: str = ""
    planner: str = "hilqr"
    settings: tuple[str, ...] = ()


CASES = (
    Case("push 1.0 m/s, FR, first stride", "table-6.1", 0),
    Case("push 1.5 m/s, FR, first stride", "table-6.1", 8),
    Case("push 1.5 m/s, RL, fourth stride", "table-6.1", 15),
    Case("push 2.5 m/s", "push-hard", 0),
    Case("push -2.5 m/s", "push-hard", 5),
    Case("push 3.0 m/s", "push-hard", 18),
    Case("drive: turn in place", "drive", 0, "turn in place"),
    Case("drive: sideways", "drive", 0, "sideways"),
    Case("terrain: walk, step of 5 cm up", "terrain", 0, "step of 5 cm up"),
    Case("terrain: trot, boxes of 6 cm", "terrain", 1, "boxes of 6 cm"),
    Case("terrain: walk, icy patch", "terrain", 0, "icy patch"),
    Case(
        "terrain: trot, push on a slope", "terrain", 1, "push of 1.5 m/s on a slope of 15 degrees"
    ),
    Case("backflip, pushed", "table-backflip", 0),
    Case("jump up, pushed", "jumps", 0, "jump up"),
    Case("push 1.0 m/s, plans 25 ms late", "table-6.1", 2, settings=LATE),
    Case("push 1.5 m/s, plans 25 ms late", "table-6.1", 10, settings=LATE),
    Case("push 1.0 m/s, Convex MPC", "table-6.1", 0, planner="convex_mpc"),
    Case("push 1.0 m/s, Instant QP", "table-6.1", 0, planner="instant_qp"),
)


class Outcome(NamedTuple):
    """What a case came to: success, its measure with a unit, and a hash of its whole course.

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
    with backend_ready("loky", None, default_jobs("loky")):
        for outcome in run_all(_run, sorted(trials, key=lambda each: -each[1].config.duration)):
            outcomes.append(outcome)
            say(f"behaviour: {len(outcomes)} of {len(CASES)}, {CASES[outcome.case].name}")
    outcomes.sort()
    passed = sum(outcome.passed for outcome in outcomes)
    yield Figure("behaviour", f"passed of {len(CASES)}", "", passed, "higher")
    for outcome in outcomes:
        name = CASES[outcome.case].name
        yield Figure(
            "behaviour", name, outcome.unit, outcome.value, "lower", margin=OTHER_BITS,
            note=outcome.error,
        )  # fmt: skip
        yield Figure("behaviour", f"{name}: bits", "", outcome.bits, "equal", exact=True)


def _trial(case: Case) -> Trial:
    path = find_file("config", case.suite)
    groups = parse_suite(path.read_text())
    trials = make_trials(
        groups, case.planner, "paused", str(path), (*case.settings, AT_ORIGIN)
    )
    if case.group:
        return select(trials, [case.group], (), 1, str(path))[case.number].with_threads(1)
    return trials[case.number].with_threads(1)


def _run(numbered: tuple[int, Trial]) -> Outcome:
    """One trial in lock step, with a hash of all its states and commands."""
    try:
        return _trial_outcome(*numbered)
    except BadRequest as error:  # no plan of a motion: the other cases are measured all the same
        return Outcome(numbered[0], error=str(error))


def _trial_outcome(number: int, trial: Trial) -> Outcome:
    logging.getLogger("controller").addHandler(logging.NullHandler())
    digest, run = hashlib.sha256(), LockStep(trial.config)

    def add(tick: Tick) -> None:
        for values in (tick.truth.q, tick.truth.v, tick.command.tau):
            digest.update(np.ascontiguousarray(values).tobytes())

    metrics = run.run(add)
    summary: dict[str, Any] = metrics.summary()
    way = summary["displacement_m" if trial.config.is_driven else "distance_m"]
    passed = not metrics.fell and (trial.pass_distance is None or way >= trial.pass_distance)
    value, unit = summary["max_lateral_deviation_m"], "m"
    if value is None:
        value, unit = summary["velocity_rmse_m_s"], "m/s"
    return Outcome(number, passed, float(value), unit, digest.hexdigest()[:12])
