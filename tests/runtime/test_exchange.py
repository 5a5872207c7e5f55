"""Questions and answers: every transport, and every way in which there will be no answer."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from runtime import exchange
from runtime.endpoints import EndpointInUse
from runtime.exchange import Requester, Responder
from runtime.key_files import CurveKeys
from runtime.server_address import check_address, is_local
from tests.refusals import refusal
from tests.saltus.programs import ROOT

PATIENCE_S = 20.0
FOREVER_S = 10.0 * PATIENCE_S  # a wait that must end early
FREE = "tcp://127.0.0.1:0"


@pytest.fixture(params=["tcp", "ipc", "curve"])
def pair(request, tmp_path_factory):
    keys = CurveKeys.generate() if request.param == "curve" else None
    folder = tmp_path_factory.mktemp("x")
    address = f"ipc://{folder}/s" if request.param == "ipc" else FREE
    with Responder(address, keys) as server:
        with Requester(server.address, keys.public if keys else "") as client:
            assert client.wait_connected(PATIENCE_S)
            yield client, server


@pytest.fixture
def plain():
    with Responder(FREE) as server, Requester(server.address) as client:
        assert client.wait_connected(PATIENCE_S)
        yield client, server


def take(server):
    received = server.receive(PATIENCE_S)
    assert received is not None
    return received


def ends_early(wait):
    """The outcome of a wait that would last for ever if nothing were noticed."""
    begin = time.monotonic()
    outcome = wait()
    assert time.monotonic() - begin < FOREVER_S
    return outcome


def test_question_and_answer_on_every_transport(pair):
    client, server = pair
    for frame in (b"", b"what?", bytes(3_000_000)):
        assert client.send(frame)
        name, question = take(server)
        assert question == frame
        server.send(name, frame[::-1] + b".")
        assert client.receive(PATIENCE_S) == frame[::-1] + b"."
    server.send(b"nobody", b"whom nobody knows")
    assert client.receive(0.0) is None


def test_where_nobody_listens_nothing_is_sent_nor_kept():
    with Responder(FREE) as server:
        address = server.address
    with Requester(address) as client:
        assert not client.wait_connected(0.1)
        assert not client.send(b"old")
        assert ends_early(lambda: client.receive(FOREVER_S)) is None
        with Responder(address) as server:
            assert client.wait_connected(PATIENCE_S)
            assert client.send(b"new")
            assert take(server)[1] == b"new"
            assert server.receive(0.0) is None


def test_a_server_that_goes_ends_the_wait_and_may_come_back(plain):
    client, server = plain
    assert client.send(b"?")
    take(server)
    leaving = threading.Timer(0.05, server.close)
    leaving.start()
    assert ends_early(lambda: client.receive(FOREVER_S)) is None
    leaving.join()
    assert not client.connected
    with Responder(server.address) as again:
        assert client.wait_connected(PATIENCE_S)
        assert client.send(b"!")
        assert take(again)[1] == b"!"


def test_wrong_and_missing_keys_are_turned_away():
    keys, other = CurveKeys.generate(), CurveKeys.generate()
    with Responder(FREE, keys) as server:
        for key in (other.public, ""):
            with Requester(server.address, key) as client:
                assert not client.wait_connected(0.3)
                assert client.turned_away
        with Requester(server.address, keys.public) as client:
            assert client.wait_connected(PATIENCE_S)
            assert not client.turned_away


SERVER = """
from runtime.exchange import Responder
server = Responder("tcp://127.0.0.1:0")
print(server.address, flush=True)
server.receive(60.0)
server.receive(60.0)
"""


def test_a_server_that_stands_still_is_noticed_as_behind_a_cut_cable(monkeypatch):
    """Its connection stays open and carries nothing."""
    monkeypatch.setattr(exchange, "HEARTBEAT_MS", 50)
    monkeypatch.setattr(exchange, "SILENCE_MS", 600)
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            client = Requester(server.stdout.readline().strip())
            assert client.wait_connected(PATIENCE_S)
            time.sleep(0.7)
            assert client.connected and client.send(b"?")
            server.send_signal(signal.SIGSTOP)
            assert client.receive(0.1) is None and client.connected
            assert client.receive(PATIENCE_S) is None and not client.connected
            client.close()
        finally:
            server.kill()


def test_a_frame_beyond_all_measure_breaks_the_connection(monkeypatch):
    monkeypatch.setattr(exchange, "MOST_BYTES", 1000)
    with Responder(FREE) as server, Requester(server.address) as client:
        assert client.wait_connected(PATIENCE_S)
        assert client.send(bytes(1000))
        assert len(take(server)[1]) == 1000
        assert client.send(bytes(1001))
        assert ends_early(lambda: client.receive(FOREVER_S)) is None


def test_a_full_queue_refuses_and_never_blocks(plain):
    client, _ = plain
    sent = 0
    while client.send(bytes(1_000_000)) and sent < 10_000:  # nobody takes them
        sent += 1
    assert exchange.QUEUE <= sent < 10_000


def test_an_occupied_address_is_named():
    with Responder(FREE) as server:
        assert server.address in refusal(EndpointInUse, Responder, server.address)


NO_ADDRESSES = [
    "", "127.0.0.1:46200", "udp://127.0.0.1:46200", "tcp://127.0.0.1", "tcp://127.0.0.1:x",
    "tcp://127.0.0.1:99999", "tcp://:46200", "tcp://a b:1", "tcp://::1:46200", "ipc://",
]  # fmt: skip
BEYOND = ["tcp://*:46200", "tcp://192.168.1.2:46200", "tcp://lab:1"]


@pytest.mark.parametrize("end, arguments, word", [
    *((end, (address,), "tcp://HOST:PORT") for end in (Requester, Responder)
      for address in NO_ADDRESSES),
    *((end, (address,), "beyond this machine") for end in (Requester, Responder)
      for address in BEYOND),
    (Requester, ("tcp://127.0.0.1:1", "short"), "key"),
    (Responder, (FREE, CurveKeys("short", "")), "key"),
    (Responder, ("ipc:///proc/none/s",), "cannot bind"),
    (Responder, (f"ipc:///{'x' * 200}",), "cannot bind"),
    (Requester, (f"ipc:///{'x' * 200}",), "cannot connect"),
    (Responder, ("tcp://192.0.2.1:46200", CurveKeys.generate()), "cannot bind"),
])  # fmt: skip
def test_what_cannot_be_opened_is_one_line(end, arguments, word):
    assert word in refusal(ValueError, end, *arguments)


@pytest.mark.parametrize("address", [*BEYOND, "tcp://[::1]:46200", "tcp://localhost:1", "ipc://a"])
def test_only_within_this_machine_keys_may_be_missing(address):
    assert is_local(address) == (address not in BEYOND)
    check_address(address, has_key=address in BEYOND, needed="")
