"""Real-time set-up asks, reports and never raises; the stop flag listens."""

import gc
import os
from types import SimpleNamespace

import pytest

from runtime import realtime
from runtime.realtime import prefer_process, request_realtime, set_cpu_affinity
from tests.saltus.programs import python


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

        flags = []
        libc = SimpleNamespace(mlockall=lambda given: flags.append(given) or -bool(refuse))
        monkeypatch.setattr(realtime.os, "sched_setscheduler", schedule)
        monkeypatch.setattr(realtime.os, "geteuid", lambda: user)
        monkeypatch.setattr(realtime.ctypes, "CDLL", lambda *_, **__: libc)
        monkeypatch.setattr(realtime.resource, "getrlimit", lambda _: (limit, limit))
        return flags

    return replace


def test_refusals_name_their_remedies(system):
    system(PermissionError(1, "Operation not permitted"))
    status = request_realtime(80)
    assert (status.scheduler, status.locked) == ("other", False)
    assert "rtprio 81" in status.reason  # the bus's threads need one more
    assert "memlock unlimited" in status.reason


@pytest.mark.parametrize(
    "limit, user, flags",
    [(realtime.resource.RLIM_INFINITY, 1000, 3), (8 << 20, 1000, 1), (8 << 20, 0, 3)],
)
def test_future_memory_is_locked_only_without_a_limit(system, limit, user, flags):
    given = system(None, limit, user)
    request_realtime(10)
    assert given == [flags]


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


def test_a_nice_level_is_that_of_the_process_and_of_its_session():
    """A higher level is granted to everybody."""
    code = (
        "import os; from pathlib import Path; from runtime.realtime import prefer_process as p\n"
        "print(os.getpriority(os.PRIO_PROCESS, 0), end=' ') if p(5) == '' else print('refused')\n"
        "a = Path('/proc/self/autogroup'); print(a.read_text() if a.exists() else '')"
    )
    level, *group = python("-c", code, start_new_session=True).stdout.split()
    assert level == "5"
    assert not group or group[-1] == "5"


def test_a_nice_level_that_is_refused_names_the_remedy(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(realtime.os, "setpriority", refuse)
    assert "- nice -15" in prefer_process(-15) and "limits.conf" in prefer_process(-15)
