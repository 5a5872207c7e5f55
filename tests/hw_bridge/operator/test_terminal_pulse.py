"""A terminal that is asked whether it lives: replies are no keys, Esc still stops."""

import fcntl
import logging
import os
import pty
import select
import struct
import termios
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.operator.keyboard import PERIOD_S, QUERY, REPLY, Keyboard, TerminalPulse, raw_keys
from hw_bridge.states import Request, RequestWithCause

TICK_S = 1e-3
SILENT = (Request.END, "the operator's terminal has been silent for 1 s")
ESC = (Request.STOP, "stopped by the operator (Esc key)")
ARRIVAL_S = 10.0  # the kernel carries keys over in its own time


class CountedQueries:
    """The module os for who asks: it counts what is written."""

    def __init__(self) -> None:
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, fd: int, data: bytes) -> int:
        assert data == QUERY
        self.count += 1
        return os.write(fd, data)


class Terminal:
    """A person's end of a terminal, and the keyboard at the other, in simulated time."""

    def __init__(self, outer: int, inner: int, sent: CountedQueries) -> None:
        self.outer, self.inner, self.now = outer, inner, 100.0
        self.keyboard = Keyboard(inner)
        self.answers, self._sent = True, sent

    @property
    def queries(self) -> int:
        """How often it was asked."""
        return self._sent.count

    def type(self, keys: bytes) -> None:
        """Type, and wait until all of it is there."""
        length = self._waiting() + len(keys)
        os.write(self.outer, keys)
        end = time.monotonic() + ARRIVAL_S
        while self._waiting() < length:
            assert time.monotonic() < end

    def tick(self, up: bool = True) -> list[RequestWithCause]:
        """A millisecond: one poll, and the reply to a query."""
        self.now += TICK_S
        before = self.queries
        asked = self.keyboard.poll(self.now, up)
        if self.queries > before:
            assert select.select([self.outer], [], [], ARRIVAL_S)[0]
            assert os.read(self.outer, 100) == QUERY
            if self.answers:
                self.type(REPLY)
        return asked

    def _waiting(self) -> int:
        """How many bytes can be read."""
        [count] = struct.unpack("i", fcntl.ioctl(self.inner, termios.FIONREAD, bytes(4)))
        return count

    def live(self, seconds: float, up: bool = True) -> list[tuple[float, RequestWithCause]]:
        """What is asked for in so many seconds, each with the time since their beginning [s]."""
        begin = self.now
        return [
            (self.now - begin, one) for _ in range(round(seconds / TICK_S)) for one in self.tick(up)
        ]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    outer, inner = pty.openpty()
    sent = CountedQueries()
    monkeypatch.setattr("hw_bridge.operator.keyboard.os", sent)
    with raw_keys(inner):
        terminal = Terminal(outer, inner, sent)
        yield terminal
        terminal.keyboard.close()
    os.close(outer)
    os.close(inner)


def begun(terminal: Terminal) -> Terminal:
    assert terminal.keyboard.begin(terminal.now) == []
    assert terminal.live(0.1) == []
    return terminal


def test_a_terminal_that_answers_goes_on_for_ever(terminal: Terminal) -> None:
    assert begun(terminal).live(4.9) == []
    assert terminal.queries == 5.0 / PERIOD_S


def test_a_terminal_that_freezes_ends_the_run_once(terminal: Terminal) -> None:
    begun(terminal).answers = False
    [(after, asked)] = terminal.live(5.0)
    assert asked == SILENT
    assert 1.0 <= after <= 1.0 + PERIOD_S  # a query is due within a period, and waits for 1 s
    terminal.answers = True
    terminal.type(REPLY)
    assert terminal.live(1.0) == []
    terminal.type(b" ")
    assert [request for _, (request, _) in terminal.live(0.01)] == [Request.STOP]


def test_a_frozen_terminal_counts_only_while_the_robot_is_up(terminal: Terminal) -> None:
    begun(terminal).answers = False
    assert terminal.live(5.0, up=False) == []
    assert terminal.tick() == [SILENT]


def test_a_key_is_a_sign_of_life(terminal: Terminal) -> None:
    begun(terminal).answers = False
    for _ in range(10):
        assert terminal.live(0.9) == []
        terminal.type(b"i")
    assert [asked for _, asked in terminal.live(2.0)] == [SILENT]


def test_a_terminal_that_never_answers_is_said_once_and_left_alone(
    terminal: Terminal, caplog: pytest.LogCaptureFixture
) -> None:
    terminal.answers = False
    with caplog.at_level(logging.WARNING):
        assert begun(terminal).live(20.0) == []
    [record] = caplog.records
    assert "answers no query" in record.getMessage()
    queries = terminal.queries
    assert terminal.live(2.0) == [] and terminal.queries == queries < 20
    terminal.answers = True
    terminal.type(REPLY)  # it does, if late
    assert terminal.live(2.0) == [] and terminal.queries > queries
    terminal.answers = False
    assert [asked for _, asked in terminal.live(2.0)] == [SILENT]


def test_a_stall_of_the_reader_is_no_silence_of_the_terminal(terminal: Terminal) -> None:
    begun(terminal)
    for seconds in (3.0, 0.24, 2.0):
        terminal.now += seconds
        assert terminal.tick() == []
        assert terminal.live(0.3) == []


def test_esc_stops_within_three_milliseconds(terminal: Terminal) -> None:
    begun(terminal)
    for _ in range(300):  # at every phase of the queries
        terminal.type(b"\x1b")
        [(after, asked)] = terminal.live(3 * TICK_S)
        assert asked == ESC and after <= 3.5 * TICK_S


def test_keys_beside_replies_are_keys_and_other_keys_are_handed_over() -> None:
    others: list[str] = []
    outer, inner = pty.openpty()
    with raw_keys(inner):
        keyboard = Keyboard(inner, others.append)
        keyboard.begin(0.0)
        os.write(outer, b"i" + REPLY + b"uj" + REPLY + b"0")
        assert select.select([inner], [], [], ARRIVAL_S)[0]
        assert keyboard.poll(1.0) == [(Request.STAND_UP, "")]
        assert "".join(others) == "ij0"
        keyboard.close()
    os.close(outer)
    os.close(inner)


@given(st.lists(st.sampled_from([REPLY, b"\x1b", b"[", b"0", b"n", b"x", b"\x1b[A"]), max_size=12),
       st.data())  # fmt: skip
def test_whatever_is_typed_and_however_it_is_cut_no_key_is_lost(
    parts: list[bytes], data: st.DataObject
) -> None:
    """The keys are what is left without replies."""
    pulse = TerminalPulse(10_000, 1.0, 0.0)
    typed, now, keys = b"".join(parts), 0.0, b""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(typed)), max_size=5)))
    for begin, end in zip([0, *cuts], [*cuts, len(typed)], strict=True):
        now += TICK_S
        keys += pulse.take(typed[begin:end], now) if begin < end else b""
    for _ in range(3):
        now += TICK_S
        keys += pulse.take(b"", now)
    assert keys == b"".join(typed.split(REPLY))


@pytest.mark.parametrize("keys", [
    b"\x1b[A", b"\x1b[0m", b"\x1b ", b"\x1bx", b"\x1b" + REPLY, REPLY + b"\x1b",
    b"\x1b[" + REPLY + b"0n", REPLY + b"\x1b[0",
])  # fmt: skip
def test_what_begins_like_a_reply_and_is_none_stops(terminal: Terminal, keys: bytes) -> None:
    begun(terminal).type(keys)
    assert terminal.live(0.01)[0][1] == ESC
