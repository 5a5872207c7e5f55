"""Does harm to a running process."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress

from saltus.launch.supervisor import send_as_stranger
from studies.a1.chaos.draw import Harm

STRANGER_PACKETS = 50  # of each kind, between two looks at the clock
SPIN = "while True: pass"


def do(harm: Harm, pids: Mapping[str, int], ports: Mapping[str, int]) -> None:
    """Do harm to a process; returns when what does not last for ever is over.

    Args:
        harm: what is done.
        pids: process ids by name.
        ports: UDP ports by the name of the process that has them.

    Raises:
        ProcessLookupError: the process has ended before.
    """
    if harm.kind == "flood":
        _flood(ports[harm.victim], harm.value)
    else:
        _ACTS[harm.kind](pids[harm.victim], harm.value)


def _kill(pid: int, _: float) -> None:
    os.kill(pid, signal.SIGKILL)


def _stop(pid: int, _: float) -> None:
    os.kill(pid, signal.SIGSTOP)


def _pause(pid: int, seconds: float) -> None:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def _starve(pid: int, seconds: float) -> None:
    """Give it only the time that spinning processes leave: next to none."""
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            spinner = stack.enter_context(subprocess.Popen([sys.executable, "-c", SPIN]))
            stack.callback(spinner.kill)
        stack.enter_context(_idle_priority(pid))
        time.sleep(seconds)


@contextmanager
def _idle_priority(pid: int) -> Iterator[None]:
    """All threads of a process run when nobody else wants to."""
    before = {}
    for thread in map(int, os.listdir(f"/proc/{pid}/task")):
        with suppress(ProcessLookupError):
            before[thread] = os.sched_getscheduler(thread), os.sched_getparam(thread)
            os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
    try:
        yield
    finally:
        for thread, (policy, parameters) in before.items():
            with suppress(ProcessLookupError, PermissionError):
                os.sched_setscheduler(thread, policy, parameters)


def _fill(pid: int, _: float) -> None:
    """Let no file of a process grow any more: as a full disk does."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def _leap(pid: int, _: float) -> None:
    os.kill(pid, signal.SIGUSR2)


def _flood(port: int, seconds: float) -> None:
    """Send to a socket as fast as this process can."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        send_as_stranger(port, STRANGER_PACKETS)


_ACTS: dict[str, Callable[[int, float], None]] = {
    "kill": _kill, "stop": _stop, "pause": _pause, "starve": _starve, "fill": _fill, "clock": _leap,
}  # fmt: skip
