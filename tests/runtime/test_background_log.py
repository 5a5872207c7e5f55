"""Lines logged in a real-time loop: no wait for the disk, none lost, in their order."""

import io
import logging
import sys
import threading
from contextlib import nullcontext

import pytest

from runtime import background_log
from runtime.background_log import log_in_background
from saltus.common.processes import Child
from tests.saltus.programs import ROOT

PATIENCE_S = 10.0
LOG = logging.getLogger("tests.background_log")


class Disk(io.StringIO):
    """A stream that keeps its writer waiting until `free` is set, or patience is out."""

    def __init__(self):
        super().__init__()
        self.free = threading.Event()

    def write(self, text):
        self.free.wait(PATIENCE_S)
        return super().write(text)

    @property
    def lines(self):
        return self.getvalue().splitlines()


@pytest.fixture
def disk():
    """The stream of a handler of the root logger."""
    root, disk = logging.getLogger(), Disk()
    handler, level = logging.StreamHandler(disk), root.level
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield disk
    root.removeHandler(handler)
    root.setLevel(level)


def test_who_logs_does_not_wait_for_the_disk(disk):
    with log_in_background():
        for k in range(50):
            LOG.warning("line %d", k)
        waited = disk.lines
        disk.free.set()
    assert waited == []
    assert disk.lines == [f"WARNING line {k}" for k in range(50)]


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt, SystemExit])
def test_all_lines_are_written_at_the_end(disk, error):
    handlers = logging.getLogger().handlers[:]
    disk.free.set()
    with pytest.raises(error) if error else nullcontext(), log_in_background():
        for k in range(1000):
            LOG.info("line %d", k)
        if error is not None:
            raise error
    assert disk.lines == [f"INFO line {k}" for k in range(1000)]
    assert logging.getLogger().handlers == handlers
    LOG.error("after it")
    assert disk.lines[-1] == "ERROR after it"


def test_what_cannot_wait_for_the_disk_any_more_is_counted(disk, monkeypatch):
    monkeypatch.setattr(background_log, "MOST", 10)
    with log_in_background():
        for k in range(100):
            LOG.info("line %d", k)
        disk.free.set()
    *kept, told = disk.lines
    numbers = [int(line.removeprefix("INFO line ")) for line in kept]
    assert numbers == sorted(numbers) and numbers[:10] == list(range(10))
    assert len(kept) <= 11  # of which the thread had taken one, perhaps
    assert told == f"ERROR {100 - len(kept)} log lines are lost"


def test_the_end_does_not_wait_for_a_disk_that_takes_nothing(disk, monkeypatch):
    monkeypatch.setattr(background_log, "LAST_S", 0.1)
    with log_in_background():
        LOG.info("a line")
    assert disk.lines == []
    disk.free.set()


WORDS = """
import logging, signal, sys
from runtime.background_log import log_in_background
from runtime.signals import StopFlag
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
stop = StopFlag()
try:
    with log_in_background():
        for k in range(300):
            logging.info("line %d", k)
        ENDING
except LookupError as error:
    print(error.args[0], file=sys.stderr)
"""


@pytest.mark.parametrize(
    "ending, words",
    [
        ("raise LookupError('no answer')", "no answer"),
        ("signal.raise_signal(signal.SIGTERM); assert stop()", "INFO line 299"),
        ("sys.exit('told to')", "told to"),
    ],
)
def test_the_last_words_of_a_process_come_last(tmp_path, ending, words):
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + WORDS.replace("ENDING", ending)
    child = Child("tracker", [sys.executable, "-c", program], tmp_path / "tracker.log")
    child.start()
    child._process.wait(60.0)
    assert child.last_words() == words
    lines = child.log.read_text().splitlines()
    assert lines[:300] == [f"INFO line {k}" for k in range(300)]
