"""Ctrl-C while compiled code is at work."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def postponed_interrupt() -> Iterator[Callable[[], None]]:
    """Keep the first Ctrl-C until the caller has a safe instant; a second one acts at once.

    LLVM calls Python while it loads compiled code. An exception there, KeyboardInterrupt as well,
    is lost, and the process crashes.

    Yields:
        A function that raises KeyboardInterrupt if Ctrl-C has come.
    """
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if before is not signal.default_int_handler or not main:
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

    signal.signal(signal.SIGINT, keep)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
        check()

