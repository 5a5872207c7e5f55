"""Who may open a page, and what happens to a browser that takes nothing."""

import socket
import threading
from contextlib import closing

import pytest

from saltus.common.errors import BadRequest
from saltus.view.gate import Gate, answer_to, is_loopback


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


class Inner:
    """A server behind a gate: sends back what it gets."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        with closing(connection):
            try:
                while data := connection.recv(65536):
                    connection.sendall(data)
            except OSError:
                return

    def close(self):
        self._socket.close()


@pytest.fixture
def lines():
    return []


def test_bytes_pass_both_ways(lines):
    inner = Inner()
    with closing(inner), closing(Gate(0, inner.port, lines.append)) as door:
        with socket.create_connection(("127.0.0.1", door.port)) as client:
            client.settimeout(10.0)
            client.sendall(head())
            assert client.recv(4096) == head()
            client.sendall(b"more")
            assert client.recv(4096) == b"more"
        with socket.create_connection(("127.0.0.1", door.port)) as client:
            client.settimeout(10.0)
            client.sendall(head(host="evil.example"))
            assert client.recv(4096).startswith(b"HTTP/1.1 403")
    assert not lines


def test_an_occupied_port_is_refused_in_one_line(lines):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BadRequest, match=f"port {port}: .* in use; give another"):
            Gate(port, 1, lines.append)


def test_addresses_of_this_machine_alone_are_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.0.2.7", "::", "example.com", "")))
