"""The physics server's process: a thin loop that carries frames between a socket and its core."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from runtime.exchange import Responder
from runtime.histogram import LogHistogram
from runtime.physics_messages import GroundRequest, Hello, Refusal, decode_request
from runtime.wire import DecodeError, encode
from sim_bridge.physics_service import NOBODY, PhysicsService

STOP_CHECK_S = 0.05  # longest time between two looks at the stop flag [s]
MOST_CLIENTS = 10_000  # counted; one that comes again counts again
RESOLUTION_MS = 0.001


def run(service: PhysicsService, responder: Responder, stop: Callable[[], bool]) -> dict[str, Any]:
    """Answer every client, one request after the other, until stopped.

    Returns:
        requests: about physics, refused ones among them; refusals; undecodable: frames that were
        no request; clients: connections that asked; ms: quantiles of the time from a request to
        its answer, reading and writing of frames included [ms].
    """
    clients, times, counts = set[bytes](), LogHistogram(RESOLUTION_MS), Counter[str]()
    while not stop():
        received = responder.receive(STOP_CHECK_S)
        if received is None:
            continue
        begin, (client, frame) = time.perf_counter(), received
        if len(clients) < MOST_CLIENTS:
            clients.add(client)
        request = None
        try:
            request = decode_request(frame)
            reply = service.answer(request, client)
        except DecodeError as error:
            counts["undecodable"] += 1
            reply = Refusal(id=NOBODY, reason=" ".join(str(error).split()))
        counts["refusals"] += isinstance(reply, Refusal)
        responder.send(client, encode(reply))
        if request is not None and not isinstance(request, Hello | GroundRequest):
            counts["requests"] += 1
            times.add(1e3 * (time.perf_counter() - begin))
    return {
        "requests": counts["requests"],
        "refusals": counts["refusals"],
        "undecodable": counts["undecodable"] + responder.malformed,
        "clients": len(clients),
        "ms": asdict(times.quantiles()),
    }
