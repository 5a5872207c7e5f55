"""``saltus doctor`` says for how long the machine stops by itself."""

import os
import threading
import time

import pytest

from runtime.realtime import HIGHEST
from saltus.doctor.checks import BOUND_MS, longest_stop, verdict

HOLD_S = 0.03


def test_a_machine_that_never_stops_for_long():
    ok, found = verdict(0.4)
    assert ok and "up to 0.4 ms" in found


def test_a_machine_that_stops_reads_for_how_long_and_the_remedy():
    ok, found = verdict(BOUND_MS + 7.3)
    assert not ok and "up to 12.3 ms" in found and "not virtual" in found


def test_without_real_time_scheduling_nothing_is_measured():
    ok, found = verdict(None)
    assert not ok and "real-time scheduling" in found


def test_a_core_that_is_held_is_noticed():
    """A thread above the watch holds the first core, as a host does that stops the machine."""
    over, refused = threading.Event(), threading.Event()
    holder = threading.Thread(target=hold_core, args=(over, refused))
    holder.start()
    try:
        if refused.wait(0.1):
            pytest.skip("SCHED_FIFO is refused here")
        assert longest_stop(3.0) > 0.9e3 * HOLD_S
    finally:
        over.set()
        holder.join()


def hold_core(over, refused):
    """Hold the first core for `HOLD_S` again and again."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(HIGHEST))
    except PermissionError:
        refused.set()
        return
    while not over.wait(2 * HOLD_S):
        end = time.monotonic() + HOLD_S
        while time.monotonic() < end:
            pass
