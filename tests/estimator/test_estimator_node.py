"""The estimator's loop with a queue in place of the bus."""

from typing import Any, cast

import msgspec
import numpy as np
import pytest

from estimator.interface import Estimator
from estimator.invariant.filter import InvariantFilter
from estimator.leg_odometry import LegOdometryFilter
from estimator.node import UpdateStatistics, run
from estimator.salted.estimator import SaltedEstimator
from runtime.bus import Publisher, Subscriber
from runtime.clock import PausedClock
from runtime.messages import SensorReading, StateCovariance, StateEstimate, decode, encode
from runtime.rows import layout_of
from tests.estimator.synthetic_walk import KinematicRobot


class Queue:
    """A subscriber and a publisher in one: gives readings, keeps estimates."""

    undecodable = 2

    def __init__(self, batches: list[list[SensorReading]]) -> None:
        self.batches, self.sent, self.waited_for = batches, [], 0

    def poll(self, timeout_s: float) -> bool:
        return bool(self.batches)

    def take(self) -> list[bytes]:
        return [encode(reading) for reading in self.batches.pop(0)]

    def message(self, frame: bytes) -> SensorReading:
        return decode(SensorReading, frame)

    def send(self, message: Any) -> None:
        is_row = isinstance(message, np.ndarray)
        self.sent.append(layout_of(StateEstimate).message(message.copy()) if is_row else message)

    def subscribers(self) -> int:
        return 1

    def wait_for_subscribers(self, count: int, timeout_s: float, stop: object = None) -> bool:
        self.waited_for = count
        return True


def test_every_reading_gives_an_estimate_of_its_tick_and_the_report_counts() -> None:
    robot, readings = KinematicRobot(), []
    for _ in range(10):
        readings.append(robot.reading())
        robot.step()
    del readings[4:6]
    ticks = [reading.tick for reading in readings]
    queue = Queue([[], readings[:1], readings[1:3], [], readings[3:]])  # some wait together
    report = run(
        LegOdometryFilter(),
        cast(Subscriber[SensorReading], queue),
        cast(Publisher[StateEstimate], queue),
        PausedClock(1e-3),
        stop=lambda: not queue.batches,
        subscribers=2,
    )
    assert [estimate.tick for estimate in queue.sent] == ticks
    assert [e.time for e in queue.sent] == pytest.approx([1e-3 * tick for tick in ticks])
    assert queue.waited_for == 2
    assert (report["updates"], report["skipped_ticks"], report["divergences"]) == (8, 2, 0)
    assert report["degraded"] == 0
    assert (report["mode"], report["undecodable"]) == ("paused", 2)
    assert 0.0 < report["update_us"]["p50"] <= report["update_us"]["p999"]


@pytest.mark.parametrize("make", [LegOdometryFilter, SaltedEstimator, InvariantFilter])
def test_every_twentieth_tick_publishes_the_covariance_of_its_estimate(
    make: type[Estimator],
) -> None:
    robot, readings = KinematicRobot(), []
    for _ in range(65):
        readings.append(robot.reading())
        robot.step()
    del readings[20]  # no reading, no covariance
    own, expected = make(), {}
    for reading in readings:
        own.update(reading)
        expected[reading.tick] = np.array(own.velocity_covariance)
    queue, covariances = Queue([readings[:30], readings[30:]]), Queue([])
    run(
        make(),
        cast(Subscriber[SensorReading], queue),
        cast(Publisher[StateEstimate], queue),
        PausedClock(1e-3),
        stop=lambda: not queue.batches,
        covariances=cast(Publisher[StateCovariance], covariances),
    )
    sent = cast(list[StateCovariance], covariances.sent)
    assert [message.tick for message in sent] == [0, 40, 60]
    for message in sent:
        np.testing.assert_array_equal(message.velocity, expected[message.tick])
    assert not np.array_equal(sent[0].velocity, sent[2].velocity)


@pytest.mark.parametrize("make", [LegOdometryFilter, SaltedEstimator, InvariantFilter])
def test_a_filter_that_has_not_begun_has_a_covariance_too(make: type[Estimator]) -> None:
    bad = msgspec.structs.replace(
        KinematicRobot().reading(), quaternion_imu_in_world=np.full(4, np.nan)
    )
    queue, covariances = Queue([[bad]]), Queue([])
    run(
        make(),
        cast(Subscriber[SensorReading], queue),
        cast(Publisher[StateEstimate], queue),
        PausedClock(1e-3),
        stop=lambda: not queue.batches,
        covariances=cast(Publisher[StateCovariance], covariances),
    )
    assert [estimate.status for estimate in queue.sent] == ["starting"]
    assert [message.tick for message in covariances.sent] == [0]


def test_a_run_without_readings_reports_zeros() -> None:
    assert UpdateStatistics().report() == {
        "updates": 0,
        "skipped_ticks": 0,
        "update_us": {"p50": 0.0, "p99": 0.0, "p999": 0.0, "max": 0.0},
    }


def test_percentiles_come_from_the_recorded_times() -> None:
    statistics = UpdateStatistics()
    for tick, duration in enumerate(np.linspace(0.0, 1e-3, 1001)):
        statistics.record(tick, float(duration))
    report = statistics.report()
    assert report["update_us"] == pytest.approx(
        {"p50": 500.0, "p99": 990.0, "p999": 999.0, "max": 1000.0}, rel=0.03
    )
    assert (report["updates"], report["skipped_ticks"]) == (1001, 0)
