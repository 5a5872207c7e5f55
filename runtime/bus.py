"""The bus: one socket a topic, bound by its producer; consumers keep the newest message only."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic

import zmq

from runtime.endpoints import CurveKeys, EndpointInUse, Endpoints, make_room, socket_file
from runtime.topics import Topic
from runtime.wire import DecodeError, MessageT, decode, encode

__all__ = ["Bus", "CurveKeys", "EndpointInUse", "Endpoints", "Publisher", "Subscriber"]

Stop = Callable[[], bool]

QUEUE_S = 2.0  # of a topic's messages kept for a consumer that is behind [s]
RECORDER_QUEUE_S = 30.0  # the same, at the consumer that keeps every message [s]
RECONNECT_MS = 20
STOP_CHECK_S = 0.05  # longest time for which a blocking wait does not look at its stop flag [s]


class Publisher(Generic[MessageT]):
    """Sends the messages of one topic; made by `Bus.publisher`."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket = socket
        self._subscribers = 0

    def send(self, message: MessageT) -> None:
        """Send to all subscribers; never blocks, and drops where one is `QUEUE_S` behind."""
        self._socket.send(encode(message), zmq.NOBLOCK)

    def subscribers(self) -> int:
        """How many subscribers are connected now."""
        while self._socket.poll(0):
            self._subscribers += 1 if self._socket.recv()[:1] == b"\x01" else -1
        return self._subscribers

    def wait_for_subscribers(self, count: int, timeout_s: float, stop: Stop | None = None) -> bool:
        """Wait until `count` subscribers are connected; False when stopped or out of time [s]."""
        deadline = time.monotonic() + timeout_s
        while self.subscribers() < count:
            remaining = deadline - time.monotonic()
            if remaining <= 0.0 or (stop is not None and stop()):
                return False
            self._socket.poll(math.ceil(1e3 * min(remaining, STOP_CHECK_S)))
        return True


class Subscriber(Generic[MessageT]):
    """Receives the messages of one topic; made by `Bus.subscriber`.

    `undecodable` counts the frames that were not such a message: they are dropped.
    """

    def __init__(self, socket: zmq.Socket[bytes], topic: Topic[MessageT]) -> None:
        self._socket = socket
        self.topic = topic
        self.undecodable = 0

    def raw(self) -> list[bytes]:
        """All frames that have arrived since the last call, oldest first, not decoded."""
        frames = []
        try:
            while True:
                frames.append(self._socket.recv(zmq.NOBLOCK))
        except zmq.Again:
            return frames

    def newest(self) -> MessageT | None:
        """The newest message received since the last call, None without one; never blocks."""
        for frame in reversed(self.raw()):
            message = self._decoded(frame)
            if message is not None:
                return message
        return None

    def wait(self, timeout_s: float) -> MessageT | None:
        """The next message, or None when `timeout_s` [s] pass without one."""
        deadline = time.monotonic() + timeout_s
        remaining = timeout_s
        while self._socket.poll(max(0, math.ceil(1e3 * remaining))):
            message = self._decoded(self._socket.recv())
            remaining = deadline - time.monotonic()
            if message is not None or remaining <= 0.0:
                return message
        return None

    def wait_for(
        self,
        predicate: Callable[[MessageT], bool],
        timeout_s: float,
        stop: Stop | None = None,
    ) -> MessageT | None:
        """The next message that fulfils `predicate`; None when stopped or out of time [s]."""
        deadline = time.monotonic() + timeout_s
        while True:
            remaining = deadline - time.monotonic()
            message = self.wait(max(0.0, min(remaining, STOP_CHECK_S)))
            if message is not None and predicate(message):
                return message
            if remaining <= 0.0 or (stop is not None and stop()):
                return None

    def _decoded(self, frame: bytes) -> MessageT | None:
        try:
            return decode(self.topic.message, frame)
        except DecodeError:
            self.undecodable += 1
            return None


class Bus:
    """The sockets of one process at `endpoints`; a context manager that closes them all."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._sockets: list[zmq.Socket[bytes]] = []  # kept: a collected socket would close itself
        self._files: list[Path] = []

    def publisher(self, topic: Topic[MessageT]) -> Publisher[MessageT]:
        """Bind `topic`. Raises EndpointInUse where another process publishes it already."""
        address = self._endpoints.address(topic)
        make_room(address)
        socket = self._socket(zmq.XPUB)
        socket.xpub_verboser = True  # report every subscriber that comes and goes, to count them
        socket.sndhwm = max(100, int(QUEUE_S * topic.rate_hz))
        keys = self._endpoints.keys
        if keys is not None:
            if not keys.secret:
                raise ValueError(f"{address}: a publisher needs keys with the secret half")
            socket.curve_server = True
            socket.curve_secretkey = keys.secret.encode()
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            if error.errno == zmq.EADDRINUSE:
                raise EndpointInUse(address) from None
            raise ValueError(f"cannot bind {address}: {error.strerror}") from None
        file = socket_file(address)
        if file is not None:
            self._files.append(file)
        return Publisher(socket)

    def subscriber(self, topic: Topic[MessageT], conflate: bool = True) -> Subscriber[MessageT]:
        """Connect to `topic`, which may not exist yet.

        With `conflate` only the newest message is kept; without, every one (for a recorder).
        """
        socket = self._socket(zmq.SUB)
        if conflate:
            socket.conflate = True
        else:
            socket.rcvhwm = int(RECORDER_QUEUE_S * topic.rate_hz)
        keys = self._endpoints.keys
        if keys is not None:
            socket.curve_publickey, socket.curve_secretkey = zmq.curve_keypair()
            socket.curve_serverkey = keys.public.encode()
        socket.reconnect_ivl = RECONNECT_MS
        socket.subscribe(b"")
        socket.connect(self._endpoints.address(topic))
        return Subscriber(socket, topic)

    def close(self) -> None:
        """Close all sockets at once, unsent messages lost; their files in an ipc folder go too."""
        while self._files:  # before closing: so long as we listen, no other process binds there
            self._files.pop().unlink(missing_ok=True)
        self._context.destroy(linger=0)

    def __enter__(self) -> "Bus":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _socket(self, kind: int) -> zmq.Socket[bytes]:
        socket = self._context.socket(kind)
        socket.linger = 0
        self._sockets.append(socket)
        return socket
