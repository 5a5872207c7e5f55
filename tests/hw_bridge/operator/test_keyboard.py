"""Keys: what each asks for, from a pipe and from a terminal, and what a hangup does."""

import errno
import os
import pty
import select
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.operator.keyboard import Keyboard, raw_keys
from hw_bridge.states import Request, RequestWithCause

KEYS = {b"u": Request.STAND_UP, b"r": Request.RUN, b"d": Request.SIT_DOWN}
STOPS = (b" ", b"x", b"\x1b")


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for fd in (reading, writing):
        try:
            os.close(fd)
        except OSError:
            pass


@pytest.mark.parametrize("key", [*KEYS, *STOPS])
def test_each_key_in_either_case(pipe: tuple[int, int], key: bytes) -> None:
    keyboard = Keyboard(pipe[0])
    for typed in {key, key.upper()}:
        os.write(pipe[1], typed)
        [(request, cause)] = keyboard.poll()
        assert request is KEYS.get(key, Request.STOP)
        assert bool(cause) == (request is Request.STOP)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_and_every_stop_among_them_is_seen(typed: bytes) -> None:
    reading, writing = os.pipe()
    try:
        keyboard = Keyboard(reading)
        os.write(writing, typed)
        asked = keyboard.poll() + keyboard.poll()
        stops = sum(typed.lower().count(stop) for stop in STOPS)
        assert sum(request is Request.STOP for request, _ in asked) == stops
        assert keyboard.poll() == []
    finally:
        os.close(reading)
        os.close(writing)


def test_an_arrow_key_stops_because_it_begins_with_esc(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"\x1b[A")
    assert [request for request, _ in Keyboard(pipe[0]).poll()] == [Request.STOP]


def test_no_key_is_no_request_and_does_not_block(pipe: tuple[int, int]) -> None:
    assert Keyboard(pipe[0]).poll() == []


@pytest.mark.parametrize("typed", [b"", b"urid", 3000 * b"uri", b"ur d", b"r\x1b" + 3000 * b" "])
def test_what_was_typed_ahead_is_dropped_but_for_a_stop(
    pipe: tuple[int, int], typed: bytes
) -> None:
    others: list[str] = []
    keyboard = Keyboard(pipe[0], others.append)
    os.write(pipe[1], typed)
    stops = [Request.STOP] if set(typed) & set(b" \x1b") else []
    assert [request for request, _ in keyboard.begin(0.0)] == stops
    assert keyboard.poll() == [] and others == []
    os.write(pipe[1], b"ui")
    assert keyboard.poll() == [(Request.STAND_UP, "")] and others == ["i"]


def test_a_stop_typed_ahead_in_a_terminal_counts_and_one_that_hung_up_ends_the_run() -> None:
    outer, inner = pty.openpty()
    with raw_keys(inner):
        keyboard = Keyboard(inner)
        os.write(outer, b"u\x1bd")
        assert select.select([inner], [], [], PATIENCE_S)[0]
        assert keyboard.begin(0.0) == [(Request.STOP, "stopped by the operator (Esc key)")]
        assert keyboard.poll() == []
        keyboard.close()
        keyboard = Keyboard(inner)
        os.close(outer)
        assert keyboard.begin(0.0) == []
        assert [request for request, _ in keyboard.poll()] == [Request.END]
    os.close(inner)


def test_the_end_of_a_pipe_asks_for_nothing(pipe: tuple[int, int]) -> None:
    keyboard = Keyboard(pipe[0])
    os.write(pipe[1], b"u")
    os.close(pipe[1])
    assert keyboard.poll() == [(Request.STAND_UP, "")]
    assert keyboard.poll() == keyboard.poll() == []


def test_a_file_that_is_closed_or_was_never_open_asks_for_nothing(pipe: tuple[int, int]) -> None:
    keyboard = Keyboard(pipe[0])
    os.close(pipe[0])
    assert keyboard.poll() == keyboard.poll() == []
    assert Keyboard(pipe[0]).poll() == []


def test_a_terminal_that_hangs_up_ends_the_run_once() -> None:
    outer, inner = pty.openpty()
    keyboard = Keyboard(inner)
    with raw_keys(inner):
        os.write(outer, b"r")
        assert keyboard.poll() == [(Request.RUN, "")]
        os.close(outer)
        assert keyboard.poll() == [(Request.END, "the operator's terminal has gone")]
        assert keyboard.poll() == []
    os.close(inner)


PATIENCE_S = 10.0


class Announced:
    """A poll object that announces a key, and what else it is given, whatever there is to read."""

    def __init__(self, event: int = 0) -> None:
        self.events = [(0, select.POLLIN | event)]

    def poll(self, timeout: float) -> list[tuple[int, int]]:
        return self.events


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    outer, inner = pty.openpty()
    with raw_keys(inner):
        yield outer, inner
    os.close(outer)
    os.close(inner)


def polled(keyboard: Keyboard, outer: int) -> list[RequestWithCause]:
    """What `poll` returns; where it waits for a key it gets one, and that is an error."""
    asked: list[list[RequestWithCause]] = []
    thread = threading.Thread(target=lambda: asked.append(keyboard.poll()))
    thread.start()
    thread.join(PATIENCE_S)
    waits = thread.is_alive()
    if waits:
        os.write(outer, b"q")
        thread.join()
    assert not waits, "it waits for a key"
    return asked[0]


def test_a_key_that_another_reader_took_is_not_waited_for(terminal: tuple[int, int]) -> None:
    outer, inner = terminal
    keyboard = Keyboard(inner)
    real, keyboard._poll = keyboard._poll, Announced()  # type: ignore[assignment]
    assert polled(keyboard, outer) == []
    keyboard._poll = real
    os.write(outer, b"r")
    assert real.poll(1e3 * PATIENCE_S)
    assert polled(keyboard, outer) == [(Request.RUN, "")]


@pytest.mark.parametrize("event", [select.POLLHUP, select.POLLERR, select.POLLNVAL])
def test_a_terminal_that_polls_as_gone_ends_the_run(terminal: tuple[int, int], event: int) -> None:
    keyboard = Keyboard(terminal[1])
    keyboard._poll = Announced(event)  # type: ignore[assignment]
    assert [request for request, _ in polled(keyboard, terminal[0])] == [Request.END]
    assert polled(keyboard, terminal[0]) == []


@pytest.mark.parametrize(("error", "asked"), [(errno.EIO, [Request.END]), (errno.EAGAIN, [])])
def test_a_terminal_that_cannot_be_read_ends_the_run_unless_it_only_has_no_key(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch, error: int, asked: list[Request]
) -> None:
    def refuse(fd: int, size: int) -> bytes:
        raise OSError(error, os.strerror(error))

    keyboard = Keyboard(terminal[1])
    keyboard._poll = Announced()  # type: ignore[assignment]
    monkeypatch.setattr(os, "read", refuse)
    assert [request for request, _ in keyboard.poll()] == asked
