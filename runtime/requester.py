"""The end of an exchange that asks."""

import time
from contextlib import suppress
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from runtime.exchange_socket import milliseconds, open_socket, reason
from runtime.server_address import check_address

RECONNECT_MS, RECONNECT_MOST_MS = 20, 500
MOST_DROPPED = 1000  # frames at once: a server that sends without end must not hold us up

_EVENTS = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED


class Requester:
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

    def drop_unread(self) -> int:
        """Drop the frames that have come and were not taken; returns how many."""
        dropped = 0
        while dropped < MOST_DROPPED:
            try:
                self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            dropped += 1
        return dropped

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

    def __enter__(self) -> "Requester":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):  # of one half made, or in an interpreter that ends
            self.close()

    def _watch(self) -> None:
        """Take note of what has happened to the connection."""
        while self._monitor.poll(0):
            event = recv_monitor_message(self._monitor, zmq.NOBLOCK)["event"]
            welcome = event == zmq.EVENT_HANDSHAKE_SUCCEEDED
            self.turned_away = not welcome and not self._connected
            self._broken |= not welcome
            self._connected = welcome
