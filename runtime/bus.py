"""The bus: one socket a topic, bound by its producer; consumers keep the newest message only.

Topics of 1 kHz pass through shared memory (`runtime.rows`) where the endpoints have it.
"""

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import zmq

from runtime.channels import HERE, Publisher, Subscriber
from runtime.endpoints import EndpointInUse, Endpoints, make_room, socket_file
from runtime.realtime import priority_above
from runtime.rows import RowReader, RowWriter
from runtime.topics import Topic
from runtime.wire import MessageT

QUEUE_S = 2.0  # of a topic's messages kept for a consumer that is behind [s]
RECORDER_QUEUE_S = 30.0  # the same, at the consumer that keeps every message [s]
RECONNECT_MS = 20


class Bus(AbstractContextManager["Bus"]):
    """The sockets of one process at `endpoints`; a context manager that closes them all.

    Made by a thread under SCHED_FIFO, it has threads of its own one priority above: equal ones do
    not preempt, and a message would leave only when the process sleeps.
    """

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._context = _make_context()
        self._sockets: list[zmq.Socket[bytes]] = []  # kept: a collected socket would close itself
        self._files: list[Path] = []
        self._writers: list[RowWriter[Any]] = []

    def publisher(self, topic: Topic[MessageT]) -> Publisher[MessageT]:
        """Bind `topic`. Raises EndpointInUse where another process publishes it already."""
        address = self._endpoints.address(topic)
        make_room(address)
        socket = self._socket(zmq.XPUB)
        socket.xpub_verboser = True  # report every subscriber that comes and goes, to count them
        socket.sndhwm = max(100, int(QUEUE_S * topic.rate_hz))
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            if error.errno == zmq.EADDRINUSE:
                raise EndpointInUse(address) from None
            raise ValueError(f"cannot bind {address}: {error.strerror}") from None
        file = socket_file(address)
        if file is not None:
            self._files.append(file)
        link = self._endpoints.link(topic)
        if link is None:
            return Publisher(socket, topic)
        self._writers.append(rows := RowWriter(topic.message, link))
        return Publisher(socket, topic, rows)

    def subscriber(
        self, topic: Topic[MessageT], conflate: bool = True, lazy: bool = False
    ) -> Subscriber[MessageT]:
        """Connect to `topic`, which may not exist yet.

        With `conflate` only the newest message counts; without, every one (for a recorder). `lazy`
        gives views of rows, of a topic whose messages have a fixed size.
        """
        socket = self._socket(zmq.SUB)
        socket.rcvhwm = max(100, int((QUEUE_S if conflate else RECORDER_QUEUE_S) * topic.rate_hz))
        socket.reconnect_ivl = RECONNECT_MS
        link = self._endpoints.link(topic)
        rows = None if link is None else RowReader(topic.message, link)
        socket.subscribe(HERE if rows else b"")
        socket.connect(self._endpoints.address(topic))
        return Subscriber(socket, topic, conflate, rows, lazy)

    def close(self, linger_s: float = 0.0) -> None:
        """Close all sockets; their files in an ipc folder go too.

        Args:
            linger_s: for which messages that are on their way may still leave [s]; then they are
                lost.
        """
        while self._files:  # before closing: so long as we listen, no other process binds there
            self._files.pop().unlink(missing_ok=True)
        while self._writers:
            self._writers.pop().close()
        self._context.destroy(linger=round(1e3 * linger_s))

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _socket(self, kind: int) -> zmq.Socket[bytes]:
        socket = self._context.socket(kind)
        socket.linger = 0
        self._sockets.append(socket)
        return socket


def _make_context() -> zmq.Context[zmq.Socket[bytes]]:
    """A context without sockets yet; its threads start with the first one, and so they are set."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    priority = priority_above()
    if priority is not None:
        context.set(zmq.THREAD_SCHED_POLICY, os.SCHED_FIFO)
        context.set(zmq.THREAD_PRIORITY, priority)
    return context
