"""The watchdog's process: ``python -I -S hw_bridge/watchdog SOCKET REPORT PARENT``.

It waits for the tracker, takes over socket, shared page and the operator's inputs, and looks every
2 ms, or when a key comes. It ends with the tracker. Where the tracker has died or hangs, it ends
once the robot has been silent for a second: the robot is off then, or the cable out. SIGINT makes
it let go of the robot.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # isolated Python looks nowhere else

from hw_bridge.black_box.pipe import PipeWriter  # noqa: E402
from hw_bridge.operator.operator import Inputs  # noqa: E402
from hw_bridge.watchdog.watchdog import (  # noqa: E402
    PERIOD_S,
    DdsView,
    Page,
    QueueView,
    RobotView,
    Watchdog,
)
from runtime.background_log import log_in_background  # noqa: E402
from runtime.exit import exit_at_once, write_report  # noqa: E402
from runtime.realtime import request_realtime, set_cpu_affinity  # noqa: E402

LOG = logging.getLogger("watchdog")
OFF_S: Final = 1.0  # without a frame from the robot, after which it counts as off
WAIT_S: Final = 0.2  # between two looks whether the parent lives, before the tracker connects
LARGEST: Final = 65536  # [bytes] of the tracker's first message
STANDARD_INPUT: Final = 0


class Process:
    """One run of the watchdog, from the tracker's connection on."""

    def __init__(self, channel: socket.socket, report: Path) -> None:
        """Take over what the tracker passes through `channel`; then ask for real time."""
        data, descriptors, _, _ = socket.recv_fds(channel, LARGEST, 2)
        setup: dict[str, Any] = json.loads(data)
        self._channel, self._report = channel, report
        self._page = Page.at(descriptors[0])
        self._black_box = PipeWriter(setup["black_box"])
        self._robot: RobotView
        if setup["dds"]:
            sys.path.append(setup["packages"])
            domain, address = setup["dds"]
            self._robot = DdsView(domain, address, setup["remote"])
        else:
            channel_to_robot = socket.socket(fileno=descriptors[1])
            self._robot = QueueView(channel_to_robot, tuple(setup["robot"]), setup["remote"])
        self._inputs = Inputs(
            setup["operator"], STANDARD_INPUT, lambda keys: self._pass_on(("keys", keys))
        )
        self._watchdog = Watchdog(
            self._page,
            self._send,
            lambda now: self._inputs.poll(now, bool(self._page.up)),
            self._robot.remote_stop,
            self._pass_on,
        )
        self.lets_go = self._is_alone = self._is_noted = False
        self.looks = self.frames = self.errors = 0
        self._status = request_realtime(setup["priority"])
        self._refusal = set_cpu_affinity(setup["cores"])
        channel.setblocking(False)
        channel.send(b'["ready", ""]')

    def run(self) -> None:
        """Look until the tracker has ended, or until the robot that is damped is off."""
        LOG.info("scheduler %s, memory locked: %s %s", *vars(self._status).values())
        if self._refusal:
            LOG.warning("%s", self._refusal)
        due = time.monotonic()
        while not (self.lets_go or self._is_over()):
            now = time.monotonic()
            wait_s = self._look(now)
            if self._watchdog.cause and not self._is_noted:
                self._is_noted = True  # a disk must not hold the frames up
                threading.Thread(target=self.write_report, daemon=True).start()
            due = max(due + wait_s, now)
            self._wait(due)

    def _look(self, now: float) -> float:
        """One look; an error in it, such as a device's, must not end the watch."""
        self.looks += 1
        try:
            return self._watchdog.look(now)
        except Exception:
            self.errors += 1
            if self.errors == 1:
                LOG.exception("an error; watching on")
            return PERIOD_S

    def write_report(self) -> None:
        """Write cause and counts where the launch looks for them."""
        words = {"cause": self._watchdog.cause, "looks": self.looks, "frames": self.frames}
        words["errors"] = self.errors
        write_report(self._report, words)

    def _is_over(self) -> bool:
        if not self._is_alone:
            return False
        if self._page.released or not self._watchdog.cause:
            return True
        return self._robot.silence(time.monotonic()) > OFF_S

    def _wait(self, due: float) -> None:
        """Until `due` [s], or until the tracker ends or the operator does something."""
        sources = self._inputs.sources if self._is_alone else [self._channel, *self._inputs.sources]
        wait_s = max(0.0, due - time.monotonic())
        try:
            ready = select.select(sources, [], [], wait_s)[0]
        except (OSError, ValueError):  # of a closed file: the watch goes on
            time.sleep(wait_s)
            return
        if self._channel in ready:
            self._hear()

    def _hear(self) -> None:
        """Read pending messages: the robot is there, or the tracker has ended."""
        try:
            word = self._channel.recv(LARGEST)
        except OSError:
            word = b""
        if word:
            self._inputs.begin(time.monotonic())
            self._pass_on(("begun", ""))
            return
        self._is_alone = True
        self._robot.take_over(time.monotonic())
        if not self._page.released:
            self._watchdog.hang("the tracker died; the watchdog damps")

    def _send(self, frame: bytes) -> None:
        self.frames += 1
        if self._robot.send(frame):
            self._black_box.write("by_watchdog", frame, time.monotonic())

    def _pass_on(self, words: tuple[str, str]) -> None:
        try:
            self._channel.send(json.dumps(words).encode())
        except OSError:
            pass  # a tracker that hangs or has died takes nothing any more


def _accept(path: str, parent: int) -> socket.socket | None:
    """The tracker's connection; None once the parent has gone."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen(1)
        listener.settimeout(WAIT_S)
        while os.getppid() == parent:
            try:
                return listener.accept()[0]
            except TimeoutError:
                continue
    return None


def main(arguments: list[str]) -> int:
    """Run it; exit status 0 when it ended with the tracker, or with the robot."""
    path, report, parent = arguments
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    channel = _accept(path, int(parent))
    if channel is None:
        return 0
    process = Process(channel, Path(report))

    def let_go(*_: object) -> None:
        process.lets_go = True

    gc.disable()  # nothing here makes cycles, and nothing shall hold a look up
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends with the tracker
    signal.signal(signal.SIGINT, let_go)
    with log_in_background():
        process.run()
        process.write_report()
    return 0


if __name__ == "__main__":
    exit_at_once(main(sys.argv[1:]))
