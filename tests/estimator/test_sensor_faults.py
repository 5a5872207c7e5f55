"""Every filter with sensors that fail, speak in other units, or send junk."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from estimator.rows import ROW
from tests.estimator.estimators import JUDGING, PLAIN, check_covariance, check_estimate, fresh
from tests.estimator.fault_scenarios import DURATION, SCENARIOS, Stream, sensor_row
from tests.estimator.recorded_stream import recorded_trot
from tests.estimator.synthetic_walk import KinematicRobot, Trot, real_noise

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


def follow(name, stream):
    """Every estimate finite, every tenth covariance sound."""
    estimator = fresh(name)
    estimator.reset(stream.truth[0, :2])
    times, errors, statuses = [], [], []
    for k in range(stream.index(BEGIN - LEAD), stream.index(BEGIN + DURATION + AFTER)):
        estimate = estimator.update(stream.reading(k))
        check_estimate(estimate)
        if k % 10 == 0:
            check_covariance(estimator.covariance)
            check_covariance(estimator.velocity_covariance)
        times.append(stream.time[k] - BEGIN)
        errors.append(np.linalg.norm(estimate.v[:3] - stream.truth[k, 19:22]))
        statuses.append(estimate.status)
    return Run(np.array(times), np.array(errors), np.array(statuses))


def late_error(run):
    """Root mean square of the velocity's error from `RECOVERY` after the fault on [m/s]."""
    return float(np.sqrt(np.mean(run.error[run.time > DURATION + RECOVERY] ** 2)))


@pytest.fixture(scope="module")
def usual():
    """What each estimator does with the trot as it is."""
    return {name: follow(name, recorded_trot(1.0)) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_trot_is_ok_all_along(name, usual):
    assert set(usual[name].status) == {"ok"}


@pytest.mark.parametrize("name", sorted(JUDGING))
@pytest.mark.parametrize("scenario", WHOLE + PARTLY, ids=lambda scenario: scenario.name)
def test_flagged_bounded_and_recovered_from(name, scenario, usual):
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
def test_a_filter_that_does_not_judge_stays_finite(name, scenario):
    run = follow(name, scenario.apply(recorded_trot(1.0), BEGIN))
    assert run.status[-1] == "ok"
    assert run.error[-1] < WORST_VELOCITY


SEEN = 0.8  # [s] of the trot, by then each is named
RIGHT = [1, 0, 3, 2]  # left feet where right ones should be


def scaled(first, last, factor):
    def apply(stream):
        rows = stream.rows.copy()
        rows[:, first:last] *= factor
        return stream._replace(rows=rows)

    return apply


def swapped(stream):
    return stream._replace(rows=np.hstack((stream.rows[:, :46], stream.rows[:, 46:][:, RIGHT])))


def stopped(stream):
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


def told(name, stream):
    """The statuses of the trot's first part, and what was at fault."""
    estimator, statuses, faults = fresh(name), set(), set()
    estimator.reset()
    for k in range(round(SEEN / 1e-3)):
        statuses.add(estimator.update(stream.reading(k)).status)
        faults.update(estimator.faults)
    return statuses, faults


@pytest.mark.parametrize("name", sorted(JUDGING | PLAIN))
@pytest.mark.parametrize("words", FAULTS)
def test_the_fault_is_named(name, words):
    statuses, faults = told(name, FAULTS[words](recorded_trot(1.0)))
    assert statuses == {"ok", "degraded"} and words in faults


TICK = 1e-3
STATUSES = {"ok", "degraded", "diverged", "starting"}


def sound_rows(count):
    """(count, 50) of a trot with noise."""
    robot = KinematicRobot(real_noise())
    walk, rows = Trot(robot, np.array([0.3, 0.0, 0.0])), []
    for _ in range(count):
        rows.append(sensor_row(robot.reading()))
        walk.step()
    return np.array(rows)


SOUND = sound_rows(60)
NUMBERS = st.one_of(
    st.floats(), st.sampled_from([0.0, np.nan, np.inf, -np.inf, 1e5, -1e5, 1e308, 5e-324])
)
ANY_ROW = st.one_of(
    arrays(np.float64, ROW, elements=NUMBERS),
    arrays(np.float64, ROW, elements=st.floats(-40.0, 40.0)),
    st.sampled_from([0.0, 1.0, np.nan, 1e200]).map(lambda value: np.full(ROW, value)),
)
STEPS = st.one_of(st.just(TICK), st.sampled_from([0.0, 1e-9, 0.02, 0.1, 5.0, -1.0, 1e300, np.nan]))


@st.composite
def junk(draw):
    """Steps of time and rows: junk, and sound readings of which some numbers are junk."""
    story = []
    for _ in range(draw(st.integers(1, 12))):
        row = draw(st.one_of(ANY_ROW, st.sampled_from(list(SOUND)))).copy()
        for _ in range(draw(st.integers(0, 3))):
            begin, end = sorted(draw(st.tuples(st.integers(0, ROW), st.integers(0, ROW))))
            row[begin:end] = draw(NUMBERS)
        story.append((draw(STEPS), row))
    return story


@pytest.mark.parametrize("name", sorted(JUDGING | PLAIN))
@given(story=junk(), lead=st.sampled_from([0, 1, 30]))
def test_junk(name, story, lead):
    estimator, time = fresh(name), 0.0
    estimator.reset()
    steps = [(TICK, row) for row in SOUND[:lead]] + story + [(TICK, row) for row in SOUND[-30:]]
    for step, row in steps:
        time = time + step if np.isfinite(time + step) else time
        stamp = np.nan if np.isnan(step) else time
        reading = Stream(np.array([stamp]), row[None], np.zeros((1, 37))).reading(0)
        estimate = estimator.update(reading)
        assert estimate.status in STATUSES
        check_estimate(estimate)
        assert ((estimate.contact >= 0.0) & (estimate.contact <= 1.0)).all()
        check_covariance(estimator.covariance)
        check_covariance(estimator.velocity_covariance)
