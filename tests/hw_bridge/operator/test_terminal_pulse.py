"""A terminal that is asked whether it lives: replies are no keys, Esc still stops."""

import os
import pty
import select

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.operator.keyboard import PERIOD_S, QUERY, REPLY, Keyboard, TerminalPulse, raw_keys
from hw_bridge.states import Request

TICK_S = 1e-3


class Terminal:
    """A terminal at the end of a pipe, in simulated time, which answers queries or not."""

    def __init__(self):
        self.outer, self.inner = os.pipe()
        os.set_blocking(self.outer, False)
        self.now, self.answers, self.queries, self.typed = 100.0, True, 0, b""
        self.pulse = TerminalPulse(self.inner, 1.0, self.now)

    def live(self, seconds, up=True):
        """Keys and requests in so many seconds, each with the time since their beginning [s]."""
        begin, found = self.now, []
        for _ in range(round(seconds / TICK_S)):
            self.now += TICK_S
            keys, self.typed = self.pulse.take(self.typed, self.now), b""
            asked = [request for request, _ in self.pulse.judge(self.now, up)]
            found += [(self.now - begin, each) for each in ([keys] if keys else []) + asked]
            try:
                assert os.read(self.outer, 100) == QUERY
                self.queries += 1
                self.typed = REPLY if self.answers else b""
            except BlockingIOError:
                pass
        return found


@pytest.fixture
def terminal():
    terminal = Terminal()
    assert terminal.live(0.1) == []
    yield terminal
    for fd in (terminal.outer, terminal.inner):
        os.close(fd)
    terminal.pulse.close()


def test_a_terminal_that_answers_goes_on_for_ever(terminal):
    assert terminal.live(4.9) == [] and terminal.queries == 5.0 / PERIOD_S


def test_a_terminal_that_freezes_while_the_robot_is_up_ends_the_run_once(terminal):
    terminal.answers = False
    for _ in range(5):  # a key is a sign of life
        assert terminal.live(0.9) == []
        terminal.typed = b"i"
        assert [keys for _, keys in terminal.live(TICK_S)] == [b"i"]
    assert terminal.live(3.0, up=False) == []
    [(after, asked)] = terminal.live(5.0)
    assert asked is Request.END and after <= 2 * TICK_S


def test_it_takes_a_second_to_freeze_and_a_stall_of_the_reader_is_none(terminal):
    for seconds in (3.0, 0.24, 2.0):
        terminal.now += seconds
        assert terminal.live(0.3) == []
    terminal.answers = False
    [(after, asked)] = terminal.live(5.0)
    assert asked is Request.END and 1.0 <= after <= 1.0 + PERIOD_S


def test_a_terminal_that_never_answers_is_said_once_and_left_alone(caplog):
    terminal = Terminal()
    terminal.answers = False
    assert terminal.live(20.0) == [] and len(caplog.records) == 1
    queries = terminal.queries
    assert terminal.live(2.0) == [] and terminal.queries == queries < 20
    terminal.answers, terminal.typed = True, REPLY  # it does, if late
    assert terminal.live(2.0) == [] and terminal.queries > queries


@given(st.lists(st.sampled_from([REPLY, b"\x1b", b"[", b"0", b"n", b"x", b"\x1b[A"]), max_size=12),
       st.data())  # fmt: skip
def test_whatever_is_typed_and_however_it_is_cut_no_key_is_lost_nor_held_long(parts, data):
    """The keys are what is left without replies, within 3 ms."""
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


def test_keys_beside_replies_are_keys_and_other_keys_are_handed_over():
    others = []
    outer, inner = pty.openpty()
    with raw_keys(inner):
        keyboard = Keyboard(inner, others.append)
        keyboard.begin(0.0)
        for keys, asked in ((b"i" + REPLY + b"uj" + REPLY + b"0", [Request.STAND_UP]),
                            (REPLY + b"\x1b[A", [Request.STOP])):  # fmt: skip
            os.write(outer, keys)
            assert select.select([inner], [], [], 10.0)[0]
            assert [request for request, _ in keyboard.poll(1.0)] == asked
        assert "".join(others).startswith("ij0")
        keyboard.close()
    os.close(outer)
    os.close(inner)
