"""Gaps, steps back in time, unusable readings, divergence: told by the status, never raised."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose, assert_array_equal

from estimator.salted.estimator import LARGEST_GAP
from hw_bridge.intake import LARGEST_DRIFT
from tests.estimator.estimators import check_estimate, salted
from tests.estimator.standing_robot import StandingRobot

NAN = np.full(12, np.nan)


@pytest.fixture(scope="module")
def shared():
    return salted()


@pytest.fixture
def observer(shared):
    """As fresh, at (1, 2); what it counted before is forgotten."""
    shared.reset(np.array([1.0, 2.0]))
    shared._memory.divergences = 0.0
    return shared


@pytest.fixture(scope="module")
def readings():
    robot = StandingRobot()
    return [robot.reading() for _ in range(400)]


def feed(observer, readings):
    """Statuses of the readings, whose estimates are all finite."""
    statuses = []
    for reading in readings:
        estimate = observer.update(reading)
        check_estimate(estimate)
        assert (estimate.tick, estimate.time) == (reading.tick, reading.time) or np.isnan(
            reading.time
        )
        statuses.append(estimate.status)
    return statuses


def moved(reading, by):
    return replace(reading, time=reading.time + by)


@pytest.mark.parametrize("field", ["quaternion_imu_in_world", "joint_position", "joint_velocity"])
def test_it_is_starting_until_imu_and_encoders_are_sound(observer, readings, field):
    bad = [replace(r, **{field: np.full_like(getattr(r, field), np.nan)}) for r in readings[:5]]
    assert feed(observer, bad) == ["starting"] * 5
    assert observer.divergences == 5
    statuses = feed(observer, readings[5:200])
    assert set(statuses) == {"starting", "ok"}
    first = statuses.index("ok")
    assert set(statuses[first:]) == {"ok"}
    assert observer.divergences == 5 + first


@pytest.mark.parametrize("gap", [0.005, 0.1])
def test_after_a_gap_it_is_degraded_once(observer, readings, gap):
    feed(observer, readings[:200])
    trace = np.trace(observer.velocity_covariance)
    estimate = observer.update(moved(readings[200], gap))
    assert estimate.status == "degraded"
    assert np.trace(observer.velocity_covariance) > trace
    assert set(feed(observer, [moved(r, gap) for r in readings[201:]])) == {"ok"}
    assert observer.divergences == 0


@pytest.mark.parametrize("pace", [1.0, 1.0 + LARGEST_DRIFT])
@pytest.mark.parametrize("ticks, status", [(2, "ok"), (3, "degraded")])
def test_one_lost_reading_is_none_too_many_and_two_are(observer, readings, pace, ticks, status):
    """At any tick, for differences of times are rounded, and on a clock that `RobotTime` drives."""
    paced = [replace(r, time=pace * 1e-3 * k) for k, r in enumerate(readings)]
    told = feed(observer, paced[::ticks])
    assert set(told[1:]) == {status}
    assert observer.divergences == 0


@pytest.mark.parametrize("jump", [-0.01, -1e-9, 0.3, 1e300])
def test_a_step_back_or_a_gap_beyond_all_limits_restarts_where_it_was(observer, readings, jump):
    feed(observer, readings[:199])
    place, last = observer.update(readings[199]).q[:2].copy(), readings[199].time
    estimate = observer.update(replace(readings[200], time=last + jump))
    assert estimate.status == "diverged"
    assert observer.divergences == 1
    assert_array_equal(estimate.q[:2], place)
    if jump < 1.0:  # beyond 1e16 s a millisecond is none
        after = [
            replace(r, time=last + jump + (k + 1) * 1e-3) for k, r in enumerate(readings[201:])
        ]
        assert feed(observer, after)[-1] == "ok"
        assert observer.divergences == 1


@pytest.mark.parametrize("time", [np.nan, np.inf, -np.inf])
def test_a_time_that_is_none_is_left_out_and_counted(observer, readings, time):
    assert observer.update(replace(readings[0], time=time)).status == "starting"
    feed(observer, readings[:199])
    before = observer.update(readings[199])
    estimate = observer.update(replace(readings[200], time=time))
    assert estimate.status == "diverged"
    assert_array_equal(estimate.q, before.q)
    assert observer.divergences == 2
    assert observer.update(readings[200]).status == "ok"


def test_a_second_reading_of_the_same_time_changes_nothing(observer, readings):
    feed(observer, readings[:199])
    before, covariance = observer.update(readings[199]), observer.covariance.copy()
    estimate = observer.update(replace(readings[300], tick=7, time=before.time))
    assert estimate == replace(before, tick=7)
    assert_array_equal(observer.covariance, covariance)


@pytest.mark.parametrize("block", ["q", "v", "bias", "P"])
def test_numbers_that_are_none_restart_it(observer, readings, block):
    feed(observer, readings[:200])
    getattr(observer._memory, block)[0] = np.nan
    assert feed(observer, readings[200:201]) == ["diverged"]
    assert observer.divergences == 1
    assert set(feed(observer, readings[201:399])) == {"ok"}
    assert_allclose(observer.update(readings[399]).q[:2], [1.0, 2.0], atol=1e-3)


def test_without_attitude_and_encoders_it_coasts_and_then_gives_up(observer, readings):
    feed(observer, readings[:100])
    blind = [
        replace(r, quaternion_imu_in_world=NAN[:4], joint_position=NAN) for r in readings[100:]
    ]
    statuses = feed(observer, blind)
    within = round(LARGEST_GAP / 1e-3)
    assert set(statuses[: within - 1]) == {"degraded"}
    assert set(statuses[within + 1 :]) == {"diverged"}
    again = [moved(r, 0.4) for r in readings]
    assert feed(observer, again)[-1] == "ok"


def test_faults_are_named(observer, readings):
    feed(observer, readings[:50])
    assert observer.faults == ()
    observer.update(replace(readings[50], foot_force=NAN[:4]))
    assert observer.faults == ("foot force",)
