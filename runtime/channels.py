"""The two ends of a topic; `runtime.bus.Bus` makes them."""

import math
import time
from collections.abc import Callable
from typing import Any, Generic

import numpy as np
import zmq
from zmq.backend import zmq_poll

from runtime.checked import Array
from runtime.rows import RowReader, RowWriter, layout_of
from runtime.topics import Topic
from runtime.wire import DecodeError, MessageT, decode, encode

Stop = Callable[[], bool]

STOP_CHECK_S = 0.05  # longest time for which a blocking wait does not look at its stop flag [s]
READABLE = int(zmq.POLLIN)  # a plain number: the flag takes four calls to compare
HERE = b"rows"  # subscription of a reader of rows: it is counted, and no frame begins so
LOOK_EVERY = 64  # messages in rows, after which a publisher looks whether an observer has come


class Publisher(Generic[MessageT]):
    """Sends the messages of one topic; made by `Bus.publisher`.

    Where the topic is in shared memory, ZeroMQ counts the subscribers, and carries messages only
    while there is an observer: a subscriber that cannot read rows.
    """

    def __init__(
        self, socket: zmq.Socket[bytes], topic: Topic[MessageT],
        rows: RowWriter[MessageT] | None = None,
    ) -> None:  # fmt: skip
        self._socket, self._topic, self._rows = socket, topic, rows
        self._subscribers = self._observers = self._sent = 0

    def send(self, content: MessageT | Array) -> None:
        """Send a message, or its row, to all subscribers.

        Never blocks, and drops for one whose queue is full.
        """
        if self._rows is not None:
            self._rows.write(content if isinstance(content, np.ndarray) else content.row)
            self._sent += 1
            if self._sent % LOOK_EVERY == 0:
                self.subscribers()
            if not self._observers:
                return
        self._socket.send(self.frame(content), zmq.NOBLOCK)

    def frame(self, content: MessageT | Array) -> bytes:
        """A message, or its row, as a frame."""
        if isinstance(content, np.ndarray):
            content = layout_of(self._topic.message).message(content)
        return encode(content)

    def subscribers(self) -> int:
        """Number of subscribers that are connected now."""
        while self._socket.poll(0):
            word = self._socket.recv()
            change = 1 if word[:1] == b"\x01" else -1
            self._subscribers += change
            self._observers += change * (word[1:] != HERE)
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


class Frames:
    """The frames of a ZeroMQ socket, each once."""

    refused = False

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket, self._polled = socket, [(socket, READABLE)]

    def take(self, most: int | None = None) -> list[bytes]:
        """The frames since the last call, oldest first, or the first `most` of them."""
        frames = []
        while (most is None or len(frames) < most) and zmq_poll(self._polled, 0):
            frames.append(self._socket.recv(zmq.NOBLOCK))
        return frames

    def poll(self, timeout_s: float) -> bool:
        """Wait until a frame is there, at most for so long; whether there is one."""
        return bool(self._socket.poll(max(0, math.ceil(1e3 * timeout_s))))


class Subscriber(Generic[MessageT]):
    """Receives the messages of one topic; made by `Bus.subscriber`.

    What arrives is a row, where the topic is in shared memory, or a frame.

    A conflating subscriber passes over all but the newest message that has arrived. It does so
    by emptying its queue, not with ZeroMQ's CONFLATE, which can miss the wake-up for a message
    that arrives while the reader looks (ypipe_conflate.hpp): lock step would wait for ever.

    `undecodable` counts the frames that were not such a message: they are dropped. A lazy one gives
    views of rows, whose fields are decoded where they are asked for.
    """

    def __init__(
        self, socket: zmq.Socket[bytes], topic: Topic[MessageT], conflate: bool = True,
        rows: RowReader[MessageT] | None = None, lazy: bool = False,
    ) -> None:  # fmt: skip
        self._socket, self._conflate, self._lazy = socket, conflate, lazy
        self._source: Frames | RowReader[MessageT] = rows or Frames(socket)
        self.topic, self.undecodable = topic, 0
        if lazy:
            self._view = layout_of(topic.message).view

    def take(self, most: int | None = None) -> list[Any]:
        """All that has arrived since the last call, or the first `most`: rows or frames.

        Oldest first, not decoded. A reader that may fall behind names a `most`: frames that come
        faster than they are taken would keep the call from ending.
        """
        source = self._source
        return (self._ends() if source.refused else source).take(most)

    def frame(self, arrival: Any) -> bytes:
        """The frame of an arrival. Raises DecodeError for a row that is no message."""
        return arrival if isinstance(arrival, bytes) else encode(self.message(arrival))

    def message(self, arrival: Any) -> MessageT:
        """The message that arrived. Raises DecodeError."""
        kind = self.topic.message
        if isinstance(arrival, bytes):
            message = decode(kind, arrival)
            return self._view(message.row) if self._lazy else message
        if self._lazy:
            return self._view(arrival)
        try:
            return layout_of(kind).message(arrival)
        except (ValueError, IndexError, OverflowError) as error:
            raise DecodeError(f"not a {kind.__name__}: {error}") from error

    def newest(self) -> MessageT | None:
        """The newest message received since the last call, None without one; never blocks."""
        source = self._source
        if source.refused:
            source = self._ends()
        if isinstance(source, RowReader):
            arrivals = source.take(newest=True)
            if arrivals and self._lazy:
                return self._view(arrivals[0])
        else:
            arrivals = source.take()
        for arrival in reversed(arrivals):
            message = self._decoded(arrival)
            if message is not None:
                return message
        return None

    def all(self) -> list[MessageT]:
        """All messages received since the last call, oldest first; never blocks."""
        messages = map(self._decoded, self.take())
        return [message for message in messages if message is not None]

    def wait(self, timeout_s: float) -> MessageT | None:
        """The next message (conflating: the newest), None when `timeout_s` [s] pass without."""
        return self._until(self.newest if self._conflate else self._next, timeout_s)

    def wait_for(
        self, predicate: Callable[[MessageT], bool], timeout_s: float, stop: Stop | None = None
    ) -> MessageT | None:
        """The next message that fulfils `predicate`; None when stopped or out of time [s].

        Messages are looked at one by one, also where a subscriber conflates: in lock step the one
        that is waited for may not be the newest.
        """
        return self._until(self._next, timeout_s, predicate, stop)

    def _until(
        self, take: Callable[[], MessageT | None], timeout_s: float,
        predicate: Callable[[MessageT], bool] = lambda _: True, stop: Stop | None = None,
    ) -> MessageT | None:  # fmt: skip
        deadline = time.monotonic() + timeout_s
        while True:
            remaining = deadline - time.monotonic()
            if self.poll(max(0.0, min(remaining, STOP_CHECK_S))):
                message = take()
                if message is not None and predicate(message):
                    return message
            if remaining <= 0.0 or (stop is not None and stop()):
                return None

    def poll(self, timeout_s: float) -> bool:
        """Wait until something is there, at most for `timeout_s` [s]; whether it is."""
        source = self._ends() if self._source.refused else self._source
        return source.poll(timeout_s) or (source.refused and self._ends().poll(0.0))

    def close(self) -> None:
        """Receive nothing any more; the publisher sends nothing here."""
        self._socket.close()

    def _ends(self) -> Frames:
        """Frames, where this process cannot have rows."""
        self._socket.subscribe(b"")
        self._source = source = Frames(self._socket)
        return source

    def _next(self) -> MessageT | None:
        """The oldest message that has not been received; None where it does not decode."""
        arrivals = self.take(1)
        return self._decoded(arrivals[0]) if arrivals else None

    def _decoded(self, arrival: Any) -> MessageT | None:
        try:
            return self.message(arrival)
        except DecodeError:
            self.undecodable += 1
            return None
