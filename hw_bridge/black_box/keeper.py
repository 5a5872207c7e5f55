"""Takes frames from the pipe and texts from the run's folder, and keeps them in the ring."""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from hw_bridge.black_box.pipe import PipeReader, Unpacker
from hw_bridge.black_box.ring import FRAMES, RUN_TEXT, Ring, RobotFrame, RunText
from runtime.messages import Message, encode
from runtime.topics import Topic

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


LOG = logging.getLogger(__name__)
LOOK_S: Final = 0.05  # between two looks at the pipe, which has room for ten times that
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
