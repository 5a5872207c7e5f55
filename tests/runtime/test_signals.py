"""The stop flag: which signals stop, and which do not."""

import os
import signal

import pytest

from runtime.signals import STOP_SIGNALS, StopFlag


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_each_of_them_stops_and_afterwards_is_its_old_handlers(number):
    inherited = signal.signal(number, signal.SIG_DFL)  # not ignored, as SIGHUP is under nohup
    try:
        with StopFlag() as stop:
            assert not stop()
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            assert stop()
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, inherited)


def test_one_within_another_that_is_set_is_set():
    with StopFlag() as outer:
        with StopFlag() as inner:
            assert not inner()
        os.kill(os.getpid(), signal.SIGTERM)
        with StopFlag() as inner:
            assert outer() and inner()


def test_under_nohup_a_terminal_that_goes_stops_nothing():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopFlag() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
