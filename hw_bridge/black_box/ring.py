"""The ring on disk, files of bounded size of which the oldest make room, and its keeper."""

import logging
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from hw_bridge.black_box.pipe import WAYS, PipeReader, Unpacker, Way
from runtime.messages import Message, encode
from runtime.recording import Recorder
from runtime.topics import Topic


class RobotFrame(Message, frozen=True):
    """A frame as it was on the wire (`hw_bridge.wire.layout`)."""

    time: float  # [s] monotonic: when it arrived, or was sent
    data: bytes


class RunText(Message, frozen=True):
    """A piece of a text file of the run, such as a log; pieces of a file follow each other."""

    time: float  # [s] monotonic: when it was read
    file: str  # its path, beginning with the name of the run's folder
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

    When the disk refuses, the oldest file is deleted, and another one only if that made room: other
    programs may fill the disk, and old frames are worth more than new ones then.

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
        self._deleted_in_vain = False  # the last deletion made no room
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
            self._recorder.flush(sync=True)
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
            self._deleted_in_vain = False
        with suppress(OSError):  # a disk that takes nothing may not let a file go either
            if recorder is not None and not recorder.kept:
                segments(self._folder)[-1].unlink()
            self._recorder = self._begin(failed and not self._deleted_in_vain)

    def _begin(self, give: bool = False) -> Recorder:
        """A new file; a disk that refuses gets the oldest one back, if others are left."""
        files = segments(self._folder)
        if give and len(files) > 1:
            files.pop(0).unlink()
            self._deleted_in_vain = True
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


CONFIGURATION: Final = "launch.yaml"
FILES: Final = (CONFIGURATION, "logs/*.log", "reports/*.json")
MOST: Final = 1 << 20  # [bytes] of a file at once


class TextFollower:
    """Reads on in each file where it has stopped; a file that is cut is read from its start."""

    def __init__(self, folder: Path) -> None:
        """Follow `FILES` in the folder of a run."""
        self._folder = folder
        self._places: dict[Path, int] = {}

    def pieces(self) -> Iterator[tuple[str, str]]:
        """Path from the folder on, and new text, of every file that has some. Never raises."""
        for pattern in FILES:
            for file in sorted(self._folder.glob(pattern)):
                with suppress(OSError):
                    if text := self._read_on(file):
                        yield str(file.relative_to(self._folder.parent)), text

    def read_again(self, name: str) -> None:
        """Take a file from its start with the next pieces."""
        self._places.pop(self._folder / name, None)

    def _read_on(self, file: Path) -> str:
        place = self._places.get(file, 0)
        with file.open("rb") as stream:
            place = place if place <= stream.seek(0, 2) else 0
            stream.seek(place)
            data = stream.read(MOST)
        self._places[file] = place + len(data)
        return data.decode(errors="replace")


LOOK_S: Final = 0.05  # between two looks at the pipe, which buffers ten times as long
SYNC_S: Final = 1.0  # of a run that a loss of power may take
MOST_WAITING: Final = 1000  # pieces that wait while the disk stands still; some 50 s


class Keeper:
    """Keeps all that comes through the pipe, until its last writer has gone and it may end.

    A thread empties the pipe, so that a slow disk holds no writer up.

    Attributes:
        frames: number of frames that came, by their way.
        lost: pieces of what came, many frames each, for which a disk that stood still had no room.
        malformed: pieces that were no frames.
    """

    def __init__(
        self, pipe: PipeReader, ring: Ring, run: Path, may_end: Callable[[], bool]
    ) -> None:
        """Keep what comes through `pipe`, and the texts in the folder `run`, in `ring`."""
        self.frames: Counter[str] = Counter()
        self.lost = self.malformed = 0
        self._pipe, self._ring, self._may_end = pipe, ring, may_end
        self._texts, self._unpacker = TextFollower(run), Unpacker()
        self._begun = 0  # files of the ring that hold the configuration
        # Files of a robot whose wall clock is set meanwhile stay in order.
        self._epoch_ns = time.time_ns() - time.monotonic_ns()
        self._waiting: deque[bytes] = deque()

    def run(self) -> None:
        """Keep all that comes."""
        thread = threading.Thread(target=self._empty_pipe, daemon=True)
        thread.start()
        synced = time.monotonic()
        while thread.is_alive() or self._waiting:
            time.sleep(LOOK_S)
            self._keep_frames()
            if time.monotonic() - synced >= SYNC_S:
                synced = time.monotonic()
                self._keep_texts()
                self._ring.sync()
        self._keep_texts()
        self._ring.close()

    def report(self) -> dict[str, Any]:
        """Counts of the run, ready for JSON."""
        ring = self._ring
        return {
            "frames": dict(self.frames), "files": ring.begun, "bytes": ring.bytes_written,
            "lost": self.lost + self.malformed + ring.lost, "failures": ring.failures,
        }  # fmt: skip

    def _empty_pipe(self) -> None:
        """Take what waits in the pipe until its last writer has gone."""
        while True:
            data = self._pipe.read()
            if data is None and self._may_end():
                return
            if not data:
                time.sleep(LOOK_S)
            elif len(self._waiting) >= MOST_WAITING:
                self.lost += 1
            else:
                self._waiting.append(data)

    def _keep_frames(self) -> None:
        while self._waiting:
            try:
                for at, way, frame in self._unpacker.unpack(self._waiting.popleft()):
                    self.frames[way] += 1
                    self._write(FRAMES[way], RobotFrame(time=at, data=frame), at)
            except ValueError:
                self.malformed += 1
                self._unpacker = Unpacker()

    def _keep_texts(self) -> None:
        """Keep new texts; the configuration in every file of the ring."""
        if self._begun != self._ring.begun:
            self._begun = self._ring.begun
            self._texts.read_again(CONFIGURATION)
        now = time.monotonic()
        for file, text in self._texts.pieces():
            self._write(RUN_TEXT, RunText(time=now, file=file, text=text), now)

    def _write(self, topic: Topic[Any], message: Message, at: float) -> None:
        self._ring.write(topic, encode(message), self._epoch_ns + round(1e9 * at))
