"""Whom the bridge believes: one robot's whole, new frames; everything else is counted."""

import logging
import socket
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_bridge.intake import WRAP, Intake
from hw_bridge.link import Datagram, LinkOptions, UdpLink
from hw_bridge.wire.frame import seal
from hw_bridge.wire.layout import Header
from hw_bridge.wire.low_state import encode_low_state, zero_low_state
from tests.a1 import WIRE

ROBOT, STRANGER = ("192.168.123.10", 8007), ("192.168.123.161", 8007)
MS = 1e-3
STATE = zero_low_state(WIRE)
NOT_COVERED = range(764, 767)  # bytes that the checksum leaves out


def frame(tick, header=STATE.header, **fields):
    return encode_low_state(WIRE, STATE._replace(header=header, tick=tick % WRAP, **fields))


def with_number(value, name, index=None, motor=None, tick=1):
    """A sealed frame with one float of it set to `value`."""
    data = bytearray(frame(tick))
    record = np.frombuffer(data, WIRE.state)[0]
    if motor is None:
        record[name][index] = value
    else:
        record["motors"][name][motor] = value
    return seal(data)


def datagram(data, arrival=10.0, sender=ROBOT):
    return Datagram(data, sender, arrival)


def take(intake, *ticks, start=10.0):
    """Feed one batch of good frames, each arriving when its tick says."""
    return intake.take([datagram(frame(tick), start + tick * MS) for tick in ticks])


@pytest.fixture
def intake():
    return Intake(WIRE, ROBOT, MS)


def test_before_anything_came_there_is_nothing(intake):
    assert intake.take([]) is None
    assert (intake.last, intake.header, intake.counts) == (None, None, Counter())


def test_the_first_good_frame_tells_the_header_and_where_the_robot_counts(intake):
    header = Header(0xFF, 1, 2, 3, 4)
    first = intake.take([datagram(frame(5000, header, imu_temperature=33))])
    assert first is not None and first is intake.last
    assert intake.header == header
    assert (first.tick, first.time, first.arrival) == (5000, 10.0, 10.0)
    assert (first.state.tick, first.state.imu_temperature) == (5000, 33)
    assert take(intake, 1) is None
    assert intake.counts == {"accepted": 1, "header": 1}


def test_the_newest_of_a_batch_wins(intake):
    newest = take(intake, 0, 1, 2, 3)
    assert newest is not None and newest.state.tick == newest.tick == 3
    assert newest.time == pytest.approx(10.003)
    assert intake.counts == {"overtaken": 3, "accepted": 1}
    earlier = intake.earlier_samples
    assert [(each.tick, each.state.tick) for each in earlier] == [(0, 0), (1, 1), (2, 2)]
    assert [each.time for each in earlier] == pytest.approx([10.0, 10.001, 10.002])
    take(intake, 4)
    assert intake.earlier_samples == []


def test_of_a_flood_the_newest_few_are_read(intake):
    newest = take(intake, *range(40))
    assert newest is not None and newest.tick == 39
    assert [each.tick for each in intake.earlier_samples] == list(range(30, 39))
    assert intake.counts == {"overtaken": 39, "accepted": 1}


@given(st.permutations(range(12)), st.lists(st.integers(0, 12), max_size=4))
def test_in_whatever_order_and_batches_frames_come_the_newest_is_kept(order, cuts):
    intake, arrival = Intake(WIRE, ROBOT, MS), 10.0
    for low, high in zip([0, *sorted(cuts)], [*sorted(cuts), 12], strict=True):
        before = intake.last
        arrival += MS
        sample = intake.take([datagram(frame(order[k]), arrival) for k in range(low, high)])
        assert intake.last is (before if sample is None else sample)
    assert intake.last is not None and intake.last.state.tick == 11
    believed = intake.counts["accepted"] + intake.counts["overtaken"]
    records = sum(order[k] == max(order[: k + 1]) for k in range(12))  # newer than all before
    assert (believed, intake.counts["old"]) == (records, 12 - records)


MISCHIEF = {
    "good": lambda k: datagram(frame(k), 10.0 + k * MS),
    "wrong_sender": lambda k: datagram(frame(k), 10.0 + k * MS, STRANGER),
    "length": lambda k: datagram(frame(k)[: 771 - 1 - k % 771], 10.0 + k * MS),
    "crc": lambda k: datagram(frame(k)[:-1] + b"?", 10.0 + k * MS),
    "header": lambda k: datagram(frame(k, Header(robot_id=9)), 10.0 + k * MS),
    "not_finite": lambda k: datagram(with_number(np.nan, "rpy", 0, tick=k), 10.0 + k * MS),
    "duplicate": lambda k: datagram(frame(k - 1), 10.0 + k * MS),
    "old": lambda k: datagram(frame(k - 2), 10.0 + k * MS),
    "leap": lambda k: datagram(frame(k + 700), 10.0 + k * MS),
}


@settings(max_examples=60)
@given(st.lists(st.lists(st.sampled_from(sorted(MISCHIEF)), max_size=6), max_size=12))
def test_every_datagram_is_counted_once_and_only_good_ones_are_believed(batches):
    intake = Intake(WIRE, ROBOT, MS)
    take(intake, 0)
    expected, tick = Counter({"good": 1}), 0
    for kinds in batches:
        batch = []
        for kind in kinds:
            k = tick + 1
            batch.append(MISCHIEF[kind](k))
            tick = k if kind == "good" else tick
            expected[kind] += 1
        sample = intake.take(batch)
        assert (sample is not None) == ("good" in kinds)
        assert intake.last is not None and intake.last.state.tick == tick
    believed = intake.counts["accepted"] + intake.counts["overtaken"]
    assert believed == expected.pop("good")
    refused = {k: n for k, n in intake.counts.items() if k not in ("accepted", "overtaken")}
    assert refused == dict(expected)


@pytest.mark.parametrize("kind", sorted(set(MISCHIEF) - {"good"}))
def test_the_first_of_each_kind_is_one_log_line_with_its_reason(intake, caplog, kind):
    take(intake, 0)
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            assert intake.take([MISCHIEF[kind](1)]) is None
    (record,) = caplog.records
    assert f"({kind})" in record.getMessage() and "\n" not in record.getMessage()
    assert intake.counts[kind] == 5


@pytest.mark.parametrize("kind", ["wrong_sender", "length", "crc", "not_finite"])
def test_what_is_refused_before_the_first_good_frame_leaves_no_trace(intake, kind):
    assert intake.take([MISCHIEF[kind](3000)]) is None
    assert intake.header is None and intake.last is None
    assert take(intake, 1) is not None


@given(st.integers(0, WIRE.state.itemsize - 1), st.integers(1, 255))
def test_a_frame_with_a_changed_byte_is_never_believed(position, change):
    data = bytearray(frame(7))
    data[position] ^= change
    intake = Intake(WIRE, ROBOT, MS)
    sample = intake.take([datagram(bytes(data))])
    assert (sample is not None) == (position in NOT_COVERED)


@given(st.binary(max_size=900))
def test_any_bytes_are_counted_and_nothing_raises(data):
    intake = Intake(WIRE, ROBOT, MS)
    assert intake.take([datagram(data)]) is None
    assert sum(intake.counts.values()) == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "place",
    [("quaternion_wxyz", k) for k in range(4)]
    + [(name, k) for name in ("gyroscope", "accelerometer", "rpy") for k in range(3)]
    + [(name, None, motor) for name in ("q", "dq") for motor in (0, 5, 11)],
)
def test_a_number_that_the_stack_lives_on_must_be_finite(intake, value, place):
    assert intake.take([datagram(with_number(value, *place))]) is None
    assert intake.counts == {"not_finite": 1}


@pytest.mark.parametrize("place", [("q", None, 12), ("dq", None, 19), ("q_raw", None, 0)])
def test_a_number_that_nobody_reads_may_be_anything(intake, place):
    assert intake.take([datagram(with_number(np.nan, *place))]) is not None


def test_large_finite_numbers_are_not_taken_for_infinite(intake):
    largest = np.finfo(np.float32).max
    assert intake.take([datagram(with_number(largest, "dq", motor=4))]) is not None


def test_the_tick_wraps_around_without_a_trace(intake):
    for k in range(-5, 6):
        sample = intake.take([datagram(frame(k), 10.0 + k * MS)])
        assert sample is not None
        assert sample.tick == WRAP + k
        assert sample.time == pytest.approx(10.0 + k * MS)
    assert intake.counts == {"accepted": 11}


def test_jittered_arrivals_become_even_times(intake):
    delays = np.random.default_rng(5).uniform(0.0, 0.004, 3000)
    arrivals = np.maximum.accumulate(10.0 + np.arange(3000) * MS + delays)
    samples = [intake.take([datagram(frame(k), a)]) for k, a in enumerate(arrivals)]
    steps = np.diff([s.time for s in samples if s is not None])[500:]
    assert len(steps) == 2499
    assert np.abs(steps - MS).max() < 0.25e-3 < np.abs(np.diff(arrivals)[500:] - MS).max()


def test_a_replay_of_another_session_is_ignored_and_the_robot_still_believed(intake):
    take(intake, 1000)
    for k in range(50):
        intake.take([datagram(frame(90_000 + k), 11.0 + k * MS)])  # recorded later
        intake.take([datagram(frame(500 + k), 11.0 + k * MS)])  # recorded before
        assert take(intake, 1001 + k) is not None
    assert intake.counts == {"accepted": 51, "leap": 50, "old": 50}


def test_a_robot_that_counts_microseconds_is_named_in_the_log(intake, caplog):
    with caplog.at_level(logging.WARNING):
        for k in range(100):
            intake.take([datagram(frame(1000 * k), 10.0 + k * MS)])
    assert intake.counts == {"accepted": 1, "leap": 99}
    assert "tick_unit_s" in caplog.text


def test_a_robot_that_counts_slower_than_told_is_named_in_the_log_once(caplog):
    intake = Intake(WIRE, ROBOT, 1e-6)
    with caplog.at_level(logging.WARNING):
        for k in range(500):
            intake.take([datagram(frame(k), 10.0 + k * MS)])
    assert intake.counts == {"accepted": 500}  # old, not wrong: the age of the state shows it
    assert intake.last is not None and intake.last.time < intake.last.arrival - 0.4
    assert len(caplog.records) == 1 and "tick_unit_s" in caplog.text


@pytest.fixture
def loopback():
    """An intake, its link that hears all, and the sockets of the robot and a stranger."""
    robot, stranger = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    robot.bind(("127.0.0.1", 0))
    stranger.bind(("127.0.0.1", 0))
    here = UdpLink(LinkOptions("127.0.0.1", robot.getsockname()[1], local_port=0), hears_all=True)
    yield Intake(WIRE, here.robot, MS), here, robot, stranger
    for end in (here, robot, stranger):
        end.close()


def drain(intake, here, count):
    """Take until so many datagrams are counted, five seconds at most; the last sample."""
    sample, deadline = None, time.monotonic() + 5.0
    while sum(intake.counts.values()) < count and time.monotonic() < deadline:
        sample = intake.take(here.receive()) or sample
    return sample


def test_over_udp_only_the_robots_new_whole_frames_are_believed(loopback):
    intake, here, robot, stranger = loopback
    robot.sendto(frame(100), here.local)
    assert drain(intake, here, 1) is not None
    sent = [
        (stranger, frame(101)),  # a stranger, with a frame that would be good
        (robot, frame(104)),
        (robot, frame(103)),  # reordered
        (robot, frame(104)),  # repeated
        (robot, frame(102)[:-4] + bytes(4)),  # corrupted
        (robot, frame(105)[:600]),  # cut short
        (robot, frame(105) + b"more"),
        (robot, b""),
        (robot, frame(106, Header(robot_id=1))),
        (robot, frame(4_000_000)),  # replayed from another session
        (robot, frame(107)),
        (stranger, frame(108)),
    ]
    for sender, data in sent:
        sender.sendto(data, here.local)
    sample = drain(intake, here, 1 + len(sent))
    assert sample is not None and sample.state.tick == 107
    believed = intake.counts.pop("accepted") + intake.counts.pop("overtaken", 0)
    assert believed == 3
    assert intake.counts == {
        "wrong_sender": 2, "old": 1, "duplicate": 1, "crc": 1, "length": 3, "header": 1, "leap": 1,
    }  # fmt: skip


def test_over_udp_a_strangers_flood_does_not_hide_the_robot(loopback):
    intake, here, robot, stranger = loopback
    for k in range(1, 31):
        for _ in range(9):
            stranger.sendto(frame(k), here.local)
        robot.sendto(frame(k), here.local)
        sample = drain(intake, here, 10 * k)
        assert sample is not None and sample.state.tick == k
    assert intake.counts == {"accepted": 30, "wrong_sender": 270}
