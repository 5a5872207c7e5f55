"""Sensors in other units, dead or swapped, and a time that stands still: named by every filter."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.estimator.estimators import JUDGING, PLAIN, fresh
from tests.estimator.fault_scenarios import Stream
from tests.estimator.recorded_stream import recorded_trot

SEEN = 0.8  # [s] of the trot, by then each is named
RIGHT = [1, 0, 3, 2]  # left feet where right ones should be


def scaled(first: int, last: int, factor: float) -> Callable[[Stream], Stream]:
    def apply(stream: Stream) -> Stream:
        rows = stream.rows.copy()
        rows[:, first:last] *= factor
        return stream._replace(rows=rows)

    return apply


def swapped(stream: Stream) -> Stream:
    return stream._replace(rows=np.hstack((stream.rows[:, :46], stream.rows[:, 46:][:, RIGHT])))


def stopped(stream: Stream) -> Stream:
    return stream._replace(time=np.minimum(stream.time, 0.3))


FAULTS = {
    "accelerometer reads 1.0 m/s2 at rest, gravity is 9.81: are its units g?":
        scaled(7, 10, 1.0 / 9.81),
    "accelerometer reads 32.1 m/s2 at rest, gravity is 9.81: are its units g?":
        scaled(7, 10, 1.0 / 0.3048),
    "gyroscope turns otherwise than the attitude: are its units deg/s?":
        scaled(4, 7, np.degrees(1.0)),
    "foot force FR": scaled(46, 47, 0.0),
    "foot force": swapped,
    "time of the readings, which stands still: is the robot's clock running?": stopped,
}  # fmt: skip


def told(name: str, stream: Stream) -> tuple[set[str], set[str]]:
    """The statuses of the trot's first part, and what was at fault."""
    estimator, statuses, faults = fresh(name), set(), set()
    estimator.reset()
    for k in range(round(SEEN / 1e-3)):
        statuses.add(estimator.update(stream.reading(k)).status)
        faults.update(estimator.faults)
    return statuses, faults


@pytest.mark.parametrize("name", sorted(JUDGING | PLAIN))
@pytest.mark.parametrize("words", FAULTS)
def test_the_fault_is_named(name: str, words: str) -> None:
    statuses, faults = told(name, FAULTS[words](recorded_trot(1.0)))
    assert statuses == {"ok", "degraded"} and words in faults


@pytest.mark.parametrize("name", sorted(JUDGING | PLAIN))
def test_a_sound_trot_has_no_fault(name: str) -> None:
    assert told(name, recorded_trot(1.0)) == ({"ok"}, set())
