"""Refusals in one line, and the effects of Ctrl-C."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class BadRequest(Exception):
    """A request that cannot be met: a bad option, file, key, trial or endpoint.

    The message is one line that says what was wrong and what is accepted; the command line prints
    it and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        """Keep ``message`` as one line."""
        super().__init__(" ".join(message.split()))


@contextmanager
def refusing(what: str = "", *kinds: type[Exception], remedy: str = "") -> Iterator[None]:
    """Turn a failure within, or in the decorated function, into a bad request.

    Args:
        what: what the message begins with; empty where the error says it all.
        kinds: of errors; OSError where none is given.
        remedy: what to do about it.

    Raises:
        BadRequest: one of these errors was raised.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, kinds or (OSError,)):
            raise
        reason = getattr(error, "strerror", None) or error
        parts = (f"{what}: {reason}" if what else str(reason), remedy)
        raise BadRequest("; ".join(filter(None, parts))) from error


def did_you_mean(name: str, accepted: Iterable[str]) -> str:
    """Such as "; did you mean push"; empty where no accepted name is near."""
    near = get_close_matches(name, list(accepted), 1)
    return f"; did you mean {near[0]}" if near else ""


def interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error.

    While numba takes the arguments of a compiled function apart, KeyboardInterrupt comes out as a
    SystemError that it caused.
    """
    return isinstance(error, SystemError) and isinstance(error.__cause__, KeyboardInterrupt)


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
        yield lambda: None  # it is handled elsewhere, or ignored
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
