"""The robot's frames that wait in the tracker's socket, read without taking them away."""

from __future__ import annotations

import socket
from typing import Any, Final

SO_PEEK_OFF: Final = 42  # asm-generic/socket.h of Linux; Python does not name it
LONGEST: Final = 1024  # [bytes] of a datagram
MOST: Final = 64  # datagrams at once


class QueueView:
    """Looks at each waiting datagram once, so the tracker misses none that it can still take.

    Checksums are not looked at: what is read here can only stop a robot whose tracker hangs.
    """

    def __init__(
        self, robot: socket.socket, address: tuple[str, int], remote: dict[str, Any]
    ) -> None:
        """Look at the socket `robot` for frames from `address`.

        Args:
            robot: shared with the tracker.
            address: of the robot.
            remote: ``size`` of a state and ``at``, where its word of buttons stands [bytes];
                ``stops``, a list of bits and cause, each set of buttons that stops.
        """
        self._socket, self._address = robot, address
        self._size, self._at = remote["size"], remote["at"]
        self._stops: list[tuple[int, str]] = [tuple(stop) for stop in remote["stops"]]
        self._last = 0.0
        try:
            robot.setsockopt(socket.SOL_SOCKET, SO_PEEK_OFF, 0)
            self._peeks = True
        except OSError:
            self._peeks = False  # then the remote stops by the tracker alone

    def remote_stop(self) -> str:
        """The cause of a stop by the remote in what waits, or ""; a late tracker may go on."""
        if not self._peeks:
            return ""
        for frame in self._frames(socket.MSG_PEEK):
            bits = int.from_bytes(frame[self._at : self._at + 2], "little")
            for stop, cause in self._stops:
                if bits & stop == stop:
                    return cause
        return ""

    def take_over(self, now: float) -> None:
        """Nobody else takes the frames any more, from `now` on [s]."""
        self._last = now

    def silence(self, now: float) -> float:
        """For how long no frame has come since `take_over` [s]."""
        if self._frames(0):
            self._last = now
        return now - self._last

    def _frames(self, flags: int) -> list[bytes]:
        frames = []
        try:
            for _ in range(MOST):
                frame, sender = self._socket.recvfrom(LONGEST, flags | socket.MSG_DONTWAIT)
                if sender == self._address and len(frame) == self._size:
                    frames.append(frame)
        except OSError:
            pass  # nothing waits
        return frames
