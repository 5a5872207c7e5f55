"""The terminal: keys one by one inside, as it was outside, whatever happened in between."""

import os
import pty
import select
import socket
import termios

import pytest

from hw_bridge.operator.keyboard import is_attended, raw_keys

LOCAL, SPECIAL = 3, 6  # indices among a terminal's attributes


@pytest.fixture
def terminal():
    outer, inner = pty.openpty()
    yield outer, inner
    os.close(outer)
    os.close(inner)


def test_keys_come_one_by_one_unechoed_and_only_interrupt_stays(terminal):
    outer, inner = terminal
    with raw_keys(inner):
        attributes = termios.tcgetattr(inner)
        assert not attributes[LOCAL] & (termios.ICANON | termios.ECHO)
        assert attributes[LOCAL] & termios.ISIG
        assert attributes[SPECIAL][termios.VSUSP] == b"\x00"
        assert attributes[SPECIAL][termios.VMIN] == attributes[SPECIAL][termios.VTIME] == 0
        assert os.read(inner, 10) == b""  # a read never waits for a key
        os.write(outer, b"u")
        assert select.select([inner], [], [], 5.0)[0]
        assert os.read(inner, 10) == b"u"


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt, SystemExit])
def test_it_is_restored(terminal, error):
    inner = terminal[1]
    before = termios.tcgetattr(inner)
    if error is None:
        with raw_keys(inner):
            pass
    else:
        with pytest.raises(error), raw_keys(inner):
            raise error
    assert termios.tcgetattr(inner) == before


def test_what_was_not_read_does_not_reach_the_shell(terminal):
    outer, inner = terminal
    with raw_keys(inner):
        os.write(outer, b"xxx")
        assert select.select([inner], [], [], 5.0)[
            0
        ]  # the kernel carries keys over in its own time
    os.write(outer, b"ls\n")
    assert os.read(inner, 10) == b"ls\n"


def test_who_may_type_is_asked_of_the_file(terminal, tmp_path):
    reading, writing = os.pipe()
    here, there = socket.socketpair()
    (tmp_path / "keys").write_text("ur")
    with open(os.devnull) as null, (tmp_path / "keys").open() as file:
        assert not is_attended(null.fileno()) and not is_attended(file.fileno())
    assert is_attended(terminal[1]) and is_attended(reading) and is_attended(here.fileno())
    os.write(writing, b"u")
    os.close(writing)  # what it holds is not somebody
    there.close()
    assert not is_attended(reading) and not is_attended(here.fileno())
    os.close(reading)
    here.close()
    assert not is_attended(reading)
