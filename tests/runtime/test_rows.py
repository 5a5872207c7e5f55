"""Rows: messages come out as they went in; lost rows are counted; writers may change."""

import multiprocessing
import time

import numpy as np
import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from runtime.bus import Bus, Endpoints
from runtime.messages import StateEstimate, decode, encode
from runtime.rows import AVAILABLE, CAPACITY, RowReader, RowWriter, layout_of
from runtime.topics import MOTOR_COMMAND, STATE_ESTIMATE, TOPICS
from tests import a1
from tests.runtime.test_messages import messages

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="no shared memory with futexes here")
KINDS = [topic.message for topic in TOPICS if topic.rate_hz >= 1000.0]
PATIENCE_S = 10.0


def estimate(tick):
    return a1.estimate(tick, q=np.full(19, float(tick)))


NO_ZERO = st.text(max_size=12).filter(lambda text: "\0" not in text)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_message_comes_out_of_a_row_as_it_went_in(kind, data):
    message = data.draw(messages(kind, int=st.integers(-1, 2**53), str=NO_ZERO))
    rows = layout_of(kind)
    row = np.full(rows.width, np.nan)
    rows.write(message, row)
    assert rows.message(row) == message
    view = rows.view(row)
    assert view == message and view.row is row
    assert encode(view) == encode(message)
    assert_array_equal(message.row, row)


@pytest.mark.parametrize("rows", [True, False])
def test_a_lazy_subscriber_gets_views_and_a_publisher_takes_them(tmp_path, rows):
    with Bus(Endpoints.ipc(tmp_path, rows)) as bus:
        publisher, here = bus.publisher(STATE_ESTIMATE), bus.subscriber(STATE_ESTIMATE, lazy=True)
        assert publisher.wait_for_subscribers(1, PATIENCE_S)
        publisher.send(layout_of(StateEstimate).view(estimate(5).row))
        got = here.wait(PATIENCE_S)
        assert got == estimate(5) and got.row is got.row


@pytest.fixture
def ends(tmp_path):
    link = tmp_path / "topic.rows"
    writer = RowWriter(StateEstimate, link)
    yield writer, RowReader(StateEstimate, link)
    writer.close()


def test_a_reader_that_is_behind_counts_what_it_has_lost(ends):
    writer, reader = ends
    for tick in range(CAPACITY + 100):
        writer.write(estimate(tick).row)
    rows = reader.take()
    assert len(rows) + reader.lost == CAPACITY + 100
    assert [int(row[0]) for row in rows] == list(range(reader.lost, CAPACITY + 100))


def test_a_reader_follows_the_next_writer(ends, tmp_path):
    writer, reader = ends
    writer.write(estimate(1).row)
    assert len(reader.take()) == 1
    writer.close()
    assert not reader.poll(0.01)
    second = RowWriter(StateEstimate, tmp_path / "topic.rows")
    second.write(estimate(7).row)
    rows, deadline = [], time.monotonic() + PATIENCE_S
    while not rows and time.monotonic() < deadline:
        rows = reader.take()
    assert [int(row[0]) for row in rows] == [7]
    second.close()


def write_in_turn(folder, count):
    with Bus(Endpoints.ipc(folder)) as bus:
        publisher, echoes = bus.publisher(STATE_ESTIMATE), bus.subscriber(MOTOR_COMMAND)
        publisher.wait_for_subscribers(1, PATIENCE_S)
        for tick in range(count):
            publisher.send(estimate(tick))
            echoes.wait_for(lambda message, tick=tick: message.tick == tick, PATIENCE_S)


def test_two_processes_wake_each_other(tmp_path):
    count = 2000
    process = multiprocessing.get_context("fork").Process(
        target=write_in_turn, args=(tmp_path, count)
    )
    process.start()
    with Bus(Endpoints.ipc(tmp_path)) as bus:
        estimates, answers = bus.subscriber(STATE_ESTIMATE), bus.publisher(MOTOR_COMMAND)
        joints = np.zeros(12)
        answers.wait_for_subscribers(1, PATIENCE_S)
        for tick in range(count):
            found = estimates.wait_for(lambda message, tick=tick: message.tick == tick, PATIENCE_S)
            assert found.q[18] == tick
            answers.send(MOTOR_COMMAND.message(
                tick=tick, time=0.0, q=joints, dq=joints, kp=joints, kd=joints, tau=joints,
                plan_id=0, status="ok",
            ))  # fmt: skip
    process.join(PATIENCE_S)
    assert process.exitcode == 0


def test_a_program_that_knows_zeromq_alone_gets_messages(tmp_path):
    endpoints = Endpoints.ipc(tmp_path)
    with Bus(endpoints) as bus, zmq.Context() as context:
        publisher, rows = bus.publisher(STATE_ESTIMATE), bus.subscriber(STATE_ESTIMATE)
        with context.socket(zmq.SUB) as observer:
            observer.subscribe(b"")
            observer.connect(endpoints.address(STATE_ESTIMATE))
            assert publisher.wait_for_subscribers(2, PATIENCE_S)
            publisher.send(estimate(5))
            assert observer.poll(1000 * PATIENCE_S)
            assert decode(StateEstimate, observer.recv()) == estimate(5)
        assert rows.newest() == estimate(5)
        while publisher.subscribers() > 1:
            time.sleep(0.001)
        publisher.send(estimate(6))
        assert rows.newest() == estimate(6)


def test_a_reader_that_is_refused_the_memory_listens_by_zeromq(tmp_path):
    endpoints = Endpoints.ipc(tmp_path)
    with Bus(endpoints) as bus:
        publisher = bus.publisher(STATE_ESTIMATE)
        (tmp_path / "state_estimate.rows").unlink()
        (tmp_path / "state_estimate.rows").symlink_to("/proc/1/nothing/0")
        subscriber = bus.subscriber(STATE_ESTIMATE)
        deadline, message = time.monotonic() + PATIENCE_S, None
        while message is None and time.monotonic() < deadline:
            publisher.send(estimate(1))
            message = subscriber.wait(0.001)
        assert message == estimate(1)
