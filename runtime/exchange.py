"""Questions and answers between two processes: one asks, one answers, frames of bytes each way.

The bus carries what is new to all subscribers; here one peer waits for the other's answer, and
must find out when there will be none. Nothing here blocks for longer than it was told to.
"""

import time
from contextlib import AbstractContextManager, suppress
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from runtime.endpoints import EndpointInUse, make_room, socket_file
from runtime.key_files import CurveKeys
from runtime.server_address import check_address, is_local

MOST_BYTES = 256 * 2**20  # of a frame; a peer that sends a larger one is disconnected
LOCAL_BUFFER = 2**20  # bytes, which hold most frames whole; between machines it grows by itself
QUEUE = 16  # frames kept for a peer that does not take them; more are dropped
HEARTBEAT_MS, SILENCE_MS = 500, 2000  # between signs of life; without one, the network is cut


def open_socket(
    context: "zmq.Context[zmq.Socket[bytes]]", kind: int, address: str
) -> "zmq.Socket[bytes]":
    """A socket with the limits of this module."""
    socket = context.socket(kind)
    socket.linger = 0
    socket.ipv6 = "[" in address
    socket.maxmsgsize = MOST_BYTES
    socket.sndhwm = socket.rcvhwm = QUEUE
    if is_local(address):
        socket.sndbuf = socket.rcvbuf = LOCAL_BUFFER
    socket.heartbeat_ivl, socket.heartbeat_timeout = HEARTBEAT_MS, SILENCE_MS
    return socket


def milliseconds(seconds: float) -> int:
    """Poll in whole milliseconds, never a negative number, which would be for ever."""
    return max(0, int(1e3 * seconds + 0.999))


def reason(error: Exception) -> str:
    """The reason why a socket could not be connected or bound, in a few words."""
    if isinstance(error, zmq.ZMQError) and error.errno is not None:
        return "no such key or address" if error.errno == zmq.EINVAL else zmq.strerror(error.errno)
    return str(error)


RECONNECT_MS, RECONNECT_MOST_MS = 20, 500
MOST_DROPPED = 1000  # frames at once: a server that sends without end must not hold us up

_EVENTS = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED


class Requester(AbstractContextManager["Requester"]):
    """The end that asks. It connects, and connects again, by itself.

    What is sent while no server is there is lost: see `send`.
    """

    def __init__(self, address: str, server_key: str = "") -> None:
        """Begin to connect to `address`, tcp://HOST:PORT or ipc://FILE; no server need be there.

        `server_key` is the server's public CURVE key (Z85 text).

        Raises ValueError for an address or a key that is none, and for another machine's address
        without a key.
        """
        check_address(address, bool(server_key), "the server's public key")
        self.address = address
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = open_socket(self._context, zmq.DEALER, address)
        self._socket.immediate = True  # a frame has a connection to go out by, or is refused
        self._socket.reconnect_ivl, self._socket.reconnect_ivl_max = (
            RECONNECT_MS, RECONNECT_MOST_MS,
        )  # fmt: skip
        self._monitor = self._socket.get_monitor_socket(_EVENTS)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._monitor, zmq.POLLIN)
        self._connected = self._broken = False
        self.turned_away = False  # someone listens there, but not for this protocol and key
        try:
            if server_key:
                self._socket.curve_publickey, self._socket.curve_secretkey = zmq.curve_keypair()
                self._socket.curve_serverkey = server_key.encode()
            self._socket.connect(address)
        except (zmq.ZMQError, ValueError) as error:
            self.close()
            raise ValueError(f"cannot connect to {address}: {reason(error)}") from None

    @property
    def connected(self) -> bool:
        """Whether a server is there that speaks our protocol, with the right key."""
        self._watch()
        return self._connected

    def wait_connected(self, timeout_s: float) -> bool:
        """Wait for the connection; False when `timeout_s` [s] pass without."""
        deadline = time.monotonic() + timeout_s
        while not self.connected:
            if (remaining := deadline - time.monotonic()) <= 0.0:
                return False
            self._monitor.poll(milliseconds(remaining))
        return True

    def send(self, frame: bytes) -> bool:
        """Send; False where no server is connected or the queue is full. Never blocks."""
        self._watch()
        self._broken = False
        if not self._connected:
            return False
        try:
            self._socket.send(frame, zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def receive(self, timeout_s: float) -> bytes | None:
        """The next frame; None when `timeout_s` [s] pass without, or the connection has broken.

        A connection that broke since the last `send` has taken the answer with it.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                return self._socket.recv_multipart(zmq.NOBLOCK)[-1]
            except zmq.Again:
                self._watch()
            remaining = deadline - time.monotonic()
            if self._broken or not self._connected or remaining <= 0.0:
                return None
            self._poller.poll(milliseconds(remaining))

    def drop_unread(self) -> None:
        """Drop the frames that have come and were not taken."""
        with suppress(zmq.Again):
            for _ in range(MOST_DROPPED):
                self._socket.recv_multipart(zmq.NOBLOCK)

    def close(self) -> None:
        """Close, what is unsent lost; a second time does nothing."""
        if self._context.closed:
            return
        self._socket.disable_monitor()
        # Each by itself: what the garbage collector finds with us has left the context's own list,
        # and the context would wait for ever for a socket that is never closed.
        self._monitor.close(linger=0)
        self._socket.close(linger=0)
        self._context.term()

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):  # of one half made, or in an interpreter that ends
            self.close()

    def _watch(self) -> None:
        """Read all pending events of the connection."""
        while self._monitor.poll(0):
            event = recv_monitor_message(self._monitor, zmq.NOBLOCK)["event"]
            welcome = event == zmq.EVENT_HANDSHAKE_SUCCEEDED
            self.turned_away = not welcome and not self._connected
            self._broken |= not welcome
            self._connected = welcome


class Responder(AbstractContextManager["Responder"]):
    """The end that answers: any number of clients, each by the name its frames come with."""

    def __init__(self, address: str, keys: CurveKeys | None = None) -> None:
        """Listen on `address`, tcp://HOST:PORT (port 0: a free one) or ipc://FILE.

        `address` says afterwards where it listens. With `keys`, of which the secret half is needed,
        frames are encrypted, and only clients with the public half are let in.

        Raises EndpointInUse, and ValueError for what is no address, cannot be bound, or can be
        reached from other hosts while there are no keys.
        """
        check_address(address, keys is not None, "keys")
        try:
            make_room(address)
        except OSError as error:
            raise ValueError(f"cannot bind {address}: {error.strerror}") from None
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = open_socket(self._context, zmq.ROUTER, address)
        self.malformed = 0  # messages of other than one frame: dropped
        try:
            if keys is not None:
                self._socket.curve_server = True
                self._socket.curve_secretkey = keys.secret.encode()
            self._socket.bind(address.replace("//localhost:", "//127.0.0.1:"))
        except (zmq.ZMQError, ValueError) as error:
            self._socket.close(linger=0)
            self._context.term()
            if isinstance(error, zmq.ZMQError) and error.errno == zmq.EADDRINUSE:
                raise EndpointInUse(address) from None
            raise ValueError(f"cannot bind {address}: {reason(error)}") from None
        self._file = socket_file(address)
        self.address: str = self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")

    def receive(self, timeout_s: float) -> tuple[bytes, bytes] | None:
        """The next frame and its client; None when `timeout_s` [s] pass without."""
        deadline = time.monotonic() + timeout_s
        while self._socket.poll(milliseconds(deadline - time.monotonic())):
            client, *frames = self._socket.recv_multipart()
            if len(frames) == 1:
                return client, frames[0]
            self.malformed += 1
        return None

    def send(self, client: bytes, frame: bytes) -> None:
        """Send to a client; never blocks, and drops for one that has gone or takes nothing."""
        self._socket.send_multipart((client, frame), zmq.NOBLOCK)

    def close(self, linger_s: float = 0.0) -> None:
        """Close; what is unsent has `linger_s` [s] to go out."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)
            self._file = None
        self._socket.close(linger=round(1e3 * linger_s))
        self._context.term()

    def __exit__(self, *_: Any) -> None:
        self.close()
