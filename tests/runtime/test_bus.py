"""The bus: newest wins, late joiners, occupied endpoints, and nothing left behind."""

import socket

import pytest
import zmq

from runtime.bus import Bus
from runtime.endpoints import EndpointInUse, Endpoints
from runtime.messages import encode
from runtime.topics import STATE_ESTIMATE, TOPICS
from tests.a1 import estimate
from tests.refusals import refusal
from tests.saltus.programs import python, wait_until

PATIENCE_S = 10.0


def free_port():
    """A base port for which the port of STATE_ESTIMATE is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1] - TOPICS.index(STATE_ESTIMATE)


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("b")


@pytest.fixture(params=[True, False], ids=["rows", "zmq"])
def local(request, folder):
    return Endpoints.ipc(folder, rows=request.param)


@pytest.fixture(params=["rows", "zmq", "tcp"])
def endpoints(request, folder):
    if request.param == "tcp":
        return Endpoints.tcp("localhost", free_port())
    return Endpoints.ipc(folder, rows=request.param == "rows")


def arrived(subscriber, count=1):
    """Take `count` messages or more, waiting until that many have come."""
    arrivals = []
    while len(arrivals) < count:
        assert subscriber.poll(PATIENCE_S)
        arrivals += subscriber.take()
    return arrivals


def test_messages_arrive_on_every_transport(endpoints):
    with Bus(endpoints) as producer, Bus(endpoints) as consumer:
        subscriber = consumer.subscriber(STATE_ESTIMATE)
        publisher = producer.publisher(STATE_ESTIMATE)
        assert publisher.wait_for_subscribers(1, PATIENCE_S)
        publisher.send(estimate(5))
        assert subscriber.wait(PATIENCE_S) == estimate(5)
        assert subscriber.newest() is None
        assert subscriber.wait(0.0) is None


def test_conflation_keeps_the_newest_and_the_recorder_keeps_all(local):
    with Bus(local) as bus:
        publisher = bus.publisher(STATE_ESTIMATE)
        newest = bus.subscriber(STATE_ESTIMATE)
        every = bus.subscriber(STATE_ESTIMATE, conflate=False)
        assert publisher.wait_for_subscribers(2, PATIENCE_S)
        for tick in range(200):
            publisher.send(estimate(tick))
        assert newest.wait_for(lambda m: m.tick == 199, PATIENCE_S) == estimate(199)
        assert len(arrived(every, 200)) == 200
        for tick in range(3):
            publisher.send(estimate(tick))
        assert every.wait(PATIENCE_S) == estimate(0)
        assert every.wait_for(lambda m: m.tick == 2, PATIENCE_S) == estimate(2)


def test_subscribers_are_counted_as_they_come_and_go(local):
    with Bus(local) as producer:
        publisher = producer.publisher(STATE_ESTIMATE)
        assert not publisher.wait_for_subscribers(1, 0.0)
        publisher.send(estimate(0))  # nobody listens: dropped, not kept and not blocking
        with Bus(local) as first, Bus(local) as second:
            late = first.subscriber(STATE_ESTIMATE)
            second.subscriber(STATE_ESTIMATE)
            assert publisher.wait_for_subscribers(2, PATIENCE_S)
            publisher.send(estimate(1))
            assert late.wait(PATIENCE_S) == estimate(1)
        wait_until(lambda: publisher.subscribers() == 0)


def test_waits_end_when_stopped(local):
    with Bus(local) as bus:
        publisher = bus.publisher(STATE_ESTIMATE)
        subscriber = bus.subscriber(STATE_ESTIMATE)
        assert not publisher.wait_for_subscribers(9, 1e6, stop=lambda: True)
        assert subscriber.wait_for(lambda _: True, 1e6, stop=lambda: True) is None


def test_frames_that_do_not_decode_are_counted_and_dropped(folder):
    endpoints = Endpoints.ipc(folder, rows=False)
    with Bus(endpoints) as bus, zmq.Context() as context, context.socket(zmq.XPUB) as publisher:
        publisher.bind(endpoints.address(STATE_ESTIMATE))
        subscriber = bus.subscriber(STATE_ESTIMATE, conflate=False)
        publisher.recv()  # the subscription
        for frame in (encode(estimate(1)), b"\xc1 not a message", b"", encode(estimate(2))):
            publisher.send(frame)
        assert subscriber.wait(PATIENCE_S) == estimate(1)
        assert subscriber.wait(PATIENCE_S) == estimate(2)
        assert subscriber.undecodable == 2


def test_an_endpoint_in_use_is_one_line_naming_it(endpoints):
    with Bus(endpoints) as first, Bus(endpoints) as second:
        publisher = first.publisher(STATE_ESTIMATE)
        line = refusal(EndpointInUse, second.publisher, STATE_ESTIMATE)
        assert endpoints.address(STATE_ESTIMATE) in line
        subscriber = second.subscriber(STATE_ESTIMATE)  # and the one who has it keeps it
        assert publisher.wait_for_subscribers(1, PATIENCE_S)
        publisher.send(estimate(1))
        assert subscriber.wait(PATIENCE_S) == estimate(1)


def test_the_file_of_a_killed_process_is_no_obstacle(folder):
    code = (
        "import os, sys; from pathlib import Path\n"
        "from runtime.bus import Bus, Endpoints; from runtime.topics import STATE_ESTIMATE\n"
        "bus = Bus(Endpoints.ipc(Path(sys.argv[1]))); bus.publisher(STATE_ESTIMATE)\n"
        "os.kill(os.getpid(), 9)"
    )
    python("-c", code, folder, status=-9)
    assert len(list(folder.iterdir())) == 2
    with Bus(Endpoints.ipc(folder)) as bus:
        bus.publisher(STATE_ESTIMATE)


def test_a_users_file_at_the_address_is_not_removed(folder):
    file = folder / "state_estimate.ipc"
    file.write_text("mine")
    with Bus(Endpoints.ipc(folder)) as bus, pytest.raises(EndpointInUse):
        bus.publisher(STATE_ESTIMATE)
    assert file.read_text() == "mine"


def test_nothing_goes_to_other_hosts():
    assert "192.168.123.10" in refusal(ValueError, Endpoints.tcp, "192.168.123.10", 5000)
