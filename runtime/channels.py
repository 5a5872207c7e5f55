"""The two ends of a topic; `runtime.bus.Bus` makes them."""

import math
import time
from collections.abc import Callable
from typing import Generic

import zmq

from runtime.topics import Topic
from runtime.wire import DecodeError, MessageT, decode, encode

Stop = Callable[[], bool]

STOP_CHECK_S = 0.05  # longest time for which a blocking wait does not look at its stop flag [s]


class Publisher(Generic[MessageT]):
    """Sends the messages of one topic; made by `Bus.publisher`."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket = socket
        self._subscribers = 0

    def send(self, message: MessageT) -> None:
        """Send to all subscribers; never blocks, and drops for one whose queue is full."""
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

    A conflating subscriber passes over all but the newest message that has arrived. It does so
    by emptying its queue, not with ZeroMQ's CONFLATE, which can miss the wake-up for a message
    that arrives while the reader looks (ypipe_conflate.hpp): lock step would wait for ever.

    `undecodable` counts the frames that were not such a message: they are dropped.
    """

    def __init__(
        self, socket: zmq.Socket[bytes], topic: Topic[MessageT], conflate: bool = True
    ) -> None:
        self._socket = socket
        self._conflate = conflate
        self.topic = topic
        self.undecodable = 0

    def raw(self, most: int | None = None) -> list[bytes]:
        """All frames that have arrived since the last call, or the first `most` of them.

        Oldest first, not decoded. Who may fall behind names a `most`: frames that come faster than
        they are taken would keep the call from ending.
        """
        frames = []
        while (most is None or len(frames) < most) and (
            int(self._socket.get(zmq.EVENTS)) & zmq.POLLIN  # an exception would take longer
        ):
            frames.append(self._socket.recv(zmq.NOBLOCK))
        return frames

    def newest(self) -> MessageT | None:
        """The newest message received since the last call, None without one; never blocks."""
        for frame in reversed(self.raw()):
            message = self._decoded(frame)
            if message is not None:
                return message
        return None

    def all(self) -> list[MessageT]:
        """All messages received since the last call, oldest first; never blocks."""
        messages = map(self._decoded, self.raw())
        return [message for message in messages if message is not None]

    def wait_all(self, timeout_s: float) -> list[MessageT]:
        """The same, but waits for a message; none when `timeout_s` [s] pass without."""
        return self.all() if self._socket.poll(math.ceil(1e3 * timeout_s)) else []

    def wait(self, timeout_s: float) -> MessageT | None:
        """The next message (conflating: the newest), None when `timeout_s` [s] pass without."""
        deadline = time.monotonic() + timeout_s
        remaining = timeout_s
        while self._socket.poll(max(0, math.ceil(1e3 * remaining))):
            message = self.newest() if self._conflate else self._decoded(self._socket.recv())
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
        """The next message that fulfils `predicate`; None when stopped or out of time [s].

        Messages are looked at one by one, also where a subscriber conflates: in lock step the one
        that is waited for may not be the newest.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            remaining = deadline - time.monotonic()
            message = self._next(max(0.0, min(remaining, STOP_CHECK_S)))
            if message is not None and predicate(message):
                return message
            if remaining <= 0.0 or (stop is not None and stop()):
                return None

    def close(self) -> None:
        """Receive nothing any more; who publishes the topic sends nothing here."""
        self._socket.close()

    def _next(self, timeout_s: float) -> MessageT | None:
        """The oldest message that has not been received, None when `timeout_s` [s] pass without."""
        if not self._socket.poll(math.ceil(1e3 * timeout_s)):
            return None
        return self._decoded(self._socket.recv())

    def _decoded(self, frame: bytes) -> MessageT | None:
        try:
            return decode(self.topic.message, frame)
        except DecodeError:
            self.undecodable += 1
            return None
