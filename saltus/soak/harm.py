"""Harm to the processes of a launch, from outside: killed, stopped, starved, flooded."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple, Self

from hw_bridge.wire.frame import seal
from hw_bridge.wire.layout import WIRES

BURST = 20  # frames of each kind, between two looks at the clock
SPIN = "while True: pass"
LOOPBACK = "127.0.0.1"


class Harm(NamedTuple):
    """Harm to processes.

    Attributes:
        kind: of `ACTS`, or ``flood``.
        victims: names of processes.
        seconds: for which it lasts, where it does not last for ever.
        at: when it is done [s].
    """

    kind: str
    victims: tuple[str, ...] = ()
    seconds: float = 0.0
    at: float = 0.0

    @classmethod
    def read(cls, text: str) -> Self:
        """Read ``KIND [SECONDS] VICTIM…``."""
        kind, *words = text.split()
        seconds = float(words.pop(0)) if words and words[0][0].isdigit() else 0.0
        return cls(kind, tuple(words), seconds)


def do(harm: Harm, pids: Mapping[str, int], ports: Mapping[str, int]) -> None:
    """Do harm; returns when what does not last for ever is over.

    Args:
        harm: what is done.
        pids: process ids by name; a victim without one has ended, and is left out.
        ports: UDP ports of loopback by the name of the process that has them.
    """
    if harm.kind == "flood":
        flood(ports[harm.victims[0]], harm.seconds)
    else:
        ACTS[harm.kind]([pids[name] for name in harm.victims if name in pids], harm.seconds)


def flood(port: int, seconds: float) -> None:
    """Send whole frames, cut ones, empty ones and noise to a bridge as fast as possible."""
    states = [seal(bytearray(wire.state.itemsize)) for wire in WIRES.values()]
    end = time.monotonic() + seconds
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        while True:
            for frame in (*states, states[0][:-1], b"", os.urandom(len(states[0]))) * BURST:
                stranger.sendto(frame, (LOOPBACK, port))
            if time.monotonic() >= end:
                return


def _send(number: int, pids: Sequence[int]) -> None:
    for pid in pids:
        assert pid > 0  # others stand for groups of processes
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _pause(pids: Sequence[int], seconds: float) -> None:
    _send(signal.SIGSTOP, pids)
    try:
        time.sleep(seconds)
    finally:
        _send(signal.SIGCONT, pids)


def _starve(pids: Sequence[int], seconds: float) -> None:
    """Give them only the time that spinning processes leave: next to none."""
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            spinner = stack.enter_context(subprocess.Popen([sys.executable, "-c", SPIN]))
            stack.callback(spinner.kill)
        for pid in pids:
            stack.enter_context(_idle_priority(pid))
        time.sleep(seconds)


@contextmanager
def _idle_priority(pid: int) -> Iterator[None]:
    """All threads of a process run only where no other is ready."""
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


def _fill(pids: Sequence[int], _: float) -> None:
    """Let no file of a process grow any more: as a full disk does."""
    for pid in pids:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


ACTS: dict[str, Callable[[Sequence[int], float], None]] = {
    "kill": lambda pids, _: _send(signal.SIGKILL, pids),
    "stop": lambda pids, _: _send(signal.SIGSTOP, pids),  # for ever
    "pause": _pause, "starve": _starve, "fill": _fill,
    # Both need a handler in the process: the clock leaps, or a thread keeps Python's lock.
    "clock": lambda pids, _: _send(signal.SIGUSR2, pids),
    "hog": lambda pids, _: _send(signal.SIGUSR2, pids),
}  # fmt: skip
