"""UDP to the robot: bound to one address, stamped by the kernel, never blocking, never raising."""

import socket
import time
from contextlib import closing

import pytest

from hw_bridge.link import LinkOptions, UdpLink
from tests.refusals import refusal

LOCAL = "127.0.0.1"


@pytest.fixture
def peers():
    """A link and the socket of its robot."""
    robot = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    robot.bind((LOCAL, 0))
    robot.settimeout(5.0)
    here = UdpLink(LinkOptions(LOCAL, robot.getsockname()[1], local_port=0))
    yield here, robot
    here.close()
    robot.close()


def collected(here, count):
    """So many datagrams, as they come; fewer when they do not come in five seconds."""
    received, deadline = [], time.monotonic() + 5.0
    while len(received) < count and time.monotonic() < deadline:
        received += here.receive()
    return received


def test_frames_go_to_the_robot_and_come_back_in_order_with_their_sender(peers):
    here, robot = peers
    assert here.receive() == []
    assert here.send(b"ask")
    data, address = robot.recvfrom(100)
    assert (data, address) == (b"ask", here.local)
    frames = [bytes([k]) for k in range(20)] + [b""]
    for each in [*frames, bytes(5000)]:
        robot.sendto(each, address)
    received = collected(here, 22)
    assert [d.data for d in received[:-1]] == frames
    assert len(received[-1].data) == 2048  # a length that no frame has
    assert {d.sender for d in received} == {robot.getsockname()}
    arrivals = [d.arrival for d in received]
    assert arrivals == sorted(arrivals)
    assert here.send_errors == 0


@pytest.mark.parametrize("hears_all", [False, True])
def test_a_strangers_datagrams_are_the_kernels_to_drop_but_for_a_survey(peers, hears_all):
    _, robot = peers
    here = UdpLink(LinkOptions(LOCAL, robot.getsockname()[1], local_port=0), hears_all)
    with closing(here), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind((LOCAL, 0))
        for _ in range(1000):
            stranger.sendto(b"hello", here.local)
        robot.sendto(b"state", here.local)
        senders = {datagram.sender for datagram in collected(here, 1)}
        assert (stranger.getsockname() in senders) == hears_all


def test_a_robot_that_begins_late_is_no_error(peers):
    _, robot = peers
    address = robot.getsockname()
    robot.close()
    with closing(UdpLink(LinkOptions(LOCAL, address[1], local_port=0))) as here:
        for _ in range(5):
            assert here.send(b"ask") and here.receive() == []
            time.sleep(0.01)  # in which the kernel says that nobody listens
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as late:
            late.bind(address)
            assert here.send(b"ask")
            late.settimeout(5.0)
            late.sendto(b"state", late.recvfrom(10)[1])
            assert [datagram.data for datagram in collected(here, 1)] == [b"state"]
        assert here.send_errors == 0


def test_an_arrival_is_when_the_kernel_got_it_not_when_it_was_read(peers):
    here, robot = peers
    waited = []
    while not waited or (max(waited) < 0.02 and len(waited) < 50):
        before = time.monotonic()  # the kernel may begin to stamp a few datagrams late
        robot.sendto(b"x", here.local)
        time.sleep(0.05)
        (received,) = collected(here, 1)
        assert before <= received.arrival
        waited.append(time.monotonic() - received.arrival)
    assert max(waited) >= 0.02


def test_it_listens_on_one_address_and_never_on_all_by_itself(peers):
    here, _ = peers
    assert here.local[0] == LOCAL
    wide = UdpLink(LinkOptions(LOCAL, 8007, "0.0.0.0", 0))
    assert wide.local[0] == "0.0.0.0"  # written, so wanted
    wide.close()


def test_what_the_kernel_does_not_take_is_counted(peers):
    here, _ = peers
    assert not here.send(bytes(70_000)) and here.send(b"well")
    here.close()
    here.close()
    assert not here.send(b"x") and here.receive() == []
    assert here.send_errors == 2


@pytest.mark.parametrize("options, words", [
    ({"robot_address": "203.0.113.9"}, ["203.0.113.0/24", "203.0.113."]),
    ({"local_address": "203.0.113.7"}, ["203.0.113.7", "8080"]),
    ({"local_address": LOCAL, "local_port": ...}, [LOCAL, "another program"]),
])  # fmt: skip
def test_an_address_that_cannot_be_had_is_one_line_with_its_remedy(peers, options, words):
    if "local_port" in options:
        options = options | {"local_port": peers[0].local[1]}
    line = refusal(ValueError, UdpLink, LinkOptions(**options))
    assert all(word in line for word in words)
