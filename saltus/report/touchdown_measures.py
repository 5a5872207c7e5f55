"""Measures a trial's touchdowns for its report, with few samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robots.robot import Robot
from saltus.metrics.touchdown_spread import Spread, outcomes_of, spread_of
from saltus.metrics.touchdowns import Touchdowns, kind_of
from saltus.report.subject import TrialRecord

SAMPLES = 64  # of each touchdown


class MeasuredTouchdown(NamedTuple):
    """A touchdown of a trial that was measured."""

    time: float  # [s]
    kind: str
    spread: Spread


class TouchdownMeasurements(NamedTuple):
    """Touchdowns of a trial."""

    landings: Sequence[MeasuredTouchdown]
    of: int  # how many the trial has
    refused: Sequence[str]  # why some could not be measured


def measured(robot: Robot, trial: TrialRecord, most: int) -> TouchdownMeasurements:
    """Measure touchdowns of a trial, up to a fall: the ``most`` that are near its perturbation."""
    assert trial.trace is not None and trial.trace.touchdowns is not None
    touchdowns, end = trial.trace.touchdowns, trial.fall_time
    if end is not None:
        touchdowns = touchdowns.rows(touchdowns.time <= end)
    near = np.argsort(np.abs(touchdowns.time - trial.begin), kind="stable")[:most]
    chosen = touchdowns.rows(np.sort(near))
    landings, refused = [], []
    for row in range(len(chosen.time)):
        try:
            landings.append(_landing(robot, chosen, row))
        except ValueError as error:
            refused.append(f"{error} (at {chosen.time[row]:.2f} s)")
    return TouchdownMeasurements(landings, len(touchdowns.time), refused)


def _landing(robot: Robot, touchdowns: Touchdowns, row: int) -> MeasuredTouchdown:
    v, landing = touchdowns.v[row], touchdowns.landing[row]
    spread = spread_of(outcomes_of(robot, touchdowns, row, SAMPLES), v, landing)
    return MeasuredTouchdown(float(touchdowns.time[row]), kind_of(landing), spread)
