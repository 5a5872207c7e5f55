"""The end of an exchange that answers."""

import time
from typing import Any

import zmq

from runtime.endpoints import CurveKeys, EndpointInUse, make_room, socket_file
from runtime.exchange_socket import milliseconds, open_socket, reason
from runtime.server_address import check_address


class Responder:
    """The end that answers: any number of clients, each by the name its frames come with."""

    def __init__(self, address: str, keys: CurveKeys | None = None) -> None:
        """Listen on `address`, tcp://HOST:PORT (port 0: a free one) or ipc://FILE.

        `address` says afterwards where it listens. With `keys`, of which the secret half is needed,
        frames are encrypted, and only clients with the public half are let in.

        Raises EndpointInUse, and ValueError for what is no address, cannot be bound, or can be
        reached from other hosts while there are no keys.
        """
        check_address(address, keys is not None, "keys")
        try:
            make_room(address)
        except OSError as error:
            raise ValueError(f"cannot bind {address}: {error.strerror}") from None
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = open_socket(self._context, zmq.ROUTER, address)
        self.malformed = 0  # messages of other than one frame: dropped
        try:
            if keys is not None:
                self._socket.curve_server = True
                self._socket.curve_secretkey = keys.secret.encode()
            self._socket.bind(address.replace("//localhost:", "//127.0.0.1:"))
        except (zmq.ZMQError, ValueError) as error:
            self._socket.close(linger=0)
            self._context.term()
            if isinstance(error, zmq.ZMQError) and error.errno == zmq.EADDRINUSE:
                raise EndpointInUse(address) from None
            raise ValueError(f"cannot bind {address}: {reason(error)}") from None
        self._file = socket_file(address)
        self.address: str = self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")

    def receive(self, timeout_s: float) -> tuple[bytes, bytes] | None:
        """The next frame and its client; None when `timeout_s` [s] pass without."""
        deadline = time.monotonic() + timeout_s
        while self._socket.poll(milliseconds(deadline - time.monotonic())):
            client, *frames = self._socket.recv_multipart()
            if len(frames) == 1:
                return client, frames[0]
            self.malformed += 1
        return None

    def send(self, client: bytes, frame: bytes) -> None:
        """Send to a client; never blocks, and drops for one that has gone or takes nothing."""
        self._socket.send_multipart((client, frame), zmq.NOBLOCK)

    def close(self, linger_s: float = 0.0) -> None:
        """Close; what is unsent has `linger_s` [s] to go out."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)
            self._file = None
        self._socket.close(linger=round(1e3 * linger_s))
        self._context.term()

    def __enter__(self) -> "Responder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
