"""UDP to the robot: bound to one address, stamped by the kernel, never blocking, never raising."""

import logging
import socket
import time
from contextlib import closing
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge import link
from hw_bridge import options as link_options
from hw_bridge.link import LinkOptions, UdpLink, arrival_time

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
    for k in range(20):
        robot.sendto(bytes([k]), address)
    received = collected(here, 20)
    assert [d.data for d in received] == [bytes([k]) for k in range(20)]
    assert {d.sender for d in received} == {robot.getsockname()}
    arrivals = [d.arrival for d in received]
    assert arrivals == sorted(arrivals)
    assert here.send_errors == here.receive_errors == 0


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
        assert here.send_errors == here.receive_errors == 0


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


def test_a_call_takes_no_more_than_its_share_and_leaves_the_rest(peers, monkeypatch):
    here, robot = peers
    monkeypatch.setattr(link, "MOST_AT_ONCE", 5)
    for k in range(12):
        robot.sendto(bytes([k]), here.local)
    first = collected(here, 1)
    rest = collected(here, 12 - len(first))
    assert 1 <= len(first) <= 5
    assert [d.data for d in first + rest] == [bytes([k]) for k in range(12)]


def test_a_call_takes_at_most_256(peers):
    assert link.MOST_AT_ONCE == 256


def test_one_too_long_is_cut_to_a_length_that_no_frame_has(peers):
    here, robot = peers
    robot.sendto(bytes(5000), here.local)
    (received,) = collected(here, 1)
    assert len(received.data) == 2048


def test_an_empty_datagram_is_one(peers):
    here, robot = peers
    robot.sendto(b"", here.local)
    assert [d.data for d in collected(here, 1)] == [b""]


@given(
    st.one_of(st.none(), st.integers(0, 2**62)),
    st.integers(0, 2**62),
    st.floats(0.0, 1e6),
    st.floats(0.0, 1e6),
)
def test_an_arrival_is_between_the_last_call_and_now(stamp, wall, earliest, since):
    now = earliest + since
    assert earliest <= arrival_time(stamp, wall, now, earliest) <= now


@given(st.integers(0, 10**9), st.floats(1.0, 1e6))
def test_an_arrival_is_as_long_ago_as_the_stamp_says(age_ns, now):
    wall = 1_750_000_000_000_000_000
    assert arrival_time(wall - age_ns, wall, now, 0.0) == pytest.approx(
        max(0.0, now - 1e-9 * age_ns), abs=1e-9
    )
    assert arrival_time(None, wall, now, 0.0) == now


@pytest.mark.parametrize("step_s", [-3600.0, 3600.0])
def test_a_wall_clock_that_is_set_ages_and_renews_nothing(peers, monkeypatch, step_s):
    here, robot = peers
    bounds = [time.monotonic()]
    offset = 0.0

    def wall_ns():
        return time.time_ns() + round(1e9 * offset)

    monkeypatch.setattr(link, "time", SimpleNamespace(monotonic=time.monotonic, time_ns=wall_ns))
    for _ in range(3):
        here.receive()
        bounds.append(time.monotonic())
        robot.sendto(b"x", here.local)
        offset += step_s
        (received,) = collected(here, 1)
        assert bounds[-2] <= received.arrival <= time.monotonic()


def test_what_the_kernel_does_not_take_is_counted_and_said_once(peers, caplog):
    here, _ = peers
    with caplog.at_level(logging.WARNING):
        assert not here.send(bytes(70_000))
        assert not here.send(bytes(70_000))
    assert here.send_errors == 2
    assert len(caplog.records) == 1
    assert here.send(b"well")


def test_closing_twice_and_using_it_afterwards_raise_nothing(peers):
    here, _ = peers
    here.close()
    here.close()
    assert not here.send(b"x")
    assert here.receive() == []
    assert (here.send_errors, here.receive_errors) == (1, 1)


def test_it_listens_on_one_address_and_never_on_all_by_itself(peers):
    here, _ = peers
    assert here.local[0] == LOCAL
    wide = UdpLink(LinkOptions(LOCAL, 8007, "0.0.0.0", 0))
    assert wide.local[0] == "0.0.0.0"  # written, so wanted
    wide.close()


def test_a_port_that_another_program_has_is_one_clear_line(peers):
    here, robot = peers
    with pytest.raises(ValueError, match=r"cannot listen on 127.0.0.1 port \d+: another program"):
        UdpLink(LinkOptions(LOCAL, 8007, local_port=here.local[1]))


def test_an_address_of_another_machine_is_one_clear_line():
    with pytest.raises(ValueError, match="203.0.113.7 port 8080: no interface of this machine"):
        UdpLink(LinkOptions(local_address="203.0.113.7"))


class Probe:
    """A socket on a machine whose route to the robot leaves from `ours`; None: there is none."""

    ours: str | None = None

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def connect(self, robot):
        if self.ours is None:
            raise OSError(101, "Network is unreachable")

    def getsockname(self):
        return self.ours, 12345


@pytest.fixture
def route(monkeypatch):
    """Sets the address that faces the robot."""
    monkeypatch.setattr(link_options.socket, "socket", Probe)
    yield lambda ours: monkeypatch.setattr(Probe, "ours", ours)


def test_auto_is_the_address_that_faces_the_robot(route):
    route("192.168.123.55")
    assert LinkOptions().local == ("192.168.123.55", 8080)


@pytest.mark.parametrize("ours", ["10.0.0.5", "192.168.122.10", None])
def test_without_an_address_in_the_robots_network_the_remedy_is_named(route, ours):
    route(ours)
    with pytest.raises(ValueError, match="ip address add 192.168.123.222/24") as caught:
        UdpLink()
    assert "192.168.123.0/24" in str(caught.value) and "\n" not in str(caught.value)
    assert (ours or "Network is unreachable") in str(caught.value)
    assert LinkOptions(local_address="10.0.0.5").local == ("10.0.0.5", 8080)


@pytest.mark.parametrize(
    "wrong",
    [
        {"robot_address": "a1.local"},
        {"robot_address": ""},
        {"robot_address": "auto"},
        {"robot_address": "192.168.123"},
        {"robot_address": "0.0.0.0"},
        {"robot_address": "224.0.0.1"},
        {"robot_address": "255.255.255.255"},
        {"robot_port": 0},
        {"robot_port": 65536},
        {"local_address": "localhost"},
        {"local_address": "::1"},
        {"local_port": -1},
        {"local_port": 65536},
    ],
)
def test_options_that_cannot_be_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LinkOptions(**wrong)


def test_options_come_from_data_and_unknown_ones_are_refused():
    options = msgspec.convert({"robot_address": LOCAL, "local_port": 0}, LinkOptions)
    assert (options.robot, options.local) == ((LOCAL, 8007), (LOCAL, 0))
    with pytest.raises(msgspec.ValidationError, match="robot_prot"):
        msgspec.convert({"robot_prot": 1}, LinkOptions)
