"""The loop's account of faults: one line when sensors begin to be left out, one when it ends."""

import logging
from typing import cast

import numpy as np
import pytest

from estimator.interface import Estimator
from estimator.node import QUIET_S, FaultLog
from estimator.rows import DEGRADED, DIVERGED, OK


class Judging:
    """Only what the log looks at."""

    faults: tuple[str, ...] = ()


def live(log: FaultLog, judging: Judging, story: dict[float, tuple[str, ...]], end: float) -> None:
    """Estimates at 100 Hz; `story` says which faults begin when."""
    for time in np.arange(0.0, end, 0.01):
        judging.faults = next(
            (faults for begin, faults in reversed(story.items()) if time > begin - 1e-9), ()
        )
        log.note(float(time), DEGRADED if judging.faults else OK)


def test_one_line_when_it_begins_one_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    judging = Judging()
    log = FaultLog(cast(Estimator, judging))
    live(log, judging, {0.1: ("gyroscope",), 0.2: ()}, 1.0)
    assert [record.getMessage() for record in caplog.records] == [
        "estimator: at fault from 0.100 s on: gyroscope",
        "estimator: all sensors are trusted again; at fault from 0.100 s to 0.190 s: gyroscope",
    ]
    assert log.degraded == 10 and log.told == ["gyroscope"]


def test_a_sensor_that_comes_and_goes_is_one_event(caplog: pytest.LogCaptureFixture) -> None:
    judging = Judging()
    log = FaultLog(cast(Estimator, judging))
    story = {0.1 * k: ("foot force FL",) if k % 2 else () for k in range(10)}
    live(log, judging, story | {0.9: ("orientation",), 1.0: ()}, 1.0 + QUIET_S + 0.05)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3
    assert "orientation" in lines[1] and "foot" not in lines[1]
    assert lines[2].endswith(": foot force FL; orientation")


def test_an_estimator_that_does_not_judge_is_only_counted(caplog: pytest.LogCaptureFixture) -> None:
    log = FaultLog(cast(Estimator, object()))
    with caplog.at_level(logging.INFO):
        for status in (OK, DEGRADED, DIVERGED, DEGRADED):
            log.note(0.0, status)
    assert log.degraded == 2 and not caplog.records
