"""The link to the robot, with every frame both ways written to the black box."""

import time

from hw_bridge.black_box.pipe import PipeWriter
from hw_bridge.link import Datagram, Link


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
