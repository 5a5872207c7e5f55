"""Log lines that a thread writes: a real-time loop that logs does not wait for a disk."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from threading import Thread

from runtime.exit import LAST_S

MOST = 10_000  # lines that may wait for the disk: ten seconds of one in every tick
SWITCH_S = 1e-4  # for which the thread may keep Python's lock while the loop waits for it
# What the lines do not say, and a record need not find out: it is the larger part of its cost.
UNUSED = ("logThreads", "logProcesses", "logMultiprocessing", "logAsyncioTasks", "_srcfile")


class _Handover(QueueHandler):
    """Hands records over to the thread; never waits, never raises.

    Attributes:
        records: for the thread.
        lost: records that no room was left for, or whose message could not be made.
    """

    def __init__(self) -> None:
        self.records: SimpleQueue[logging.LogRecord] = SimpleQueue()
        super().__init__(self.records)
        self.lost = 0

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """The record with its message made, because arguments may change.

        A traceback is left to the thread: to make it, source files are read.
        """
        record.msg, record.args = record.getMessage(), None
        return record

    def enqueue(self, record: logging.LogRecord) -> None:
        """Pass it on, while there is room."""
        if self.records.qsize() < MOST:
            self.records.put(record)
        else:
            self.lost += 1

    def handleError(self, record: logging.LogRecord) -> None:
        """Count it; logging's own would write on standard error."""
        self.lost += 1


@contextmanager
def log_in_background() -> Iterator[None]:
    """Have a thread write what is logged within, warnings too, in order.

    At the end all is written, unless the disk or pipe takes nothing for a second.

    Enter it after the process took its real-time priority and its cores: the thread inherits both.
    A less urgent one could be put aside while it holds Python's lock, for which the loop then
    waits. Lines are lost only where `MOST` wait; how many is the last line then. A line costs the
    loop little, also where its code has not run for seconds: it says neither file nor thread.
    """
    root = logging.getLogger()
    writers, handover = root.handlers[:], _Handover()
    thread = QueueListener(handover.records, *writers, respect_handler_level=True)
    before = {name: getattr(logging, name, None) for name in UNUSED}, sys.getswitchinterval()
    thread.start()
    root.handlers[:] = [handover]
    vars(logging).update(dict.fromkeys(UNUSED))
    sys.setswitchinterval(SWITCH_S)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.handlers[:] = writers
        vars(logging).update(before[0])
        sys.setswitchinterval(before[1])
        end = Thread(target=thread.stop, daemon=True)
        end.start()
        end.join(LAST_S)
        if handover.lost and not end.is_alive():
            logging.error("%d log lines are lost", handover.lost)
