"""Admits browsers to the page, by host and origin, and limits how fast they draw."""

from __future__ import annotations

import ipaddress
import threading
import time
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import viser
from viser import ViserServer
from websockets.asyncio import server as websockets

from saltus.common.errors import BadRequest

HERE = "127.0.0.1"
ANSWER_S = 10.0  # after which a browser that does not answer is no longer waited for


class Browsers:
    """Says when the next frame is wanted: when all browsers have taken the last one.

    A browser on a slow computer would show what was long ago if frames were sent regardless. One
    that does not answer in time is not waited for until it does.
    """

    def __init__(self, server: ViserServer) -> None:
        """Begin."""
        self._server = server
        self._asked: dict[int, float] = {}  # when a browser that has not answered was asked [s]

    @property
    def want_frame(self) -> bool:
        """Whether a viewer is connected and ready for another frame."""
        clients, since = self._server.get_clients(), time.monotonic() - ANSWER_S
        return bool(clients) and not any(self._asked.get(each, since) > since for each in clients)

    def note_frame(self) -> None:
        """A frame is on its way: ask each browser to say when it comes to the end of it."""
        for number, client in self._server.get_clients().items():
            if number not in self._asked:
                self._asked[number] = time.monotonic()
                threading.Thread(target=self._hear, args=(number, client), daemon=True).start()

    def _hear(self, number: int, client: viser.ClientHandle) -> None:
        with suppress(RuntimeError):  # it has gone
            client.local_storage.get_item("saltus", timeout=None)
        self._asked.pop(number, None)


def guarded_server(port: int) -> ViserServer:
    """Serve an empty page on this machine, at `port` or a later one, to its own pages alone.

    viser has no place for such a check: it is put before viser's own answer to each request.
    """
    serve, guarded = websockets.serve, []

    def guard(*arguments: Any, process_request: Any, **options: Any) -> Any:
        def answer(connection: Any, request: Any) -> Any:
            fields = request.headers
            words = refusal(*(fields.get_all(name) for name in ("Host", "Origin")))
            if words:
                return connection.respond(403, words)
            return process_request(connection, request)

        guarded.append(port)
        return serve(*arguments, process_request=answer, **options)

    websockets.serve = guard  # type: ignore[assignment]
    try:
        server = ViserServer(HERE, port, verbose=False)
    finally:
        websockets.serve = serve
    if not guarded:
        server.stop()
        raise BadRequest("this version of viser cannot be guarded: pip install 'saltus[view]'")
    return server


def refusal(hosts: list[str], origins: list[str]) -> str:
    """Why a request is refused, by its fields Host and Origin; empty for one that is let through.

    A page of another site that a browser has open may not connect: its origin is not ours. Only
    this machine's own names are accepted, so that no other name can be made to lead here.
    """
    if any(urlsplit(origin).netloc not in hosts for origin in origins):
        return "This page belongs to another site."
    if len(hosts) != 1 or not is_loopback(urlsplit(f"//{hosts[0]}").hostname or ""):
        return "Open this page as localhost or 127.0.0.1."
    return ""


def is_loopback(host: str) -> bool:
    """Whether an address or a name is this machine's alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
