"""Ctrl-C while compiled code is at work."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = 130  # exit status of a command ended by Ctrl-C, SIGTERM or SIGHUP


@contextmanager
def postponed_interrupt() -> Iterator[Callable[[], None]]:
    """Keep the first Ctrl-C until the caller has a safe instant; a second one acts at once.

    LLVM calls Python while it loads compiled code. An exception there, KeyboardInterrupt as well,
    is lost, and the process crashes.

    Yields:
        A function that raises KeyboardInterrupt if Ctrl-C has come.
    """
    handler = signal.default_int_handler
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # those that act as Ctrl-C does
    numbers = [number for number in signals if signal.getsignal(number) is handler]
    if not numbers or threading.current_thread() is not threading.main_thread():
        yield lambda: None  # someone else acts on it, or nobody
        return
    pending: list[int] = []

    def keep(number: int, _: object) -> None:
        if pending:
            raise KeyboardInterrupt
        pending.append(number)

    def check() -> None:
        if pending:
            raise KeyboardInterrupt

    for number in numbers:
        signal.signal(number, keep)
    try:
        yield check
    finally:
        for number in numbers:
            signal.signal(number, handler)
        check()

