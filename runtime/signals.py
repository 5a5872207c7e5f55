"""The stop flag: a process ends its loop at the next tick after SIGTERM, SIGINT or SIGHUP."""

import signal
import threading
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StopFlag(AbstractContextManager["StopFlag"]):
    """Callable that says whether to stop; made in the main thread, it listens to STOP_SIGNALS.

    Repeated signals do nothing more, so a Ctrl-C cannot cut short the way a robot lies down. SIGHUP
    (the terminal has gone) stays ignored where it is, as under nohup. One that is made within
    another is set where that is. As a context manager it gives the previous handlers back.

    Attributes:
        signals: how many have come.
    """

    def __init__(self) -> None:
        self._stopped, self.signals = False, 0
        listens = threading.current_thread() is threading.main_thread()
        numbers = [number for number in STOP_SIGNALS if listens and not _is_unwanted(number)]
        self._previous = {number: signal.signal(number, self._on_signal) for number in numbers}
        outer = [getattr(each, "__self__", None) for each in self._previous.values()]
        if any(isinstance(each, StopFlag) and each() for each in outer):
            self._stopped = True

    def __call__(self) -> bool:
        """Whether to stop."""
        return self._stopped

    def set(self) -> None:
        """Ask to stop."""
        self._stopped = True

    def __exit__(self, *_: Any) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stopped = True
        self.signals += 1


def _is_unwanted(number: signal.Signals) -> bool:
    """Whether this process was started to ignore a terminal that goes."""
    return number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
