"""One tracker, its watchdog and a robot; one harm; and what the robot gets."""

import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from hw_bridge.link import Datagram, UdpLink
from hw_bridge.options import LinkOptions
from saltus.bench.watchdog.frames import DAMPING, LOCALHOST, MOTION, STATE, STATE_WITH_STOP
from saltus.launch.process_table import watchdog_command

START_S, SERVED_S = 60.0, 0.1  # [s] to wait for the first command, and to go on before the harm
AFTER_S = 0.4  # [s] for which the robot listens after the harm
END_S = 5.0  # [s] that a process may take to end
LOOK_S = 1e-4  # between two looks of the robot
GAMEPAD_STOP = struct.pack("<IhBB", 0, 1, 1, 1)  # linux/joystick.h: time, value, button, number


class Harm(NamedTuple):
    """What is done to the tracker.

    Attributes:
        name: of the harm.
        signal: that the tracker gets; 0: none.
        resume_s: after which it goes on [s]; 0: never.
        press: what the operator presses right afterwards: key, gamepad, remote or "".
        has_log: whether the watchdog's log takes lines; else it is a full pipe.
    """

    name: str
    signal: int = signal.SIGSTOP
    resume_s: float = 0.0
    press: str = ""
    has_log: bool = True


class Outcome(NamedTuple):
    """What a harm led to.

    Attributes:
        damped_s: from the harm to the first damping frame [s]; NaN without one.
        motion_after: frames after it that ask for motion.
        damping: frames after it that damp.
        ended: the watchdog ended by itself once the robot was silent.
    """

    damped_s: float
    motion_after: int
    damping: int
    ended: bool


class Robot:
    """Answers commands with states, and keeps them."""

    def __init__(self) -> None:
        self.link = UdpLink(LinkOptions(LOCALHOST, 9, LOCALHOST, 0), hears_all=True)
        self.state = STATE
        self.commands: list[Datagram] = []

    def live(self, seconds: float, until_commanded: bool = False) -> None:
        """Answer for so many seconds, or until a command has come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until_commanded and self.commands):
            for command in self.link.receive():
                self.commands.append(command)
                self.link.robot = command.sender
                self.link.send(self.state)
            time.sleep(LOOK_S)


def run_trial(harm: Harm) -> Outcome:
    """Start tracker and watchdog, do one harm, listen.

    Raises:
        RuntimeError: no command came.
    """
    with tempfile.TemporaryDirectory(prefix="saltus-watchdog-") as name, ExitStack() as stack:
        folder, robot = Path(name), Robot()
        stack.callback(robot.link.close)
        gamepad, at = folder / "gamepad", folder / "watchdog"
        os.mkfifo(gamepad)
        pad = os.open(gamepad, os.O_RDWR | os.O_NONBLOCK)
        stack.callback(os.close, pad)
        command = watchdog_command(at, folder / "report.json", os.getpid())
        log = subprocess.DEVNULL if harm.has_log else _full_pipe(stack)
        watchdog = _start(command, subprocess.PIPE, stack, log)
        port = robot.link.local[1]
        program = [sys.executable, "-m", "saltus.bench.watchdog.tracker"]
        tracker = _start([*program, str(at), str(port), str(gamepad)], subprocess.DEVNULL, stack)
        robot.live(START_S, until_commanded=True)
        robot.live(SERVED_S)
        if not robot.commands or robot.commands[-1].data != MOTION:
            raise RuntimeError("the tracker of the bench did not start")
        robot.commands.clear()
        begun = time.monotonic()
        if harm.signal:
            tracker.send_signal(harm.signal)
        _press(harm.press, robot, watchdog, pad)
        robot.live(harm.resume_s)
        if harm.resume_s:
            tracker.send_signal(signal.SIGCONT)
        robot.live(AFTER_S - harm.resume_s)
        heard = list(robot.commands)
        tracker.kill()
        robot.link.close()
        return _outcome(heard, begun, _ends(watchdog))


def _press(what: str, robot: Robot, watchdog: subprocess.Popen[bytes], pad: int) -> None:
    """Do as the operator does."""
    if what == "key":
        assert watchdog.stdin is not None
        os.write(watchdog.stdin.fileno(), b" ")
    elif what == "gamepad":
        os.write(pad, GAMEPAD_STOP)
    elif what == "remote":
        robot.state = STATE_WITH_STOP
        robot.link.send(robot.state)


def _outcome(heard: Sequence[Datagram], begun: float, ended: bool) -> Outcome:
    first = next((k for k, one in enumerate(heard) if one.data == DAMPING), None)
    if first is None:
        return Outcome(float("nan"), len(heard), 0, ended)
    after = [one.data for one in heard[first:]]
    return Outcome(
        heard[first].arrival - begun, sum(data != DAMPING for data in after),
        sum(data == DAMPING for data in after), ended,
    )  # fmt: skip


def _full_pipe(stack: ExitStack) -> int:
    """A pipe that nobody reads and that takes nothing more."""
    reads, writes = os.pipe()
    stack.callback(os.close, reads)
    stack.callback(os.close, writes)
    os.set_blocking(writes, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writes, bytes(select.PIPE_BUF))
    os.set_blocking(writes, True)
    return writes


def _start(
    command: Sequence[str], stdin: int, stack: ExitStack, log: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """A process that is killed at the end."""
    process = subprocess.Popen(command, stdin=stdin, stderr=log)
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def _ends(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process ends by itself."""
    try:
        return process.wait(END_S) == 0
    except subprocess.TimeoutExpired:
        return False
