"""The watchdog: when to damp the robot in the tracker's place.

Standard library only; cyclonedds too where the robot speaks DDS.
"""

from __future__ import annotations

import ctypes
import logging
import mmap
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, Self

from hw_bridge.states import Request, RequestWithCause

FRAME_BYTES: Final = 1024  # room for one frame; a LowCmd has up to 812


class Page(ctypes.Structure):
    """One page of shared memory without a file; each word has one writer.

    Words are written and read in one piece. A frame is written into the slot that is not in use,
    so that no reader finds half of it.

    Attributes:
        beat: when the tracker sent its last command [ns] monotonic; 0 while the motors are off.
        up: whether the robot is off the ground, or on its way there.
        latched: whether the watchdog damps the robot, and the tracker sends nothing else either;
            it never lets go again.
        released: whether the tracker has ended in order, with the robot off.
    """

    beat: int
    up: int
    latched: int
    released: int
    slot: int
    length: int
    slots: Any
    _fields_ = (
        *((word, ctypes.c_uint64)
          for word in ("beat", "up", "latched", "released", "slot", "length")),
        ("slots", ctypes.c_char * FRAME_BYTES * 2),
    )  # fmt: skip

    @classmethod
    def at(cls, fd: int) -> Self:
        """The page in the memory of the file descriptor `fd`, which stays the caller's."""
        return cls.from_buffer(mmap.mmap(fd, mmap.PAGESIZE))

    @classmethod
    def make(cls) -> tuple[Self, int]:
        """A new page, and the file descriptor to pass to the other process."""
        fd = os.memfd_create("saltus-watchdog")
        os.ftruncate(fd, mmap.PAGESIZE)
        return cls.at(fd), fd

    @property
    def frame(self) -> bytes:
        """The frame that damps; empty before the first one."""
        return self.slots[self.slot].raw[: self.length]

    @frame.setter
    def frame(self, frame: bytes) -> None:
        slot = 1 - self.slot
        self.slots[slot].raw = frame
        self.length, self.slot = len(frame), slot  # all frames are of one length


SO_PEEK_OFF: Final = 42  # asm-generic/socket.h of Linux; Python does not name it
LONGEST: Final = 2048  # [bytes] of a datagram
MOST: Final = 64  # datagrams at once


class RobotView:
    """Sends to the robot, and looks at what it says beside the tracker.

    Checksums are not looked at: what is read here can only stop a robot whose tracker hangs.
    """

    def __init__(self, remote: dict[str, Any]) -> None:
        """Look for frames as `remote` says.

        Args:
            remote: ``size`` of a state and ``at``, where its button bits stand [bytes];
                ``stops``, a list of bits and cause, each set of buttons that stops.
        """
        self._size, self._at = remote["size"], remote["at"]
        self._stops: list[tuple[int, str]] = [tuple(stop) for stop in remote["stops"]]
        self._last = 0.0

    def send(self, frame: bytes) -> bool:
        """Send a frame; False where it was not taken."""
        raise NotImplementedError

    def states(self, peek: bool) -> list[bytes]:
        """The states that wait; `peek`: the tracker still can take them, and each is seen once."""
        raise NotImplementedError

    def remote_stop(self) -> str:
        """The cause of a stop by the remote in what waits, or ""; a late tracker may go on."""
        for frame in self.states(peek=True):
            bits = int.from_bytes(frame[self._at : self._at + 2], "little")
            for stop, cause in self._stops:
                if bits & stop == stop:
                    return cause
        return ""

    def take_over(self, now: float) -> None:
        """Take the frames away from now on, `now` [s]: the tracker does not."""
        self._last = now

    def silence(self, now: float) -> float:
        """Time without a frame since `take_over` [s]."""
        if self.states(peek=False):
            self._last = now
        return now - self._last


class QueueView(RobotView):
    """The tracker's own socket; looks at each waiting datagram once."""

    def __init__(
        self, robot: socket.socket, address: tuple[str, int], remote: dict[str, Any]
    ) -> None:
        """Share the socket `robot` with the tracker; frames come from `address`, and go there."""
        super().__init__(remote)
        self._socket, self._address = robot, address
        try:
            robot.setsockopt(socket.SOL_SOCKET, SO_PEEK_OFF, 0)
            self._peeks = True
        except OSError:
            self._peeks = False  # then the remote stops by the tracker alone

    def send(self, frame: bytes) -> bool:
        """See `RobotView.send`."""
        try:
            self._socket.sendto(frame, self._address)
        except OSError:
            return False  # the next one is 2 ms away
        return True

    def states(self, peek: bool) -> list[bytes]:
        """See `RobotView.states`."""
        if peek and not self._peeks:
            return []
        flags = socket.MSG_DONTWAIT | (socket.MSG_PEEK if peek else 0)
        frames = []
        try:
            for _ in range(MOST):
                frame, sender = self._socket.recvfrom(LONGEST, flags)
                if sender == self._address and len(frame) == self._size:
                    frames.append(frame)
        except OSError:
            pass  # nothing waits
        return frames


class DdsView(RobotView):
    """A participant of its own: the tracker's may hang with it."""

    def __init__(self, domain: int, address: str, remote: dict[str, Any]) -> None:
        """Join the robot's domain, beside the tracker; silent before the first `send`.

        Raises:
            ValueError: cyclonedds or the interface is missing.
        """
        from hw_bridge.dds import topics

        super().__init__(remote)
        participant = topics.Participant(topics.Place(domain, address))
        self._commands = participant.writer("rt/lowcmd", f"{topics.GO}.LowCmd_")
        self._states = participant.reader("rt/lowstate", f"{topics.GO}.LowState_", depth=1)
        self._to, self._of = topics.command_to_cdr, topics.state_of_cdr
        self._participant = participant

    def send(self, frame: bytes) -> bool:
        """See `RobotView.send`."""
        return self._commands.send(self._to(frame))

    def states(self, peek: bool) -> list[bytes]:
        """See `RobotView.states`: the newest one, of a reader that is this process's own."""
        return [self._of(cdr) for cdr in self._states.take() if len(cdr) == self._size]


LOG = logging.getLogger(__name__)
PERIOD_S: Final = 0.002  # between two damping frames, and two looks
SILENCE_S: Final = 0.010  # without a heartbeat, after which the tracker hangs
OVERDUE_S: Final = 0.001  # without one, after which the next look comes sooner
AFTER_BEAT_S: Final = 0.0004  # from a beat to a look, which so falls between two ticks
LATE_S: Final = 0.0015  # without one, from which the remote is read here
ON_TIME: Final = 1.5  # times what was asked for between two looks: this process was not held up
HELD_UP_S: Final = 0.5 * PERIOD_S  # counted of a longer time than that
HISTORY: Final = 16  # looks that the log shows after a hang


class Watchdog:
    """Watches the heartbeat and the operator's inputs; once it damps, it goes on damping.

    Attributes:
        cause: why it damps; "" while it does not.
    """

    def __init__(
        self,
        page: Page,
        send: Callable[[bytes], object],
        inputs: Callable[[float], Iterable[RequestWithCause]],
        remote_stop: Callable[[], str],
        tell: Callable[[RequestWithCause], object],
    ) -> None:
        """Nothing has been seen.

        Args:
            page: shared with the tracker.
            send: sends a frame to the robot.
            inputs: what the operator has asked for by keys or gamepad up to now [s].
            remote_stop: the cause of a stop in frames that the tracker has not taken, or "".
            tell: passes a request on to the tracker.
        """
        self.cause = ""
        self._page, self._send, self._tell = page, send, tell
        self._inputs, self._remote_stop = inputs, remote_stop
        self._beat, self._last_look, self._silence, self._due = 0, 0.0, 0.0, PERIOD_S
        self._history = deque[tuple[float, float, float]](maxlen=HISTORY)

    def look(self, now: float) -> float:
        """Take the operator's requests, judge the heartbeat at `now` [s] monotonic, damp.

        Returns:
            Time until the next look is due [s].
        """
        for request in self._inputs(now):
            if request[0] is Request.STOP:
                self.damp(request[1])
            self._tell(request)
        silence = self._measure_silence(now)
        if silence > LATE_S and not self.cause and (cause := self._remote_stop()):
            self.damp(cause)
            self._tell((Request.STOP, cause))
        if silence >= SILENCE_S:
            self.hang(f"the tracker hung for {1e3 * silence:.0f} ms; the watchdog damps")
        if self.cause:
            self._send(self._page.frame)
        self._due = self._time_to_next(now, silence)
        return self._due

    def _time_to_next(self, now: float, silence: float) -> float:
        """Time until the next look [s]; while the tracker beats, between two of its ticks."""
        if self.cause or not self._beat:
            return PERIOD_S
        if silence > OVERDUE_S:
            return 0.5 * PERIOD_S
        return max(0.5 * PERIOD_S, PERIOD_S + AFTER_BEAT_S - (now - 1e-9 * self._beat))

    def hang(self, cause: str) -> None:
        """The tracker serves the robot no more: damp, and let it know in case it still can."""
        if not self.cause:
            self.damp(cause)
            self._tell((Request.STOP, cause))
            LOG.info("looks before it, (time, last heartbeat, silence) [ms]: %s", self._recall())

    def damp(self, cause: str) -> None:
        """Damp from now on, if there is a robot that is not off; the first frame leaves at once."""
        if self.cause or not self._page.beat:
            return
        self._page.latched = 1
        self._send(self._page.frame)
        self.cause = cause
        LOG.warning("watchdog: %s", cause)

    def _measure_silence(self, now: float) -> float:
        """Time of the tracker's silence while this process ran [s]; 0 if it may be silent.

        A look that comes late counts little: then this core stood still, and the tracker shall have
        its chance to go on as this process has. It counts something, for a machine on which every
        look is late.
        """
        beat, gap = self._page.beat, now - self._last_look
        gap = gap if gap <= ON_TIME * self._due else HELD_UP_S
        self._last_look = now
        if not beat:
            self._silence = 0.0
        elif beat != self._beat:
            self._silence = min(max(0.0, now - 1e-9 * beat), gap)
        else:
            self._silence += gap
        self._beat = beat
        self._history.append((now, 1e-9 * beat, self._silence))
        return self._silence

    def _recall(self) -> str:
        """The last looks; times count from the last one."""
        end = self._last_look
        looks = [(time - end, beat - end, silence) for time, beat, silence in self._history]
        return ", ".join(f"({1e3 * a:.1f}, {1e3 * b:.1f}, {1e3 * c:.1f})" for a, b, c in looks)
