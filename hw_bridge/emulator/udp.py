"""The robot's end of the cable: a UDP socket that never raises and never blocks."""

import socket

Address = tuple[str, int]

_LARGEST = 2048  # [bytes] of a datagram that is looked at
_MOST = 256  # datagrams of one call


class RobotSocket:
    """Bound to one address; answers go to whoever is named.

    Attributes:
        address: where it listens, with the port that port 0 became.
        send_errors: frames that could not be sent.
    """

    def __init__(self, address: str, port: int) -> None:
        """Bind.

        Raises:
            ValueError: it cannot, for the reason in the message.
        """
        self.send_errors = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        try:
            self._socket.bind((address, port))
        except OSError as error:
            self._socket.close()
            reason = error.strerror or error
            raise ValueError(f"emulator: cannot listen on {address}:{port}: {reason}") from None
        self.address: Address = self._socket.getsockname()

    def receive(self) -> list[tuple[bytes, Address]]:
        """The datagrams that have come, with their senders; at most 256 a call."""
        received: list[tuple[bytes, Address]] = []
        for _ in range(_MOST):
            try:
                received.append(self._socket.recvfrom(_LARGEST))
            except ConnectionError:  # a client that has gone lets the kernel say so
                continue
            except OSError:
                break
        return received

    def send(self, frame: bytes, to: Address) -> None:
        """Send one frame, or count that it could not be sent."""
        try:
            self._socket.sendto(frame, to)
        except OSError:
            self.send_errors += 1

    def close(self) -> None:
        """Let go of the port; safe to call twice."""
        self._socket.close()
