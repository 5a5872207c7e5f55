"""Child processes, the processor that they share, and threads."""

import ctypes
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from saltus import __version__

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_KILL_WAIT_S = 5.0
_CODE = "SALTUS_CODE"  # a variable of the environment: the launcher's code
CODE = f"{__version__} in {Path(__file__).parents[2]}"

PEER_GONE = signal.SIGUSR1
"""Tells the tracker that the planner has died, or, on a robot, the planner or the estimator.

Lock step must not wait for its plans any more; a robot is to sit down.
"""


def refuse_other_code() -> None:
    """Exit where the launcher runs another code than this process."""
    if (launcher := os.environ.get(_CODE, CODE)) != CODE:
        sys.exit(
            f"the launcher is Saltus {launcher}, this process would be {CODE}: install the first "
            "(pip install --editable FOLDER), or call the `saltus` of the second"
        )


def die_with_parent(parent: int) -> None:
    """Ask the kernel to end this process (SIGTERM) when its parent ends, even by SIGKILL.

    Args:
        parent: process id of the parent; when it has gone already, this process exits at once.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("the supervisor has gone")


@dataclass
class Child:
    """One running process of a launch, its output in a log file.

    Attributes:
        name: how messages call it.
        command: program and arguments.
        log: file that takes its standard output and error.
        listens: whether it reads this process's standard input.
    """

    name: str
    command: Sequence[str]
    log: Path
    listens: bool = False
    _process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    def start(self) -> None:
        """Start it. Its own session keeps a terminal's Ctrl-C away: the supervisor decides."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            # Where standard input is closed, its number would become some other file in the child,
            # and what that says, keys.
            listens = self.listens and sys.stdin is not None
            self._process = subprocess.Popen(
                self.command,
                stdin=None if listens else subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                # It imports nothing from the current folder.
                env=os.environ | {"PYTHONSAFEPATH": "1", _CODE: CODE},
            )

    @property
    def pid(self) -> int:
        """Process id, 0 before the start."""
        return self._process.pid if self._process else 0

    @property
    def status(self) -> int | None:
        """Exit status (minus the signal's number when killed), None while it runs."""
        return self._process.poll() if self._process else 0

    def signal(self, number: int) -> None:
        """Send it a signal while it runs."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(number)

    def stop(self, grace_s: float) -> bool:
        """Ask it to end (SIGTERM), wait ``grace_s``, then kill it; False when it had to be."""
        if self._process is None or self._process.poll() is not None:
            return True
        self._process.terminate()
        try:
            self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_KILL_WAIT_S)
            return False
        return True

    def last_words(self) -> str:
        """Last line of its log, empty when there is none."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[-1] if lines else ""


def describe_exit(status: int) -> str:
    """Say in words how a process ended: ``exit status 1``, ``killed by SIGKILL``."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def stolen_s() -> float:
    """Time for which the host of a virtual machine has kept its cores back, all together [s].

    Since the machine started; 0 where Linux does not say so.
    """
    try:
        ticks = int(Path("/proc/stat").read_text().split(maxsplit=9)[8])
    except (OSError, ValueError, IndexError):
        return 0.0
    return ticks / os.sysconf("SC_CLK_TCK")


def processor_name() -> str:
    """The processor's model."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
