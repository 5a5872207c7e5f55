"""The ring on disk, and the messages in it: files of bounded size, the oldest make room."""

import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from hw_bridge.black_box.pipe import WAYS, Way
from runtime.messages import Message
from runtime.recording import Recorder
from runtime.topics import Topic


class RobotFrame(Message, frozen=True):
    """A frame as it was on the wire (`hw_bridge.wire.layout`)."""

    time: float  # [s] monotonic: when it arrived, or was sent
    data: bytes


class RunText(Message, frozen=True):
    """A piece of a text file of the run, such as a log; pieces of a file follow each other."""

    time: float  # [s] monotonic: when it was read
    file: str  # its path from the run's folder on, with that
    text: str


FRAMES: Final[dict[Way, Topic[RobotFrame]]] = {
    way: Topic(way, RobotFrame, 1000.0, 1.0) for way in WAYS
}  # fmt: skip
RUN_TEXT: Final = Topic("run_text", RunText, 1.0, 2.0)


LOG = logging.getLogger(__name__)
SEGMENTS: Final = 16  # files in a full ring
SUFFIX: Final = ".mcap"


class Ring:
    """Writes messages; of what the disk refuses it loses the newest, and tries again.

    A disk that refuses gets the oldest file back, and another one only if that made room: others
    may fill the disk, and what is kept is worth more than what comes.

    Files are numbered, so their order survives a clock that is wrong or set back.

    Attributes:
        begun: number of files that were begun.
        failures: how often the disk refused; the first is one log line.
        lost: messages that no file took.
        bytes_written: length of all files that were written and closed.
    """

    def __init__(self, folder: Path, size_bytes: int) -> None:
        """Make the folder and the first file.

        Raises:
            OSError: they cannot be made.
        """
        self.begun = self.failures = self.lost = self.bytes_written = 0
        self._gave_in_vain = False  # since the last file that went the disk took nothing
        self._folder, self._size = folder, size_bytes
        folder.mkdir(parents=True, exist_ok=True)
        self._recorder: Recorder | None = self._begin()

    def write(self, topic: Topic[Any], message: bytes, log_time_ns: int) -> None:
        """Write an encoded message."""
        recorder = self._recorder
        if recorder is None or recorder.failure:
            self.lost += 1
            return
        recorder.write(topic, message, log_time_ns)
        if recorder.size >= self._size // SEGMENTS:
            self._turn()

    def sync(self) -> None:
        """Have the disk keep what was written, so that a loss of power leaves it.

        A ring that the disk has refused tries a new file.
        """
        if self._recorder is not None:
            self._recorder.sync()
            if not self._recorder.failure:
                return
        self.failures += 1
        if self.failures == 1:
            failure = self._recorder.failure if self._recorder else "it takes no new file"
            LOG.error("black box: the disk refuses: %s; the oldest file goes", failure)
        self._turn()

    def close(self) -> None:
        """Finish the newest file."""
        if self._recorder is not None:
            self._recorder.close()
            self.bytes_written += self._recorder.size
            self._recorder = None

    def _turn(self) -> None:
        """Go on in a new file, where the disk takes one."""
        recorder = self._recorder
        failed = recorder is None or bool(recorder.failure)
        self.close()
        if recorder is not None and recorder.kept:
            self._gave_in_vain = False
        with suppress(OSError):  # a disk that takes nothing may not let a file go either
            if recorder is not None and not recorder.kept:
                segments(self._folder)[-1].unlink()
            self._recorder = self._begin(failed and not self._gave_in_vain)

    def _begin(self, give: bool = False) -> Recorder:
        """A new file; a disk that refuses gets the oldest one back, if others are left."""
        files = segments(self._folder)
        if give and len(files) > 1:
            files.pop(0).unlink()
            self._gave_in_vain = True
        sizes = [file.stat().st_size for file in files]
        while files and sum(sizes) > self._size - self._size // SEGMENTS:
            files.pop(0).unlink()
            sizes.pop(0)
        number = 1 + (_number(files[-1]) if files else 0)
        stamp = time.strftime("%Y%m%d-%H%M%S")
        path = self._folder / f"{number:06d}-{stamp}{SUFFIX}"
        try:
            recorder = Recorder(path)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        self.begun += 1
        _sync_folder(self._folder)
        return recorder


def segments(folder: Path) -> list[Path]:
    """The files of a ring, the oldest first."""
    files = folder.glob(f"*-*{SUFFIX}")
    return sorted((file for file in files if file.name.split("-")[0].isdecimal()), key=_number)


def _sync_folder(folder: Path) -> None:
    """Have the disk keep the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _number(file: Path) -> int:
    return int(file.name.split("-")[0])
