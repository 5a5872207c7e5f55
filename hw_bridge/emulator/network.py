"""The robot's end of the cable, and a bad network in each direction."""

import heapq
from collections import Counter
from random import Random

from hw_bridge.emulator.options import EmulatorOptions, NetworkOptions
from hw_bridge.link import UdpLink
from hw_bridge.options import LinkOptions

Address = tuple[str, int]


class LossyNetwork:
    """A queue that treats frames as the options say; deterministic.

    Attributes:
        is_cut: while true nothing gets in; what is under way still arrives.
        counts: of frames by fate: passed, lost, cut, duplicated, held_up, corrupted.
    """

    def __init__(self, options: NetworkOptions, direction: str) -> None:
        """`direction` names this one of several queues: each draws its own faults."""
        self.is_cut = False
        self.counts, self._options = Counter[str](), options
        self._random = Random(f"{options.seed} {direction}")
        self._under_way: list[tuple[float, int, tuple[bytes, Address]]] = []
        self._order = 0  # of frames due at the same time

    def push(self, data: bytes, peer: Address, now: float) -> None:
        """Send a frame at time `now` [s]."""
        options, counts, draw = self._options, self.counts, self._random.random
        if self.is_cut:
            counts["cut"] += 1
            return
        # Always the same number of draws, so that one fault's rate does not move the others.
        lost, twice, held, corrupt = (draw() for _ in range(4))
        delays = draw() * options.jitter_s, draw() * options.jitter_s
        if lost < options.loss:
            counts["lost"] += 1
            return
        if corrupt < options.corrupt:
            counts["corrupted"] += 1
            data = self._damaged(data)
        late = options.reorder_s if held < options.reorder else 0.0
        counts["held_up"] += late > 0.0
        self._queue(data, peer, now + delays[0] + late)
        if twice < options.duplicate:
            counts["duplicated"] += 1
            self._queue(data, peer, now + delays[1] + late)

    def pop(self, now: float) -> list[tuple[bytes, Address]]:
        """The frames that have arrived by `now` [s], in order, with their sender or receiver."""
        arrived, under_way = [], self._under_way
        while under_way and under_way[0][0] <= now:
            arrived.append(heapq.heappop(under_way)[2])
        self.counts["passed"] += len(arrived)
        return arrived

    def _queue(self, data: bytes, peer: Address, due: float) -> None:
        heapq.heappush(self._under_way, (due, self._order, (data, peer)))
        self._order += 1

    def _damaged(self, data: bytes) -> bytes:
        damaged = bytearray(data)
        for _ in range(self._random.randint(1, 8) if damaged else 0):
            bit = self._random.randrange(8 * len(damaged))
            damaged[bit // 8] ^= 1 << bit % 8
        return bytes(damaged)


def robot_end(options: EmulatorOptions) -> UdpLink:
    """The robot's end of the cable: answers go to whom they are sent.

    Raises:
        ValueError: the address or port cannot be had.
    """
    here = LinkOptions(local_address=options.address, local_port=options.port)
    try:
        return UdpLink(here, hears_all=True)
    except ValueError as error:
        raise ValueError(f"emulator: {error}; --set emulator.port=0 takes a free port") from None
