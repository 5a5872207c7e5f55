"""The end of a process that has written and closed all that matters."""

import json
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, Final, NoReturn

LAST_S: Final = 1.0  # for the last lines [s]: a pipe without a reader takes none


def write_report(path: Path, words: dict[str, Any]) -> None:
    """Write a report, whole or not at all; where the disk refuses, that is a line in the log."""
    draft = path.with_suffix(".draft")
    try:
        draft.write_text(json.dumps(words))
        draft.replace(path)
    except OSError as error:
        logging.error("no report: %s", error)


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
