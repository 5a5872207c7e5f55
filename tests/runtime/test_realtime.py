"""Real-time set-up asks, reports and never raises; the stop flag listens."""

import gc
import os
import signal
import threading

import pytest

from runtime import realtime
from runtime.realtime import request_realtime, set_cpu_affinity
from runtime.signals import StopFlag


class Libc:
    """A C library whose mlockall returns `result`."""

    def __init__(self, result):
        self.result = result
        self.flags = None

    def mlockall(self, flags):
        self.flags = flags
        return self.result


@pytest.fixture(autouse=True)
def unfreeze():
    yield
    gc.unfreeze()


@pytest.fixture
def system(monkeypatch):
    """Replaces the system calls: `system(refuse, limit)` refuses both, or grants both."""

    def replace(refuse, limit=realtime.resource.RLIM_INFINITY, user=1000):
        def schedule(pid, policy, parameters):
            if refuse is not None:
                raise refuse

        libc = Libc(-1 if refuse else 0)
        monkeypatch.setattr(realtime.os, "sched_setscheduler", schedule)
        monkeypatch.setattr(realtime.os, "geteuid", lambda: user)
        monkeypatch.setattr(realtime.ctypes, "CDLL", lambda *_, **__: libc)
        monkeypatch.setattr(realtime.resource, "getrlimit", lambda _: (limit, limit))
        return libc

    return replace


def test_all_granted_needs_no_reason(system):
    system(None)
    status = request_realtime(80)
    assert (status.scheduler, status.locked, status.reason) == ("fifo", True, "")
    assert gc.get_freeze_count() > 0


def test_refusals_name_their_remedies(system):
    system(PermissionError(1, "Operation not permitted"))
    status = request_realtime(80)
    assert (status.scheduler, status.locked) == ("other", False)
    assert "rtprio 80" in status.reason
    assert "memlock unlimited" in status.reason


def test_a_priority_out_of_range_is_named(system):
    system(OSError(22, "Invalid argument"))
    assert "from 1 to 99" in request_realtime(1000).reason


@pytest.mark.parametrize(
    "limit, user, flags",
    [(realtime.resource.RLIM_INFINITY, 1000, 3), (8 << 20, 1000, 1), (8 << 20, 0, 3)],
)
def test_future_memory_is_locked_only_without_a_limit(system, limit, user, flags):
    libc = system(None, limit, user)
    request_realtime(10)
    assert libc.flags == flags


def test_none_asks_for_nothing(system):
    libc = system(AssertionError("asked"))
    assert request_realtime(None).scheduler == "other"
    assert libc.flags is None


def test_affinity_is_set_or_explained():
    before = os.sched_getaffinity(0)
    try:
        assert set_cpu_affinity({min(before)}) == ""
        assert os.sched_getaffinity(0) == {min(before)}
        assert "available are" in set_cpu_affinity([4095])
        assert "available are" in set_cpu_affinity([-1])
        assert "available are" in set_cpu_affinity([])
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_sets_the_flag_and_the_handlers_come_back(number):
    before = signal.getsignal(number)
    with StopFlag() as stop:
        assert not stop()
        signal.raise_signal(number)
        signal.raise_signal(number)
        assert stop()
    assert signal.getsignal(number) is before


def test_in_another_thread_the_flag_is_set_by_hand():
    stops = []
    thread = threading.Thread(target=lambda: stops.append(StopFlag()))
    thread.start()
    thread.join()
    assert not stops[0]()
    stops[0].set()
    assert stops[0]()
