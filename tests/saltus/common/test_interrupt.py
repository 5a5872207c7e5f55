"""Ctrl-C that waits for a safe instant."""

import signal

import pytest

from saltus.common.errors import postponed_interrupt


def test_the_first_one_waits_until_the_caller_looks():
    reached = False
    with pytest.raises(KeyboardInterrupt), postponed_interrupt() as check:
        check()
        signal.raise_signal(signal.SIGINT)
        reached = True
        check()
        raise AssertionError("not interrupted")
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_sigterm_waits_too_where_it_acts_as_ctrl_c():
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), postponed_interrupt() as check:
            signal.raise_signal(signal.SIGTERM)
            check()
            raise AssertionError("not interrupted")
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_second_one_acts_at_once():
    with pytest.raises(KeyboardInterrupt), postponed_interrupt():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("not interrupted")


def test_a_process_that_ignores_it_still_does():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with postponed_interrupt() as check:
            signal.raise_signal(signal.SIGINT)
            check()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
