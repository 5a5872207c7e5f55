"""The watchdog as a process of its own: what the robot gets after a harm to the tracker.

Real processes over UDP on this computer, without a robot's physics: a tracker that asks for motion
at 1 kHz, the watchdog, and a robot that stamps what arrives. As a program, with the arguments
WATCHDOG, PORT and GAMEPAD, this file is that tracker.
"""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from hw_bridge.link import UdpLink
from hw_bridge.options import LinkOptions, OperatorOptions
from hw_bridge.states import Request
from hw_bridge.watchdog.link import WatchdogLink
from hw_bridge.wire.low_command import LowCommandEncoder, damping
from hw_bridge.wire.remote import encode_remote
from runtime.clock import RealTimeClock
from saltus.configuration.launch import TICK_S, load_launch
from saltus.launch.cores import serve_ticks, watchdog_priority
from saltus.launch.supervisor import watchdog_command
from tests.a1 import A1, WIRE, state_frame

LOCALHOST = "127.0.0.1"
DAMPING = LowCommandEncoder(WIRE).encode(damping(5.0))
_MOTION = damping(5.0)._replace(q=A1.stand, kp=damping(80.0).kd)
MOTION = LowCommandEncoder(WIRE).encode(_MOTION)
STATE = state_frame(WIRE)
STATE_WITH_STOP = STATE[: WIRE.remote.start] + encode_remote(["R2"]) + STATE[WIRE.remote.stop :]
START_S, SERVED_S = 60.0, 0.1  # [s] to wait for the first command, and to go on before the harm
AFTER_S = 0.4  # [s] for which the robot listens after the harm
END_S = 5.0  # [s] that a process may take to end
LOOK_S = 1e-4  # between two looks of the robot


HARMS = {  # what is done to the tracker, see `run_trial`
    "stopped for 60 ms": {"resume_s": 0.06},
    "killed, and a log that takes nothing": {"kill": signal.SIGKILL, "has_log": False},
    "stopped, then the stop key": {"press": "key"},
    "stopped, then the remote's stop": {"press": "remote"},
    "the stop key alone": {"kill": 0, "press": "key"},
}


class Robot:
    """Answers commands with states, and keeps them."""

    def __init__(self):
        self.link = UdpLink(LinkOptions(LOCALHOST, 9, LOCALHOST, 0), hears_all=True)
        self.state = STATE
        self.commands = []

    def live(self, seconds, until_commanded=False):
        """Answer for so many seconds, or until a command has come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until_commanded and self.commands):
            for command in self.link.receive():
                self.commands.append(command)
                self.link.robot = command.sender
                self.link.send(self.state)
            time.sleep(LOOK_S)


def run_trial(kill=signal.SIGSTOP, resume_s=0.0, press="", has_log=True):
    """Start tracker and watchdog, do one harm, listen; what came, and whether the watchdog ended.

    The tracker gets the signal `kill` (0: none) and goes on after `resume_s` (0: never); then the
    operator presses a key or the remote, or "". Without a log, that of the watchdog is a full pipe.
    """
    with tempfile.TemporaryDirectory(prefix="saltus-watchdog-") as name, ExitStack() as stack:
        folder, robot = Path(name), Robot()
        stack.callback(robot.link.close)
        gamepad, at = folder / "gamepad", folder / "watchdog"
        os.mkfifo(gamepad)
        pad = os.open(gamepad, os.O_RDWR | os.O_NONBLOCK)
        stack.callback(os.close, pad)
        command = watchdog_command(at, folder / "report.json", os.getpid())
        log = subprocess.DEVNULL if has_log else _full_pipe(stack)
        watchdog = _start(command, subprocess.PIPE, stack, log)
        port = robot.link.local[1]
        program = [sys.executable, __file__, str(at), str(port), str(gamepad)]
        tracker = _start(program, subprocess.DEVNULL, stack)
        robot.live(START_S, until_commanded=True)
        robot.live(SERVED_S)
        assert robot.commands and robot.commands[-1].data == MOTION  # the tracker has started
        robot.commands.clear()
        if kill:
            tracker.send_signal(kill)
        if press == "key":
            os.write(watchdog.stdin.fileno(), b" ")
        elif press == "remote":
            robot.state = STATE_WITH_STOP
            robot.link.send(robot.state)
        robot.live(resume_s)
        if resume_s:
            tracker.send_signal(signal.SIGCONT)
        robot.live(AFTER_S - resume_s)
        heard = [command.data for command in robot.commands]
        tracker.kill()
        robot.link.close()
        return heard, watchdog.wait(END_S) == 0


def _full_pipe(stack):
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


def _start(command, stdin, stack, log=subprocess.DEVNULL):
    """A process that is killed at the end."""
    process = subprocess.Popen(command, stdin=stdin, stderr=log)
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def track(arguments):
    """Serve until killed; damp after a stop, as the bridge does."""
    at, port, gamepad = arguments
    config = load_launch("a1-emulated")
    serve_ticks(config, "tracker")
    robot = LinkOptions(LOCALHOST, int(port), LOCALHOST, 0)
    options = OperatorOptions(gamepad=gamepad, silence_s=10.0)
    link, clock, stopped = UdpLink(robot), RealTimeClock(TICK_S), False
    watchdog = WatchdogLink(Path(at), link, WIRE, options, watchdog_priority(config))
    watchdog.set_frame(DAMPING)
    watchdog.begin(clock.now())
    while True:
        clock.wait_tick()
        link.receive()
        stopped |= watchdog.latched
        link.send(DAMPING if stopped else MOTION)
        watchdog.beat(True)
        asked = watchdog.poll(clock.now(), True)
        stopped |= any(request is Request.STOP for request, _ in asked)


@pytest.mark.realtime
@pytest.mark.parametrize("harm", HARMS)
def test_the_robot_is_damped_for_good_whatever_becomes_of_the_tracker(harm):
    heard, ended = run_trial(**HARMS[harm])
    after = heard[heard.index(DAMPING) :]
    assert len(after) > 20 and set(after) == {DAMPING}
    assert ended  # once the robot has gone


if __name__ == "__main__":
    track(sys.argv[1:])
