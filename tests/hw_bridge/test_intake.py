"""Whom the bridge believes: one robot's whole, new frames; everything else is counted."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from hw_bridge.intake import WRAP, Intake
from hw_bridge.link import Datagram
from hw_bridge.wire.frame import seal
from hw_bridge.wire.layout import Header
from tests.a1 import WIRE, state_frame

ROBOT, STRANGER = ("192.168.123.10", 8007), ("192.168.123.161", 8007)
MS = 1e-3


def frame(tick, *header, **fields):
    return state_frame(WIRE, header=Header(*header), tick=tick % WRAP, **fields)


def with_number(value, name, index, tick=1):
    """A sealed frame with one float of it set to `value`."""
    data = bytearray(frame(tick))
    np.frombuffer(data, WIRE.state)[0][name][index] = value
    return seal(data)


def datagram(data, arrival=10.0, sender=ROBOT):
    return Datagram(data, sender, arrival)


def take(intake, *ticks, start=10.0):
    """Feed one batch of good frames, each arriving when its tick says."""
    return intake.take([datagram(frame(tick), start + tick * MS) for tick in ticks])


def test_the_first_good_frame_tells_the_header_and_where_the_robot_counts():
    intake, header = Intake(WIRE, ROBOT, MS), Header(0xFF, 1, 2, 3, 4)
    first = intake.take([datagram(frame(5000, *header, imu_temperature=33))])
    assert first is intake.last
    assert intake.header == header
    assert (first.tick, first.time, first.arrival) == (5000, 10.0, 10.0)
    assert (first.state.tick, first.state.imu_temperature) == (5000, 33)
    assert take(intake, 1) is None
    assert intake.counts == {"accepted": 1, "header": 1}


MISCHIEF = {
    "good": frame,
    "wrong_sender": frame,
    "length": lambda k: frame(k)[: 771 - 1 - k % 771],
    "crc": lambda k: frame(k)[:-1] + b"?",
    "header": lambda k: frame(k, 0xFF, 0, 9),
    "not_finite": lambda k: with_number(np.nan, "rpy", 0, tick=k),
    "duplicate": lambda k: frame(k - 1),
    "old": lambda k: frame(k - 2),
    "leap": lambda k: frame(k + 700),
}


@given(st.lists(st.lists(st.sampled_from(sorted(MISCHIEF)), max_size=6), max_size=12))
def test_every_datagram_is_counted_once_and_only_good_ones_are_believed(batches):
    intake = Intake(WIRE, ROBOT, MS)
    take(intake, 0)
    expected, tick = Counter({"good": 1}), 0
    for kinds in batches:
        batch = []
        for kind in kinds:
            k = tick + 1
            sender = STRANGER if kind == "wrong_sender" else ROBOT
            batch.append(datagram(MISCHIEF[kind](k), 10.0 + k * MS, sender))
            tick = k if kind == "good" else tick
            expected[kind] += 1
        sample = intake.take(batch)
        assert (sample is not None) == ("good" in kinds)
        assert intake.last.state.tick == tick
    believed = intake.counts["accepted"] + intake.counts["overtaken"]
    assert believed == expected.pop("good")
    refused = {k: n for k, n in intake.counts.items() if k not in ("accepted", "overtaken")}
    assert refused == dict(expected)


def test_the_tick_wraps_around_without_a_trace():
    intake = Intake(WIRE, ROBOT, MS)
    for k in range(-5, 6):
        sample = intake.take([datagram(frame(k), 10.0 + k * MS)])
        assert sample.tick == WRAP + k
        assert sample.time == approx(10.0 + k * MS)
    assert intake.counts == {"accepted": 11}


@pytest.mark.parametrize("count, kept", [(4, [0, 1, 2]), (40, [*range(30, 39)])])
def test_the_newest_of_a_batch_wins_and_the_few_before_it_are_read(count, kept):
    intake = Intake(WIRE, ROBOT, MS)
    newest = take(intake, *range(count))
    assert newest.state.tick == newest.tick == count - 1
    assert newest.time == approx(10.0 + MS * newest.tick)
    assert intake.counts == {"overtaken": count - 1, "accepted": 1}
    assert [each.tick for each in intake.earlier_samples] == kept
    assert [each.time for each in intake.earlier_samples] == approx(
        [10.0 + MS * tick for tick in kept]
    )


@pytest.mark.parametrize("unit, step, expected", [
    (MS, 1000, {"accepted": 1, "leap": 99}), (1e-6, 1, {"accepted": 100}),
])  # fmt: skip
def test_a_robot_whose_tick_has_another_unit_is_named_in_the_log(caplog, unit, step, expected):
    intake = Intake(WIRE, ROBOT, unit)
    for k in range(100):
        intake.take([datagram(frame(step * k), 10.0 + 5 * k * MS)])
    assert intake.counts == expected and "tick_unit_s" in caplog.text
