"""Keys: what each asks for, from a pipe and from a terminal, and what a hangup does."""

import os
import pty
import select

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.operator.keyboard import Keyboard, raw_keys
from hw_bridge.states import Request

KEYS = {b"u": Request.STAND_UP, b"r": Request.RUN, b"d": Request.SIT_DOWN}
STOPS = (b" ", b"x", b"\x1b")


@pytest.mark.parametrize("key", [*KEYS, *STOPS])
def test_each_key_in_either_case(pipe, key):
    keyboard = Keyboard(pipe[0])
    for typed in {key, key.upper()}:
        os.write(pipe[1], typed)
        [(request, cause)] = keyboard.poll()
        assert request is KEYS.get(key, Request.STOP)
        assert bool(cause) == (request is Request.STOP)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_and_every_stop_among_them_is_seen(typed):
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


@pytest.mark.parametrize("typed", [b"", b"urid", 3000 * b"uri", b"ur d", b"r\x1b" + 3000 * b" "])
def test_what_was_typed_ahead_is_dropped_but_for_a_stop(pipe, typed):
    others = []
    keyboard = Keyboard(pipe[0], others.append)
    os.write(pipe[1], typed)
    stops = [Request.STOP] if set(typed) & set(b" \x1b") else []
    assert [request for request, _ in keyboard.begin(0.0)] == stops
    assert keyboard.poll() == [] and others == []
    os.write(pipe[1], b"ui")
    assert keyboard.poll() == [(Request.STAND_UP, "")] and others == ["i"]


def test_a_stop_typed_ahead_in_a_terminal_counts_and_one_that_hung_up_ends_the_run():
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


PATIENCE_S = 10.0
