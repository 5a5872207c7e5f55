"""The estimator's loop with a queue in place of the bus."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from estimator.node import run
from runtime.clock import PausedClock
from runtime.messages import SensorReading, StateEstimate, decode, encode
from runtime.rows import layout_of
from tests.estimator.estimators import invariant, leg_odometry, salted
from tests.estimator.synthetic_walk import KinematicRobot


class Queue:
    """A subscriber and a publisher in one: gives readings, keeps estimates."""

    undecodable, listeners = 2, 1

    def __init__(self, batches):
        self.batches, self.sent = batches, []

    def poll(self, timeout_s):
        return bool(self.batches)

    def take(self):
        """Rows of sound readings, frames of the others."""
        return [
            reading if isinstance(reading, bytes) else reading.row
            for reading in self.batches.pop(0)
        ]

    def message(self, frame):
        return decode(SensorReading, frame)

    def send(self, message):
        is_row = isinstance(message, np.ndarray)
        self.sent.append(layout_of(StateEstimate).message(message.copy()) if is_row else message)

    def subscribers(self):
        return self.listeners


def play(estimator, arrivals, covariances=None):
    """The estimates that the loop makes of readings and frames."""
    queue = Queue([arrivals[:30], arrivals[30:]])
    run(
        estimator, queue,
        queue, PausedClock(1e-3), lambda: not queue.batches,
        covariances=covariances,
    )  # fmt: skip
    return queue


def readings_of(count):
    robot, readings = KinematicRobot(), []
    for _ in range(count):
        readings.append(robot.reading())
        robot.step()
    return readings


class ByMessages:
    """An estimator that knows no rows."""

    def __init__(self, core):
        self.update, self.divergences = core.update, 0


@pytest.mark.parametrize("make", [leg_odometry, salted, invariant])
def test_rows_frames_and_messages_give_the_same_estimates(make):
    readings, own = readings_of(30), make()
    expected = [own.update(reading) for reading in readings]
    frames = [encode(reading) for reading in readings]
    assert play(make(), readings).sent == expected
    assert play(make(), frames).sent == expected
    assert play(ByMessages(make()), readings).sent == expected


def test_a_frame_that_is_no_reading_is_counted_and_passed_over():
    readings = readings_of(2)
    queue = play(leg_odometry(), [readings[0], b"junk", readings[1]])
    assert [estimate.tick for estimate in queue.sent] == [0, 1] and queue.undecodable == 3


def test_no_covariance_is_sent_while_nobody_listens():
    covariances = Queue([])
    covariances.listeners = 0
    play(leg_odometry(), readings_of(21), covariances)
    assert not covariances.sent


@pytest.mark.parametrize("make", [leg_odometry, salted, invariant])
def test_every_twentieth_tick_publishes_the_covariance_of_its_estimate(make):
    readings = readings_of(65)
    del readings[20]  # no reading, no covariance
    own, expected = make(), {}
    for reading in readings:
        own.update(reading)
        expected[reading.tick] = np.array(own.velocity_covariance)
    covariances = Queue([])
    play(make(), readings, covariances)
    sent = covariances.sent
    assert [message.tick for message in sent] == [0, 40, 60]
    for message in sent:
        assert_array_equal(message.velocity, expected[message.tick])
    assert not np.array_equal(sent[0].velocity, sent[2].velocity)
