"""An interrupt from the keyboard gets out of compiled code that swallows it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise at the end of the block what the handler of a stop signal raised within it.

    CasADi runs Python's handlers while IPOPT works and throws away what they raise: IPOPT ends
    with one status or another, or takes the place for one where the cost is not defined, and goes
    on. In other threads than the main one nothing is done, as no signal arrives there.
    """
    found = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    previous = {number: each for number, each in found.items() if callable(each)}
    if not previous or threading.current_thread() is not threading.main_thread():
        yield
        return
    raised: list[BaseException] = []

    def handler(number: int, frame: FrameType | None) -> None:
        try:
            previous[signal.Signals(number)](number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    for number in previous:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, each in previous.items():
            signal.signal(number, each)
    if raised:
        raise raised[0]
