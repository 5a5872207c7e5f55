"""The physics server's process: a thin loop that carries frames between a socket and its core."""

import time
from collections.abc import Callable
from typing import Any

from runtime.exchange import Responder
from runtime.histogram import LogHistogram
from runtime.physics_messages import GroundRequest, Hello, Refusal, Reply, decode_request
from runtime.wire import DecodeError, encode
from sim_bridge.physics_service import NOBODY, PhysicsService

STOP_CHECK_S = 0.05  # longest time for which nobody looks at the stop flag [s]
MOST_CLIENTS = 10_000  # counted; who comes again counts again
RESOLUTION_MS = 0.001


class ServiceLoop:
    """The state of one run."""

    def __init__(self, service: PhysicsService, responder: Responder) -> None:
        """See `run`."""
        self._service, self._responder = service, responder
        self._clients: set[bytes] = set()
        self._times = LogHistogram(RESOLUTION_MS)
        self._requests = self._refusals = self._undecodable = 0

    def answer(self, client: bytes, frame: bytes) -> None:
        """Answer one frame."""
        begin = time.perf_counter()
        if len(self._clients) < MOST_CLIENTS:
            self._clients.add(client)
        reply, worked = self._reply(client, frame)
        self._refusals += isinstance(reply, Refusal)
        self._responder.send(client, encode(reply))
        if worked:
            self._requests += 1
            self._times.add(1e3 * (time.perf_counter() - begin))

    def report(self) -> dict[str, Any]:
        """What happened."""
        times = self._times.quantiles()
        return {
            "requests": self._requests,
            "refusals": self._refusals,
            "undecodable": self._undecodable + self._responder.malformed,
            "clients": len(self._clients),
            "ms": {"p50": times.p50, "p99": times.p99},
        }

    def _reply(self, client: bytes, frame: bytes) -> tuple[Reply, bool]:
        """The answer, and whether it was one to a question about physics."""
        try:
            request = decode_request(frame)
        except DecodeError as error:
            self._undecodable += 1
            return Refusal(id=NOBODY, reason=" ".join(str(error).split())), False
        worked = not isinstance(request, Hello | GroundRequest)
        return self._service.answer(request, client), worked


def run(service: PhysicsService, responder: Responder, stop: Callable[[], bool]) -> dict[str, Any]:
    """Answer every client, one request after the other, until stopped.

    Returns:
        requests: about physics, refused ones among them; refusals; undecodable: frames that were
        no request; clients: connections that asked; ms: p50 and p99 of the time from a request to
        its answer, reading and writing of frames included [ms].
    """
    loop = ServiceLoop(service, responder)
    while not stop():
        received = responder.receive(STOP_CHECK_S)
        if received is not None:
            loop.answer(*received)
    return loop.report()
