"""Who may open a page, and what happens to a browser that takes nothing."""

import socket
import socketserver
import threading
from contextlib import closing

import pytest

from saltus.common.errors import BadRequest
from saltus.view.gate import Gate, answer_to, is_loopback
from tests.refusals import refusal


def head(path="/", host="127.0.0.1:8080", **fields):
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:9", "[::1]:8080", "127.0.0.2"])
def test_this_machine_may_come_in(host):
    assert answer_to(head(host=host)) is None
    assert answer_to(head(host=host, Origin=f"http://{host}")) is None


@pytest.mark.parametrize(
    "request_head",
    [
        head(host="evil.example"),  # a name that somebody else has let lead here
        head(host=""),
        head(Origin="http://evil.example"),  # a page of another site
        head(Origin="null"),
        head(Origin="http://127.0.0.1:9999"),
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_pages_of_other_sites_stay_outside(request_head):
    answer = answer_to(request_head)
    assert answer is not None and answer.startswith(b"HTTP/1.1 403")


LEFT = threading.Event()


class Echo(socketserver.BaseRequestHandler):
    """Sends back what it gets, and notes that nothing more comes."""

    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)
        LEFT.set()


def test_bytes_pass_both_ways():
    lines, inner = [], socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=inner.serve_forever, daemon=True).start()
    with closing(Gate(0, inner.server_address[1], lines.append)) as door:
        with socket.create_connection(("127.0.0.1", door.port)) as client:
            client.settimeout(10.0)
            client.sendall(head())
            assert client.recv(4096) == head()
            client.sendall(b"more")
            assert client.recv(4096) == b"more"
        assert LEFT.wait(10.0)
        with socket.create_connection(("127.0.0.1", door.port)) as client:
            client.settimeout(10.0)
            client.sendall(head(host="evil.example"))
            assert client.recv(4096).startswith(b"HTTP/1.1 403")
    inner.shutdown()
    assert not lines


def test_an_occupied_port_is_refused_in_one_line():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert str(port) in refusal(BadRequest, Gate, port, 1, print)


def test_addresses_of_this_machine_alone_are_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.0.2.7", "::", "example.com", "")))
