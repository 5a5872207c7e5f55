"""The processes of a launch: which there are, started, watched, stopped in order."""

import math
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from hw_bridge import black_box, watchdog
from saltus.common.processes import Child, describe_exit
from saltus.configuration.launch import LaunchConfig

POLL_S = 0.02
SAY_S = 2.0  # of waiting, after which the reason is printed


class Death(NamedTuple):
    """A process that ended without a request, or did not end at one.

    Attributes:
        name: of the process.
        cause: exit status or signal, and the last line that it logged.
        fatal: the launch cannot go on without it.
        hung: it did not end when asked, and was killed.
    """

    name: str
    cause: str
    fatal: bool
    hung: bool = False


@dataclass
class Supervisor:
    """Runs a set of processes and leaves none behind.

    Used as a context manager: leaving it, for whatever reason, stops what still runs.

    Attributes:
        children: the processes, in the order in which they are started; stopped in this order too.
        finishing: the process whose end with status 0 is the end of the launch.
        expendable: processes whose death the launch survives.
        lasting: processes that end by themselves after all others, in this order, and how long
            each may take [s]: a watchdog may hold a robot for ever. Ctrl-C makes them end; after
            the end of the launch none takes longer than others.
        grace_s: time that each has to end after SIGTERM, before SIGKILL [s].
        report: takes one line for each thing worth telling.
        interrupts: how often the user has asked to end.
    """

    children: Sequence[Child]
    finishing: str
    expendable: frozenset[str] = frozenset()
    lasting: Mapping[str, float] = field(default_factory=dict)
    grace_s: float = 5.0
    report: Callable[[str], None] = lambda _line: None
    interrupts: Callable[[], int] = lambda: 0

    def __post_init__(self) -> None:
        self.deaths: list[Death] = []
        self.is_finished = False
        self._running: list[Child] = []
        self._dismissed: set[str] = set()

    def child(self, name: str) -> Child:
        """The process of this name."""
        return next(child for child in self.children if child.name == name)

    def start(self) -> None:
        """Start every process."""
        for child in self.children:
            self._running.append(child)
            child.start()

    def watch(self) -> list[Death]:
        """Look once at every process, without waiting, and return those that died since."""
        deaths = []
        for child in list(self._running):
            status = child.status
            if status is None:
                continue
            self._running.remove(child)
            if child.name == self.finishing and status == 0:
                self.is_finished = True
            ends_alone = child.name in (self.finishing, *self._dismissed, *self.lasting)
            if ends_alone and status == 0:
                continue
            deaths.append(self._mourn(child, status))
        # A process that ends because the finishing one has gone is no death of its own.
        return deaths

    def dismiss(self, name: str) -> None:
        """Ask one process to end before the others; that it does is no death."""
        if name not in self._dismissed:
            self._dismissed.add(name)
            self.child(name).signal(signal.SIGTERM)

    @property
    def has_fatal_death(self) -> bool:
        """True once a process died that the launch cannot go on without."""
        return any(death.fatal for death in self.deaths)

    def stop(self) -> None:
        """Stop what still runs, in order; those that ignore SIGTERM are killed.

        After the end of the launch the order does not matter: all get the signal at once.
        """
        if self.is_finished:
            for child in self._running:
                child.signal(signal.SIGTERM)
        last = list(self.lasting)
        self._running.sort(key=lambda c: last.index(c.name) if c.name in last else -1)
        while self._running:
            child = self._running.pop(0)
            if child.name in self.lasting and not self.is_finished:
                self._outlast(child, self.lasting[child.name])
            if not child.stop(self.grace_s):
                cause = f"it did not end within {self.grace_s:g} s and was killed"
                self.deaths.append(Death(child.name, cause, False, hung=True))
                self.report(f"{child.name} hung: {cause}")

    def _outlast(self, child: Child, longest_s: float) -> None:
        """Wait for a lasting process, unless the user does not want to."""
        child.signal(signal.SIGTERM)
        begun, interrupts, said = time.monotonic(), self.interrupts(), False
        while child.status is None and time.monotonic() - begun < longest_s:
            if not said and math.isinf(longest_s) and time.monotonic() - begun > SAY_S:
                said = True
                self.report(
                    f"the {child.name} damps the robot until it is switched off; Ctrl-C lets go"
                )
            if self.interrupts() != interrupts:
                child.signal(signal.SIGINT)
                return
            time.sleep(POLL_S)

    def _mourn(self, child: Child, status: int) -> Death:
        # The log of a process that is killed from outside does not explain it.
        words = "" if status == -signal.SIGKILL else child.last_words()
        cause = describe_exit(status) + (f": {words}" if words else "")
        death = Death(child.name, cause, child.name not in self.expendable)
        self.deaths.append(death)
        after = "stopping the others" if death.fatal else "the others go on"
        self.report(f"{child.name} died ({cause}); {after}")
        return death

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


WATCHDOG = "watchdog"  # of a robot; reads the operator's keyboard
BLACK_BOX = "black_box"  # of a robot; keeps its frames, and ends after all that write to it
LASTING = {WATCHDOG: math.inf, BLACK_BOX: 5.0}  # end by themselves, after all others
GRACE_S = 5.0  # of processes that only have to write their report
REPORT_S = 4.0  # beyond what a robot's motions may take, for its report [s]


def watchdog_socket(sockets: Path) -> Path:
    """Path of the watchdog's socket, in the folder of a launch's sockets."""
    return sockets / WATCHDOG


def watchdog_command(at: Path, report: Path, parent: int) -> list[str]:
    """The watchdog's program, which neither loads nor depends on what is installed.

    Args:
        at: where it listens for the tracker.
        report: where it writes its report.
        parent: process id, without which it does not wait for a tracker.
    """
    program = watchdog.__path__[0]
    return [sys.executable, "-I", "-S", program, str(at), str(report), str(parent)]


def black_box_pipe(sockets: Path) -> Path:
    """Path of the pipe for frames of tracker and watchdog, in the folder of a launch's sockets."""
    return sockets / BLACK_BOX


def black_box_folder(config: LaunchConfig, run: Path) -> Path:
    """The ring of the black box, of a launch whose own folder is `run`."""
    if (folder := config.hardware.black_box.folder) is not None:
        return Path(folder)
    return run / BLACK_BOX if config.kind.emulated else Path("runs") / BLACK_BOX


def black_box_command(
    config: LaunchConfig, sockets: Path, run: Path, report: Path, parent: int
) -> list[str]:
    """The black box's program.

    Args:
        config: of the launch.
        sockets: folder of the launch's sockets, with the pipe.
        run: folder of the launch, with its logs and reports.
        report: where it writes its report.
        parent: process id, without which it does not wait for a tracker.
    """
    folder, size_mb = black_box_folder(config, run), config.hardware.black_box.size_mb
    words = (black_box_pipe(sockets), folder, size_mb, run, report, parent)
    return [sys.executable, "-m", black_box.__name__, *map(str, words)]


def grace_s(config: LaunchConfig) -> float:
    """Time that each process has to end once it is asked to [s].

    A real robot may take it from any motion to lying, and then to silence.
    """
    if not config.kind.bridged:
        return GRACE_S
    motion = config.hardware.motion
    ending = motion.end_timeout_s + motion.sit_down_timeout_s + motion.damping_timeout_s
    return ending + REPORT_S


LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A UDP port of loopback that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]
