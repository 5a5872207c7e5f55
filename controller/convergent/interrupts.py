"""An interrupt from the keyboard gets out of compiled code that swallows it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise at the end of the block what the handler of SIGINT raised within it.

    CasADi runs Python's handlers while IPOPT works and throws away what they raise: IPOPT ends
    with one status or another, or takes the place for one where the cost is not defined, and goes
    on. In other threads than the main one nothing is done, as no signal arrives there.
    """
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous) or threading.current_thread() is not threading.main_thread():
        yield
        return
    raised: list[BaseException] = []

    def handler(number: int, frame: FrameType | None) -> None:
        try:
            previous(number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if raised:
        raise raised[0]
