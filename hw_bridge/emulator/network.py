"""One direction of a bad network: frames lost, doubled, late, out of order, damaged."""

import heapq
import math
from random import Random
from typing import Annotated, Generic, NamedTuple, TypeVar

import msgspec

from runtime.options import Options, Range


class NetworkOptions(Options, frozen=True):
    """What happens to each frame, the same in both directions; the draws are independent.

    Attributes:
        loss: probability that it does not arrive.
        duplicate: probability that it arrives twice.
        reorder: probability that it is held up by `reorder_s`, so that later ones overtake it.
        reorder_s: how long such a frame is held up.
        corrupt: probability that one to eight of its bits are flipped.
        jitter_s: each frame is late by its own time, uniform from 0 to this; frames overtake each
            other.
        seed: equal seeds and frames give equal faults.
    """

    loss: Annotated[float, Range("-", 0.0, 1.0)] = 0.0
    duplicate: Annotated[float, Range("-", 0.0, 1.0)] = 0.0
    reorder: Annotated[float, Range("-", 0.0, 1.0)] = 0.0
    reorder_s: Annotated[float, Range("s", 0.0, 10.0)] = 0.003
    corrupt: Annotated[float, Range("-", 0.0, 1.0)] = 0.0
    jitter_s: Annotated[float, Range("s", 0.0, 10.0)] = 0.0
    seed: Annotated[int, Range("-", 0, 2**32 - 1)] = 0

    @property
    def perfect(self) -> bool:
        """Whether every frame arrives once, whole and at once."""
        return not (self.loss or self.duplicate or self.reorder or self.corrupt or self.jitter_s)


Sender = TypeVar("Sender")


class FrameInTransit(NamedTuple, Generic[Sender]):
    """Bytes under way, and who sent them (or to whom)."""

    data: bytes
    peer: Sender


class NetworkCounts(msgspec.Struct):
    """Frames that met each fate."""

    passed: int = 0
    lost: int = 0
    cut: int = 0
    duplicated: int = 0
    held_up: int = 0
    corrupted: int = 0


class LossyNetwork(Generic[Sender]):
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
        self._under_way: list[tuple[float, int, FrameInTransit[Sender]]] = []
        self._order = 0  # of frames due at the same time

    def push(self, data: bytes, peer: Sender, now: float) -> None:
        """Send a frame at time `now` [s]."""
        if self.is_cut:
            self.counts.cut += 1
        elif self._perfect:
            self._queue(data, peer, -math.inf)
        else:
            self._send(data, peer, now)

    def pop(self, now: float) -> list[FrameInTransit[Sender]]:
        """The frames that have arrived by `now` [s], in the order of their arrival."""
        arrived, under_way = [], self._under_way
        while under_way and under_way[0][0] <= now:
            arrived.append(heapq.heappop(under_way)[2])
        self.counts.passed += len(arrived)
        return arrived

    def _send(self, data: bytes, peer: Sender, now: float) -> None:
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

    def _queue(self, data: bytes, peer: Sender, due: float) -> None:
        heapq.heappush(self._under_way, (due, self._order, FrameInTransit(data, peer)))
        self._order += 1

    def _damaged(self, data: bytes) -> bytes:
        damaged = bytearray(data)
        for _ in range(self._random.randint(1, 8)):
            bit = self._random.randrange(8 * len(damaged)) if damaged else None
            if bit is not None:
                damaged[bit // 8] ^= 1 << bit % 8
        return bytes(damaged)
