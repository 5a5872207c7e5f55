"""UDP to the robot and back: what comes in is stamped by the kernel, and nothing blocks or raises.

The socket is connected to the robot: the kernel drops what others send to its port, which costs the
loop nothing. What came before the connection is for `Intake` to refuse.
"""

import ctypes
import errno
import logging
import select
import socket
import struct
import time
from typing import Final, Protocol

import msgspec

from hw_bridge.options import LinkOptions

__all__ = ["Datagram", "Link", "LinkOptions", "UdpLink"]

LOG = logging.getLogger(__name__)
MOST_AT_ONCE: Final = 256  # datagrams taken in one call, so that a flood cannot hold the loop up
LONGEST: Final = 2048  # [bytes] kept of one; no frame is that long, so a cut one is not taken
_SOL_SOCKET: Final = int(socket.SOL_SOCKET)
SO_TIMESTAMPNS: Final = 35  # asm-generic/socket.h of Linux; Python 3.11 does not name it
BATCH: Final = 16  # datagrams that one system call takes
_STAMP: Final = struct.Struct("@Niill")  # cmsghdr, and timespec: seconds, nanoseconds
_ANCILLARY: Final = _STAMP.size
_recvmmsg = ctypes.CDLL(None, use_errno=True).recvmmsg
_recvmmsg.argtypes = (
    ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_void_p,
)  # fmt: skip
_REASONS: Final = {
    errno.EADDRINUSE: "another program has it: only one may drive the robot at a time",
    errno.EADDRNOTAVAIL: "no interface of this machine has this address; see `ip address`",
    errno.EACCES: "ports below 1024 are for root",
}


class Datagram(msgspec.Struct, frozen=True, gc=False):
    """What one sender sent."""

    data: bytes
    sender: tuple[str, int]  # address, port
    arrival: float  # at this machine's kernel, on the monotonic clock [s]


class Link(Protocol):
    """The way to the robot and back. No method raises or blocks."""

    def send(self, frame: bytes) -> bool:
        """Send to the robot; False when that failed."""
        ...

    def receive(self) -> list[Datagram]:
        """Read the pending datagrams, in order of arrival, at most 256."""
        ...

    def close(self) -> None:
        """Let go of the socket; safe to call twice."""
        ...


class UdpLink:
    """A UDP socket bound to one address, and connected to the robot.

    Attributes:
        local: address and port that it listens on.
        robot: address and port that it sends to.
        send_errors: frames that the kernel did not take; the first is one log line.
    """

    def __init__(self, options: LinkOptions | None = None, hears_all: bool = False) -> None:
        """Open, bind and connect the socket.

        Args:
            options: where it listens, and where the robot is.
            hears_all: take the datagrams of all senders, to say which there are.

        Raises:
            ValueError: no address faces the robot, or the address or port cannot be had.
        """
        options = options or LinkOptions()
        self.robot = options.robot
        self.send_errors = 0
        self._socket, self._buffer = _bound(options.local), _DatagramBuffer()
        self.local: tuple[str, int] = self._socket.getsockname()
        if not hears_all:
            _connect(self._socket, self.robot)
        self._earliest = time.monotonic()  # what comes next did not arrive before [s]

    def send(self, frame: bytes) -> bool:
        """Send a frame to the robot; False, and counted, when the kernel does not take it."""
        try:
            try:
                self._socket.sendto(frame, self.robot)
            except ConnectionRefusedError:  # said of an earlier frame; this one was not sent
                self._socket.sendto(frame, self.robot)
        except OSError as error:
            self.send_errors += 1
            if self.send_errors == 1:
                LOG.warning("link: cannot send to %s port %d: %s", *self.robot, error.strerror)
            return False
        return True

    @property
    def receive_errors(self) -> int:
        """Errors while receiving, other than that nothing was there."""
        return self._buffer.errors

    def fileno(self) -> int:
        """The socket, to be shared with the watchdog."""
        return self._socket.fileno()

    def wait(self, timeout_s: float) -> bool:
        """Wait until a datagram is there, at most for `timeout_s` [s]; whether there is one."""
        try:
            return bool(select.select([self._socket], [], [], timeout_s)[0])
        except (OSError, ValueError):  # it is closed
            return False

    def receive(self) -> list[Datagram]:
        """Read the pending datagrams, in order of arrival, at most 256.

        Longer ones than 2048 bytes are cut. Arrivals are the kernel's stamps (SO_TIMESTAMPNS),
        carried over to the monotonic clock, at the latest the time of this call; where it gives
        none, that time. They never go back.
        """
        received: list[Datagram] = []
        channel, n = self._socket.fileno(), BATCH
        while n == BATCH and len(received) < MOST_AT_ONCE:
            before, now = len(received), time.monotonic()
            self._buffer.receive(channel, received, now, self._earliest)
            n = len(received) - before
            if n:
                self._earliest = received[-1].arrival
            if n < BATCH:
                self._earliest = max(now, self._earliest)
        return received

    def close(self) -> None:
        """Close the socket; safe to call twice. Afterwards nothing is sent or received."""
        self._socket.close()


class _DatagramBuffer:
    """Room for some datagrams, which one system call fills: recvmmsg(2) of Linux.

    `errors` counts those other than that nothing was there.
    """

    def __init__(self) -> None:
        parts = memoryview(bytearray(16 * BATCH)).cast("Q")  # iovec: address and length
        heads = memoryview(bytearray(64 * BATCH))  # mmsghdr
        self._names = memoryview(bytearray(16 * BATCH))  # sockaddr_in
        self._controls = memoryview(bytearray(_ANCILLARY * BATCH))
        self._data = memoryview(bytearray(LONGEST * BATCH))
        self._words, wide = heads.cast("I"), heads.cast("Q")
        self._kept = parts, heads
        at_part, at_name, at_control, at_data, self._address = (
            ctypes.addressof(ctypes.c_char.from_buffer(buffer))
            for buffer in (parts.cast("B"), self._names, self._controls, self._data, heads)
        )
        for i in range(BATCH):
            parts[2 * i], parts[2 * i + 1] = at_data + LONGEST * i, LONGEST
            wide[8 * i], wide[8 * i + 2] = at_name + 16 * i, at_part + 16 * i
            wide[8 * i + 3], wide[8 * i + 4] = 1, at_control + _ANCILLARY * i
        self._senders: dict[bytes, tuple[str, int]] = {}
        self._used, self.errors = BATCH, 0

    def receive(self, channel: int, received: list[Datagram], now: float, earliest: float) -> None:
        """Append what waits at a socket, up to BATCH datagrams, each with its arrival.

        The kernel stamps with the wall clock, which may be set between the arrival and this call;
        the bounds hold that error down to the time between two calls.

        Args:
            channel: the socket.
            received: gets them.
            now: the monotonic clock [s], the latest arrival.
            earliest: a time on it [s] by which none of them had arrived yet.
        """
        words, wall_ns = self._words, time.time_ns()
        for i in range(self._used):  # how much room there is; the kernel writes how much it took
            words[16 * i + 2], words[16 * i + 10] = 16, _ANCILLARY
        self._used = 0
        while (got := _recvmmsg(channel, self._address, BATCH, socket.MSG_DONTWAIT, None)) < 0:
            error = ctypes.get_errno()
            if error != errno.ECONNREFUSED:  # nobody listened when a frame was sent: once more
                self.errors += error not in (errno.EAGAIN, errno.EINTR)
                return
        self._used = got
        for i in range(got):
            name = self._names[16 * i + 2 : 16 * i + 8].tobytes()
            sender = self._senders.get(name)
            if sender is None:
                if len(self._senders) > BATCH:
                    self._senders.clear()
                sender = socket.inet_ntoa(name[2:]), int.from_bytes(name[:2], "big")
                self._senders[name] = sender
            _, level, kind, seconds, ns = _STAMP.unpack_from(self._controls, _ANCILLARY * i)
            is_stamped = words[16 * i + 10] >= _ANCILLARY
            if is_stamped and level == _SOL_SOCKET and kind == SO_TIMESTAMPNS:
                waited = 1e-9 * (wall_ns - 10**9 * seconds - ns)
                earliest = min(now, max(earliest, now - waited))
            else:
                earliest = now
            data = self._data[LONGEST * i : LONGEST * i + words[16 * i + 14]].tobytes()
            received.append(Datagram(data, sender, earliest))


def _bound(local: tuple[str, int]) -> socket.socket:
    """A socket that listens there, does not block, and has its arrivals stamped if possible."""
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        channel.setblocking(False)
        channel.bind(local)
    except OSError as error:
        channel.close()
        reason = _REASONS.get(error.errno or 0, error.strerror)
        raise ValueError(f"link: cannot listen on {local[0]} port {local[1]}: {reason}") from None
    try:
        channel.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    except OSError:
        LOG.warning("link: this kernel does not stamp arrivals; they count from when they are read")
    return channel


def _connect(channel: socket.socket, robot: tuple[str, int]) -> None:
    try:
        channel.connect(robot)
    except OSError as error:
        channel.close()
        raise ValueError(f"link: no way to {robot[0]} port {robot[1]}: {error.strerror}") from None
