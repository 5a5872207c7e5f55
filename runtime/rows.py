"""A topic in shared memory: a ring of rows of float64. It has one writer; readers cost it nothing.

The writer keeps the memory, and a link in the sockets' folder names it; both go with the process.
The layout of a row follows from the message's fields. Each row has the number that it was written
under: a reader that finds another one than it expects was overrun, or read while the writer wrote.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, Generic, Literal, NamedTuple, cast, get_origin, get_type_hints

import numpy as np

from runtime.checked import Array, RowView, layout
from runtime.wire import MessageT

CAPACITY: Final = 8192  # rows, 8 s of a 1 kHz topic
TEXT_WORDS: Final = 6  # of a string, 48 bytes of UTF-8; the rest is cut
HEAD, WAITING, CLOSED, NUMBERS = 0, 1, 2, 8  # in the header [int64]: rows written, then flags
UNKNOWN_S: Final = 0.002  # between two looks for a ring that is not there yet
LOOK_EVERY: Final = 64  # reads without a row, after which a reader looks for another writer

_FUTEX: Final = {"x86_64": 202, "aarch64": 98}.get(platform.machine())  # number of the system call
_WAIT, _WAKE, _ALL = 0, 1, 2**31 - 1
AVAILABLE: Final = sys.platform == "linux" and _FUTEX is not None
_wait_call = ctypes.CDLL(None, use_errno=True).syscall  # without the interpreter's lock
_wake_call = ctypes.PyDLL(None).syscall  # too short to give that away


class _Field(NamedTuple):
    name: str
    span: slice
    kind: Any
    shape: tuple[int, ...]
    words: tuple[str, ...]


class RowLayout(Generic[MessageT]):
    """Places of the fields of a message of fixed size in a row.

    Attributes:
        width: numbers in a row.
        spans: where each field stands.
        view: shows a row as a message that is not decoded yet.
    """

    def __init__(self, kind: type[MessageT]) -> None:
        """Raise TypeError for a field that has no fixed size."""
        self._fields, begin = list[_Field](), 0
        arrays, words = dict(layout(kind).fixed), dict(layout(kind).words)
        for name, hint in get_type_hints(kind).items():
            shape, size = arrays.get(name, ()), 1
            plain = Literal if get_origin(hint) is Literal else np.ndarray if shape else hint
            if plain is np.ndarray:
                size = int(np.prod(shape))
            elif plain is str:
                size = TEXT_WORDS
            elif plain not in (int, float, bool, Literal):
                raise TypeError(f"{kind.__name__}.{name} has no fixed size")
            span = slice(begin, begin + size)
            self._fields.append(_Field(name, span, plain, shape, words.get(name, ())))
            begin += size
        self.width, self.spans = begin, {field.name: field.span for field in self._fields}
        readers = {field.name: property(_reader(field)) for field in self._fields}
        names = {"kind": kind} | readers
        self.view: Callable[[Array], MessageT] = type(f"{kind.__name__}Row", (RowView,), names)

    def write(self, message: MessageT, row: Array) -> None:
        """Put a message into a row."""
        for name, span, kind, _, words in self._fields:
            value: Any = getattr(message, name)
            if kind is np.ndarray:
                row[span] = value.ravel()
            elif kind is str:
                row[span] = numbers_of(value)
            else:
                row[span.start] = words.index(value) if words else value

    def message(self, row: Array) -> MessageT:
        """The message in a row, whose arrays are views of it."""
        return message_of(self.view(row))


def numbers_of(text: str) -> Array:
    """A text as it stands in a row (6)."""
    return np.frombuffer(text.encode()[: 8 * TEXT_WORDS].ljust(8 * TEXT_WORDS, b"\0"))


def _reader(field: _Field) -> Callable[[RowView], Any]:
    """Function that reads a field of a row."""
    _, span, kind, shape, words = field
    begin = span.start
    if kind is np.ndarray:
        if len(shape) == 1:
            return lambda view: view.row[span]
        return lambda view: view.row[span].reshape(shape)
    if kind is str:
        return lambda view: view.row[span].tobytes().rstrip(b"\0").decode(errors="ignore")
    if words:
        return lambda view: words[int(view.row[begin])]
    return lambda view: kind(view.row[begin])


@cache
def layout_of(kind: type[MessageT]) -> RowLayout[MessageT]:
    """The layout of a message's rows."""
    return RowLayout(kind)


def message_of(message: MessageT) -> MessageT:
    """The message that a view shows; a message itself."""
    return cast(MessageT, message.message()) if isinstance(message, RowView) else message


class _Ring:
    """The memory as arrays, and the two ways to use it."""

    def __init__(self, descriptor: int, width: int) -> None:
        numbers = NUMBERS + CAPACITY * (width + 1)
        self._memory = mmap.mmap(descriptor, 8 * numbers)
        whole = memoryview(self._memory).cast("q")
        self.header = whole[:NUMBERS]
        self.written = whole[NUMBERS : NUMBERS + CAPACITY]  # number of each row, from 1
        self.rows = np.frombuffer(whole[NUMBERS + CAPACITY :]).reshape(CAPACITY, width)
        self._head_address = ctypes.byref(ctypes.c_char.from_buffer(self._memory))
        order = threading.Lock()
        order.acquire()
        # A release followed by an acquire of one lock is a fence: it keeps loads and stores before
        # it before those after it, on every processor.
        self.release, self.acquire = order.release, order.acquire

    def wake(self) -> None:
        """Wake all readers that wait."""
        _wake_call(_FUTEX, self._head_address, _WAKE, _ALL, None, None, 0)

    def wait(self, head: int, timeout_s: float) -> None:
        """Wait until the head is another one, a signal has come, or time is over."""
        self.header[WAITING] = 1
        self.release()
        self.acquire()
        limit = struct.pack("@ll", int(timeout_s), int(1e9 * (timeout_s % 1.0)))  # timespec
        low = ctypes.c_int(head & 0xFFFFFFFF)  # what the kernel compares, on little-endian machines
        _wait_call(_FUTEX, self._head_address, _WAIT, low, limit, None, 0)


class RowWriter(Generic[MessageT]):
    """Writes the messages of one topic; its ring lives until `close`."""

    def __init__(self, kind: type[MessageT], link: Path) -> None:
        """Make the ring, and the link by which readers find it.

        Raises:
            OSError: the link cannot be written.
        """
        self.layout = layout_of(kind)
        self._descriptor = os.memfd_create(link.stem)
        os.ftruncate(self._descriptor, 8 * (NUMBERS + CAPACITY * (self.layout.width + 1)))
        self._ring, self._link = _Ring(self._descriptor, self.layout.width), link
        self._head = 0
        link.unlink(missing_ok=True)
        link.symlink_to(f"/proc/{os.getpid()}/fd/{self._descriptor}")

    def write(self, row: Array) -> None:
        """Write a row, the newest one from then on, and wake readers that wait for it."""
        ring, slot = self._ring, self._head % CAPACITY
        ring.written[slot] = 0
        ring.release()
        ring.acquire()
        ring.rows[slot] = row
        ring.release()
        ring.acquire()
        self._head += 1
        ring.written[slot] = self._head
        ring.header[HEAD] = self._head
        ring.release()
        ring.acquire()
        if ring.header[WAITING]:
            ring.header[WAITING] = 0
            ring.wake()

    def close(self) -> None:
        """Let go of the ring; readers that have it keep it. Safe to call twice."""
        if self._descriptor >= 0:
            self._link.unlink(missing_ok=True)
            self._ring.header[CLOSED] = 1
            os.close(self._descriptor)
            self._descriptor = -1


class RowReader(Generic[MessageT]):
    """Reads the rows of one topic, each once; its writer may come later, and another after it.

    It begins with what the ring still holds of the writer that it finds.

    Attributes:
        lost: rows that were overwritten before they were read, or while they were.
        refused: there is a ring that this process cannot have.
    """

    def __init__(self, kind: type[MessageT], link: Path) -> None:
        """Look for the ring once."""
        self.layout, self.lost, self.refused = layout_of(kind), 0, False
        self._link, self._target = link, ""
        self._ring: _Ring | None = None
        self._next = self._idle = 0
        self._look()

    def take(self, most: int | None = None, newest: bool = False) -> list[Array]:
        """The rows since the last call, oldest first: all, the first `most`, or the `newest`."""
        ring, begin, rows = self._ring, self._next, list[Array]()
        head = begin if ring is None else ring.header[HEAD]
        if head == begin:  # or there is no writer any more
            head, ring = self._head(), self._ring
            begin = self._next
        if ring is None or head == begin:
            return rows
        if newest:
            begin = head - 1
        elif head - begin > CAPACITY // 2:  # the rest may be overwritten while it is read
            self.lost += head - begin - CAPACITY // 2
            begin = head - CAPACITY // 2
        self._next = end = head if most is None else min(head, begin + most)
        for number in range(begin, end):
            slot = number % CAPACITY
            if ring.written[slot] == number + 1:
                ring.release()
                ring.acquire()
                row = ring.rows[slot].copy()
                ring.release()
                ring.acquire()
                if ring.written[slot] == number + 1:
                    rows.append(row)
                    continue
            self.lost += 1  # the writer was faster
        return rows

    def poll(self, timeout_s: float) -> bool:
        """Wait until a row is there, at most for so long; whether there is one."""
        if self._ring is not None and self._ring.header[HEAD] != self._next:
            return True
        deadline = time.monotonic() + timeout_s
        while (head := self._head()) == self._next:
            left = deadline - time.monotonic()
            if left <= 0.0 or self.refused:
                return False
            if self._ring is None:
                time.sleep(min(left, UNKNOWN_S))
            else:
                self._ring.wait(head, left)
        return True

    def _head(self) -> int:
        """Rows written so far; looks for the writer where there is none yet, or none any more."""
        head = self._ring.header[HEAD] if self._ring is not None else self._next
        if head == self._next:
            self._idle += 1
            if self._ring is None or self._idle % LOOK_EVERY == 0:
                self._look()
                head = self._ring.header[HEAD] if self._ring is not None else self._next
        return head

    def _look(self) -> None:
        """Take the ring that the link names, if it is another one than before."""
        try:
            target = os.readlink(self._link)
        except OSError:
            return  # there is no writer yet, or none any more
        if target == self._target and self._ring is not None and not self._ring.header[CLOSED]:
            return
        try:
            descriptor = os.open(target, os.O_RDWR)
        except OSError:  # of another user or container; or the writer was killed
            self.refused = True
            return
        try:
            self._ring, self._target, self._next = _Ring(descriptor, self.layout.width), target, 0
        except ValueError:  # of another layout: another version of this software
            self.refused = True
        finally:
            os.close(descriptor)
        if self._ring is not None:
            self._next = max(0, self._ring.header[HEAD] - CAPACITY // 2)
