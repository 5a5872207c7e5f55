"""Admits browsers to the page, by host and origin, and limits how fast they draw."""

from __future__ import annotations

import ipaddress
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import viser
from viser import ViserServer
from websockets.asyncio import server as websockets

from saltus.common.errors import BadRequest

HERE = "127.0.0.1"
ANSWER_S = 10.0  # after which a browser that does not answer is no longer waited for
_KEY = "saltus"


class Browsers:
    """Says when the next frame is wanted: when all browsers have taken the last one.

    A browser on a slow computer would show what was long ago if frames were sent regardless. One
    that does not answer in time is not waited for until it does.
    """

    def __init__(self, server: ViserServer) -> None:
        """Begin."""
        self._server, self._silent = server, set[int]()
        self._sent, self._ready, self._over = threading.Event(), threading.Event(), False
        self._ready.set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def want_frame(self) -> bool:
        """Whether a viewer is connected and ready for another frame."""
        return self._ready.is_set() and bool(self._server.get_clients())

    def note_frame(self) -> None:
        """A frame is on its way."""
        self._ready.clear()
        self._sent.set()

    def close(self) -> None:
        """End the thread."""
        self._over = True
        self._sent.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        while self._sent.wait() and not self._over:
            self._sent.clear()
            for number, client in self._server.get_clients().items():
                if number not in self._silent and not _answers(client, ANSWER_S):
                    self._silent.add(number)
                    threading.Thread(target=self._hear, args=(number, client), daemon=True).start()
            self._ready.set()

    def _hear(self, number: int, client: viser.ClientHandle) -> None:
        """Wait for a browser again once it has answered."""
        if _answers(client, None):
            self._silent.discard(number)


def _answers(client: viser.ClientHandle, timeout: float | None) -> bool:
    """Whether a browser comes to the end of what was sent to it; one that has gone counts too."""
    with suppress(RuntimeError):
        try:
            client.local_storage.get_item(_KEY, timeout=timeout)
        except TimeoutError:
            return False
    return True


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
