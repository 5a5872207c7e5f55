"""UDP to the robot and back: what comes in is stamped by the kernel, and nothing blocks or raises.

The socket is connected to the robot: the kernel drops what others send to its port, which costs the
loop nothing. What came before the connection is for `Intake` to refuse.
"""

import errno
import logging
import select
import socket
import struct
import time
from typing import Final, Protocol

import msgspec

from hw_bridge.black_box.pipe import PipeWriter
from hw_bridge.options import LinkOptions

LOG = logging.getLogger(__name__)
MOST_AT_ONCE: Final = 256  # datagrams taken in one call, so that a flood cannot hold the loop up
LONGEST: Final = 2048  # [bytes] kept of one; no frame is that long, so a cut one is not taken
SO_TIMESTAMPNS: Final = 35  # asm-generic/socket.h of Linux; Python 3.11 does not name it
_STAMP: Final = struct.Struct("@ll")  # timespec: seconds, nanoseconds
_ANCILLARY: Final = socket.CMSG_SPACE(_STAMP.size)
_REASONS: Final = {
    errno.EADDRINUSE: "another program has it: only one may drive the robot at a time",
    errno.EADDRNOTAVAIL: "no interface of this machine has this address; see `ip address`",
    errno.EACCES: "ports below 1024 are for root",
}


class Datagram(msgspec.Struct, frozen=True, gc=False):
    """Bytes of one sender."""

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

    def __init__(self, options: LinkOptions, hears_all: bool = False) -> None:
        """Open, bind and connect the socket.

        Args:
            options: where it listens, and where the robot is.
            hears_all: take the datagrams of all senders.

        Raises:
            ValueError: no address faces the robot, or the address or port cannot be had.
        """
        self.robot = options.robot
        self.send_errors = 0
        self._buffer = memoryview(bytearray(LONGEST))
        self._parts = [self._buffer]
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        where = f"cannot listen on {options.local[0]} port {options.local[1]}"
        try:
            self._socket.bind(options.local)
            self.local: tuple[str, int] = self._socket.getsockname()
            where = f"no way to {self.robot[0]} port {self.robot[1]}"
            if not hears_all:
                self._socket.connect(self.robot)
        except OSError as error:
            self._socket.close()
            reason = _REASONS.get(error.errno or 0, error.strerror)
            raise ValueError(f"link: {where}: {reason}") from None
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        except OSError:
            LOG.warning("link: this kernel does not stamp arrivals; they count from being read")
        self._earliest = time.monotonic()  # what comes next did not arrive before [s]

    def send(self, frame: bytes, to: tuple[str, int] | None = None) -> bool:
        """Send a frame to the robot, or `to`; False, and counted, if the kernel refuses it."""
        to = to or self.robot
        try:
            try:
                self._socket.sendto(frame, to)
            except ConnectionRefusedError:  # it reports an earlier frame; this one was not sent
                self._socket.sendto(frame, to)
        except OSError as error:
            self.send_errors += 1
            if self.send_errors == 1:
                LOG.warning("link: cannot send to %s port %d: %s", *to, error.strerror)
            return False
        return True

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
        carried over to the monotonic clock; where it gives none, the time of this call. The kernel
        stamps with the wall clock, which may be set between the arrival and this call: they are not
        after this call, and not before what the last one has found, so they never go back.
        """
        received: list[Datagram] = []
        wall_ns, now = time.time_ns(), time.monotonic()
        while len(received) < MOST_AT_ONCE:
            try:
                size, stamps, _, sender = self._socket.recvmsg_into(self._parts, _ANCILLARY)
            except ConnectionRefusedError:  # no listener when a frame was sent: once more
                continue
            except OSError:  # nothing is there any more, or the socket is closed
                self._earliest = max(now, self._earliest)
                break
            waited = 0.0
            for _, kind, stamp in stamps:
                if kind == SO_TIMESTAMPNS and len(stamp) == _STAMP.size:
                    seconds, ns = _STAMP.unpack(stamp)
                    waited = 1e-9 * (wall_ns - 10**9 * seconds - ns)
            self._earliest = min(now, max(self._earliest, now - waited))
            received.append(Datagram(self._buffer[:size].tobytes(), sender, self._earliest))
        return received

    def close(self) -> None:
        """Close the socket; safe to call twice. Afterwards nothing is sent or received."""
        self._socket.close()


class RecordedLink:
    """A link that keeps the robot's frames and ours; what strangers send is the intake's to count.

    Writing to the pipe takes some microseconds and never waits, even without a reader.
    """

    def __init__(self, link: Link, robot: tuple[str, int], pipe: PipeWriter) -> None:
        """Go between `link` and its user; `robot` is the robot's address and port."""
        self._link, self._robot, self._pipe = link, robot, pipe

    def send(self, frame: bytes) -> bool:
        """Send to the robot, then write; False when the sending failed."""
        is_sent = self._link.send(frame)
        if is_sent:
            self._pipe.write("by_tracker", frame, time.monotonic())
        return is_sent

    def receive(self) -> list[Datagram]:
        """Read the pending datagrams, see `Link.receive`."""
        datagrams = self._link.receive()
        for datagram in datagrams:
            if datagram.sender == self._robot:
                self._pipe.write("from_robot", datagram.data, datagram.arrival)
        return datagrams

    def close(self) -> None:
        """Let go of link and pipe; safe to call twice."""
        self._link.close()
        self._pipe.close()
