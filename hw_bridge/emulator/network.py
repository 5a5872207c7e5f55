"""The robot's end of the cable: a UDP socket, and a bad network in each direction."""

import heapq
import math
import socket
from random import Random

import msgspec

from hw_bridge.emulator.options import NetworkOptions

Address = tuple[str, int]


class NetworkCounts(msgspec.Struct):
    """Frames that met each fate."""

    passed: int = 0
    lost: int = 0
    cut: int = 0
    duplicated: int = 0
    held_up: int = 0
    corrupted: int = 0


class LossyNetwork:
    """A queue that treats frames as the options say; deterministic.

    Attributes:
        is_cut: while true nothing gets in; what is under way still arrives.
        counts: of frames, by fate.
    """

    def __init__(self, options: NetworkOptions, direction: str) -> None:
        """`direction` names this one of several queues: each draws its own faults."""
        self.is_cut = False
        self.counts = NetworkCounts()
        self._options, self._perfect = options, options.perfect
        self._random = Random(f"{options.seed} {direction}")
        self._under_way: list[tuple[float, int, tuple[bytes, Address]]] = []
        self._order = 0  # of frames due at the same time

    def push(self, data: bytes, peer: Address, now: float) -> None:
        """Send a frame at time `now` [s]."""
        if self.is_cut:
            self.counts.cut += 1
        elif self._perfect:
            self._queue(data, peer, -math.inf)
        else:
            self._send(data, peer, now)

    def pop(self, now: float) -> list[tuple[bytes, Address]]:
        """The frames that have arrived by `now` [s], in order, with their sender or receiver."""
        arrived, under_way = [], self._under_way
        while under_way and under_way[0][0] <= now:
            arrived.append(heapq.heappop(under_way)[2])
        self.counts.passed += len(arrived)
        return arrived

    def _send(self, data: bytes, peer: Address, now: float) -> None:
        options, counts, draw = self._options, self.counts, self._random.random
        # Always the same number of draws, so that one fault's rate does not move the others.
        lost, twice, held, corrupt = (draw() for _ in range(4))
        delays = draw() * options.jitter_s, draw() * options.jitter_s
        if lost < options.loss:
            counts.lost += 1
            return
        if corrupt < options.corrupt:
            counts.corrupted += 1
            data = self._damaged(data)
        late = options.reorder_s if held < options.reorder else 0.0
        counts.held_up += late > 0.0
        self._queue(data, peer, now + delays[0] + late)
        if twice < options.duplicate:
            counts.duplicated += 1
            self._queue(data, peer, now + delays[1] + late)

    def _queue(self, data: bytes, peer: Address, due: float) -> None:
        heapq.heappush(self._under_way, (due, self._order, (data, peer)))
        self._order += 1

    def _damaged(self, data: bytes) -> bytes:
        damaged = bytearray(data)
        for _ in range(self._random.randint(1, 8)):
            bit = self._random.randrange(8 * len(damaged)) if damaged else None
            if bit is not None:
                damaged[bit // 8] ^= 1 << bit % 8
        return bytes(damaged)


_LARGEST = 2048  # [bytes] of a datagram that is looked at
_MOST = 256  # datagrams of one call


class RobotSocket:
    """Bound to one address; answers go to a named address.

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
            raise ValueError(
                f"emulator: cannot listen on {address}:{port}: {reason}; "
                "--set emulator.port=0 takes a free port"
            ) from None
        self.address: Address = self._socket.getsockname()

    def receive(self) -> list[tuple[bytes, Address]]:
        """Read the pending datagrams with their senders, at most 256."""
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
