"""A trot on which a sensor freezes, jumps, goes NaN, falls silent or drops out for 100 ms."""

from typing import NamedTuple

import numpy as np
import pytest

from tests.estimator.estimators import JUDGING, PLAIN, check_covariance, fresh
from tests.estimator.fault_scenarios import DURATION, SCENARIOS, Scenario, Stream
from tests.estimator.recorded_stream import recorded_trot

BEGIN = 1.17  # [s], both pairs of feet change within the fault
LEAD, AFTER = 0.35, 0.56  # [s] of the stream before and after the fault
DETECTION = 0.05  # [s]
WORST_VELOCITY = 1.0  # [m/s] of error
RECOVERY = 0.5  # [s]
NORMAL = 0.015  # [m/s] of error that a sound trot now and then has

NAMES = sorted(JUDGING | PLAIN)
WHOLE = [scenario for scenario in SCENARIOS if not scenario.single]
PARTLY = [s for s in SCENARIOS if s.single and s.kind in ("freeze", "jump")]


class Run(NamedTuple):
    time: np.ndarray  # [s] since the fault began
    error: np.ndarray  # [m/s] of the base's velocity
    status: np.ndarray


def follow(name: str, stream: Stream) -> Run:
    """Every estimate finite, every tenth covariance sound."""
    estimator = fresh(name)
    estimator.reset(stream.truth[0, :2])
    times, errors, statuses = [], [], []
    for k in range(stream.index(BEGIN - LEAD), stream.index(BEGIN + DURATION + AFTER)):
        estimate = estimator.update(stream.reading(k))
        assert np.isfinite(estimate.q).all() and np.isfinite(estimate.v).all()
        assert abs(estimate.q[3:7] @ estimate.q[3:7] - 1.0) < 1e-6
        if k % 10 == 0:
            check_covariance(estimator.covariance)
            check_covariance(estimator.velocity_covariance)
        times.append(stream.time[k] - BEGIN)
        errors.append(np.linalg.norm(estimate.v[:3] - stream.truth[k, 19:22]))
        statuses.append(estimate.status)
    return Run(np.array(times), np.array(errors), np.array(statuses))


def late_error(run: Run) -> float:
    """Root mean square of the velocity's error from `RECOVERY` after the fault on [m/s]."""
    return float(np.sqrt(np.mean(run.error[run.time > DURATION + RECOVERY] ** 2)))


@pytest.fixture(scope="module")
def usual() -> dict[str, Run]:
    """What each estimator does with the trot as it is."""
    return {name: follow(name, recorded_trot(1.0)) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_trot_is_ok_all_along(name: str, usual: dict[str, Run]) -> None:
    assert set(usual[name].status) == {"ok"}


@pytest.mark.parametrize("name", sorted(JUDGING))
@pytest.mark.parametrize("scenario", WHOLE + PARTLY, ids=lambda scenario: scenario.name)
def test_flagged_bounded_and_recovered_from(
    name: str, scenario: Scenario, usual: dict[str, Run]
) -> None:
    run = follow(name, scenario.apply(recorded_trot(1.0), BEGIN))
    in_fault = (run.time > DETECTION) & (run.time < DURATION - 1e-9)
    if scenario.seen:
        assert "ok" not in run.status[in_fault]
    if scenario.kind == "drop-out":
        assert run.status[run.time >= DURATION - 1e-9][0] != "ok"
    assert set(run.status) <= {"ok", "degraded"}
    assert run.error.max() < WORST_VELOCITY
    assert set(run.status[run.time > DURATION + 0.1]) == {"ok"}
    assert late_error(run) < 1.5 * late_error(usual[name]) + NORMAL


@pytest.mark.parametrize("name", sorted(PLAIN))
@pytest.mark.parametrize("scenario", WHOLE, ids=lambda scenario: scenario.name)
def test_a_filter_that_does_not_judge_stays_finite(name: str, scenario: Scenario) -> None:
    run = follow(name, scenario.apply(recorded_trot(1.0), BEGIN))
    assert run.status[-1] == "ok"
    assert run.error[-1] < WORST_VELOCITY
