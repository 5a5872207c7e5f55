"""Admits browsers to the page, by host and origin, and limits how fast they draw.

The page's own server listens on a port of this machine that is not announced. The gate listens
at the announced one, reads the head of each connection's first request, and passes the bytes on.
"""

from __future__ import annotations

import asyncio
import ipaddress
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from http.client import parse_headers
from io import BytesIO
from urllib.parse import urlsplit

import viser
from viser import ViserServer

from saltus.common.errors import BadRequest

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


HERE = "127.0.0.1"
HEAD_BYTES = 16384  # longest head of a request
HEAD_S = 10.0  # in which it must have come
STALL_S = 10.0  # after which a browser that takes nothing is let go
_END = b"\r\n\r\n"


class Gate:
    """Listens on the loopback and passes on admitted connections; a thread of its own.

    Attributes:
        port: that it listens at.
    """

    def __init__(
        self, port: int, inner_port: int, report: Callable[[str], None]
    ) -> None:  # fmt: skip
        """Open it.

        Args:
            port: 0 for any.
            inner_port: of the page's server, on this machine.
            report: takes one line about a browser that was let go.

        Raises:
            BadRequest: the port cannot be had.
        """
        self._inner_port, self._report = inner_port, report
        self._loop = asyncio.new_event_loop()
        opened: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, args=(port, opened), daemon=True)
        self._thread.start()
        try:
            self.port = opened.result()
        except OSError as error:
            why = error.strerror or error
            raise BadRequest(f"port {port}: {why}; give another with --port") from error

    def close(self) -> None:
        """Let everybody go."""
        with suppress(RuntimeError):  # closed already
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2.0)

    def _run(self, port: int, opened: Future[int]) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            server = self._loop.run_until_complete(
                asyncio.start_server(self._serve, HERE, port, limit=HEAD_BYTES)
            )
        except OSError as error:
            opened.set_exception(error)
            return
        opened.set_result(server.sockets[0].getsockname()[1])
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        server.close()
        with suppress(RuntimeError):
            self._loop.run_until_complete(asyncio.sleep(0.05))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            head = await asyncio.wait_for(reader.readuntil(_END), HEAD_S)
            answer = answer_to(head)
            if answer is not None:
                writer.write(answer)
                await asyncio.wait_for(writer.drain(), STALL_S)
                return
            inner, to_inner = await asyncio.open_connection(HERE, self._inner_port)
            to_inner.write(head)
            await self._pass_on(reader, writer, inner, to_inner)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # the client has gone, or speaks no HTTP
        except asyncio.CancelledError:
            pass  # the gate closes; asyncio would report it
        finally:
            writer.close()

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
        inner: asyncio.StreamReader, to_inner: asyncio.StreamWriter,
    ) -> None:  # fmt: skip
        """Bytes both ways, until one side has gone."""
        ways = [
            asyncio.ensure_future(_copy(reader, to_inner)),
            asyncio.ensure_future(_copy(inner, writer)),
        ]
        done, waiting = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in waiting:
            way.cancel()
        to_inner.close()
        if any(isinstance(way.exception(), TimeoutError) for way in done):
            self._report(f"a browser took nothing for {STALL_S:g} s: its page was closed")
            writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await asyncio.wait_for(writer.drain(), STALL_S)


def answer_to(head: bytes) -> bytes | None:
    """Answer to a request in place of the page; None lets it through.

    A page of another site that a browser has open may not connect: its origin is not ours. Only
    this machine's own names are accepted, so that no other name can be made to lead here.

    Args:
        head: of the request, as it came.
    """
    fields = parse_headers(BytesIO(head.partition(b"\r\n")[2]))
    host, origin = fields.get("host", ""), fields.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return _refusal("This page belongs to another site.")
    if not is_loopback(urlsplit(f"//{host}").hostname or ""):
        return _refusal("Open this page as localhost or 127.0.0.1.")
    return None


def is_loopback(host: str) -> bool:
    """Whether an address or a name is this machine's alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _refusal(text: str) -> bytes:
    head = "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8"
    return f"{head}\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n{text}".encode()
