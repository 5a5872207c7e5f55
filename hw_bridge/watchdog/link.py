"""The tracker's end of the watchdog."""

import json
import os
import socket
import sysconfig
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from hw_bridge.dds.link import DdsLink
from hw_bridge.link import UdpLink
from hw_bridge.operator.operator import stop_cause
from hw_bridge.options import OperatorOptions
from hw_bridge.states import Request, RequestWithCause
from hw_bridge.watchdog.watchdog import Page
from hw_bridge.wire.layout import Wire
from hw_bridge.wire.remote import BUTTONS, BUTTONS_AT

CONNECT_S: Final = 20.0  # for which the watchdog may take to start
RETRY_S: Final = 0.02
LONGEST: Final = 4096  # [bytes] of a message
MOST: Final = 32  # messages taken at once


class WatchdogLink:
    """Beats while the tracker serves the robot, and takes what the operator asks for."""

    def __init__(
        self, path: Path, link: UdpLink | DdsLink, wire: Wire, options: OperatorOptions,
        priority: int | None, other_keys: Callable[[str], None] | None = None,
        black_box: Path | None = None,
    ) -> None:  # fmt: skip
        """Wait for the watchdog that listens at `path`, and pass it what it needs.

        Args:
            path: of its socket.
            link: to the robot; the watchdog sends through the same UDP socket, or joins the same
                domain of DDS.
            wire: of the robot.
            options: of the operator's inputs.
            priority: of its real time; None: it asks for none.
            other_keys: takes the keys that are no requests.
            black_box: the pipe for the frames that it sends; None: none.

        Raises:
            ValueError: there is no watchdog, or it cannot have the gamepad.
        """
        self._lost, self._other_keys, self._begun = False, other_keys, False
        self._page, descriptor = Page.make()
        self._channel = _connect(path)
        setup = {
            "robot": link.robot, "operator": msgspec.to_builtins(options), "priority": priority,
            "cores": sorted(os.sched_getaffinity(0)), "remote": _remote(wire, options),
            "black_box": str(black_box or ""), "dds": None,
        }  # fmt: skip
        shared = [descriptor]
        if isinstance(link, UdpLink):
            shared.append(link.fileno())
        else:
            setup |= {"dds": link.place, "packages": sysconfig.get_path("platlib")}
        socket.send_fds(self._channel, [json.dumps(setup).encode()], shared)
        os.close(descriptor)
        self._channel.settimeout(CONNECT_S)
        try:
            ready = self._channel.recv(LONGEST)
        except OSError:
            ready = b""
        if not ready:
            raise ValueError("the watchdog did not start; see its log")
        self._channel.setblocking(False)

    @property
    def latched(self) -> bool:
        """Whether the watchdog damps the robot: nothing but damping may be sent any more."""
        return bool(self._page.latched)

    def set_frame(self, frame: bytes) -> None:
        """Have it send `frame` when it damps."""
        self._page.frame = frame

    def beat(self, is_on: bool) -> None:
        """The tracker has served the robot just now; whether its motors are on."""
        self._page.beat = time.monotonic_ns() if is_on else 0

    def begin(self, now: float) -> None:
        """The robot is there: see `Inputs.begin`, which the watchdog calls. Never raises."""
        try:
            self._channel.send(b"begin")
        except OSError:
            pass  # the next poll tells that it has died

    def poll(self, now: float, up: bool) -> list[RequestWithCause]:
        """The operator's requests, see `Inputs.poll`; before `begin` only a stop counts."""
        self._page.up = up
        asked: list[RequestWithCause] = []
        for _ in range(MOST):
            try:
                data = self._channel.recv(LONGEST)
            except BlockingIOError:
                return asked
            except OSError:
                data = b""
            if not data:
                was_lost, self._lost = self._lost, True
                return asked if was_lost else [*asked, (Request.END, "the watchdog died")]
            kind, words = json.loads(data)
            if kind == "begun":
                self._begun = True
            elif kind == "keys":
                if self._begun and self._other_keys is not None:
                    self._other_keys(words)
            elif self._begun or kind == Request.STOP:
                asked.append((Request(kind), words))
        return asked

    def close(self, is_off: bool) -> None:
        """End the watchdog where the robot is off; else it damps the robot. Safe to call twice."""
        if is_off:
            self._page.beat, self._page.released = 0, 1
        self._channel.close()


def _connect(path: Path) -> socket.socket:
    """The watchdog's socket, once it listens.

    Raises:
        ValueError: it does not.
    """
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    end = time.monotonic() + CONNECT_S
    while True:
        try:
            channel.connect(str(path))
            return channel
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > end:
                channel.close()
                raise ValueError("no watchdog came; see its log") from None
            time.sleep(RETRY_S)


def _remote(wire: Wire, options: OperatorOptions) -> Mapping[str, Any]:
    """Place of the remote's buttons in the robot's frames, and those that stop."""
    stops = [
        (sum(1 << BUTTONS.index(button) for button in together), stop_cause(together))
        for together in options.remote_stop
    ]
    return {
        "size": wire.state.itemsize, "at": wire.remote.start + BUTTONS_AT, "stops": stops,
    }  # fmt: skip
