"""The end of a process that has written and closed all that matters."""

import logging
import os
import sys
from contextlib import suppress
from threading import Thread
from typing import Final, NoReturn

LAST_S: Final = 1.0  # for the last lines [s]: a pipe without a reader takes none


def exit_at_once(status: int) -> NoReturn:
    """End this process; to take the interpreter down would take longer.

    A log for which the disk has no room makes no other status, as it would in Python's own end. One
    that takes nothing is waited for no longer than a second.
    """
    flush = Thread(target=_flush, daemon=True)
    flush.start()
    flush.join(LAST_S)
    os._exit(status)


def _flush() -> None:
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
