"""The browsers that have a page open, and how fast they draw."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import viser

ANSWER_S = 10.0  # after which a browser that does not answer is no longer waited for
_KEY = "saltus"


class Browsers:
    """Says when the next frame is wanted: when all browsers have taken the last one.

    A browser on a slow computer would show what was long ago if frames were sent regardless.
    """

    def __init__(self, server: viser.ViserServer, report: Callable[[str], None]) -> None:
        """Begin; `report` takes one line about a browser that does not answer."""
        self._server, self._report = server, report
        self._silent: set[int] = set()
        self._reported: set[int] = set()
        self._sent, self._ready, self._over = threading.Event(), threading.Event(), False
        self._ready.set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def want_frame(self) -> bool:
        """Whether somebody looks and is ready for another frame."""
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
                if number not in self._silent:
                    self._ask(number, client)
            self._ready.set()

    def _ask(self, number: int, client: viser.ClientHandle) -> None:
        """Wait until a browser has come to the end of what was sent to it."""
        with suppress(RuntimeError):  # it has gone meanwhile
            try:
                client.local_storage.get_item(_KEY, timeout=ANSWER_S)
            except TimeoutError:
                first = number not in self._reported
                self._silent.add(number)
                self._reported.add(number)
                threading.Thread(target=self._hear, args=(number, client), daemon=True).start()
                if first:
                    self._report(
                        f"view: a browser has not answered for {ANSWER_S:g} s; nobody waits for it"
                    )

    def _hear(self, number: int, client: viser.ClientHandle) -> None:
        """Wait for a browser again once it has answered."""
        with suppress(RuntimeError):
            client.local_storage.get_item(_KEY)
            self._silent.discard(number)
