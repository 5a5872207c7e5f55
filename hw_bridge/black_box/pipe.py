"""Frames on their way to the black box, through a named pipe. Needs the standard library alone."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, get_args

PIPE_BYTES: Final = 1 << 20  # room for more than half a second of frames; what Linux grants users
LONGEST: Final = 1024  # [bytes] of a frame that is kept; with its head it is written in one piece
Way = Literal["from_robot", "by_tracker", "by_watchdog"]  # where from, or who sent it
WAYS: Final[tuple[Way, ...]] = get_args(Way)
_CODES: Final = {way: code for code, way in enumerate(WAYS)}
_HEAD: Final = struct.Struct("<dBH")  # time [s] monotonic, way, length [bytes]


def pack(way: Way, frame: bytes, time: float) -> bytes:
    """A frame as it goes through the pipe."""
    frame = frame[:LONGEST]
    return _HEAD.pack(time, _CODES[way], len(frame)) + frame


class PipeWriter:
    """Writes frames into the pipe. Neither raises nor blocks, whatever becomes of the reader.

    Several processes may write: the kernel takes a frame in one piece, or not at all.

    Attributes:
        lost: frames that found the pipe full, or no pipe.
    """

    def __init__(self, path: Path | str) -> None:
        """Open the pipe at `path`, with or without a reader."""
        self.lost, self._fd = 0, -1
        with suppress(OSError):
            self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # by Linux, RDWR needs no reader
            fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def write(self, way: Way, frame: bytes, time: float) -> None:
        """Write a frame that was sent, or had come, at `time` [s] monotonic."""
        try:
            os.write(self._fd, pack(way, frame, time))
        except OSError:
            self.lost += 1

    def close(self) -> None:
        """Close it; safe to call twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class PipeReader:
    """The other end of the pipe."""

    def __init__(self, path: Path | str) -> None:
        """Open the pipe at `path`, with or without a writer.

        Raises:
            OSError: there is none.
        """
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def read(self) -> bytes | None:
        """Read what waits, b"" for nothing; None where no writer has the pipe open."""
        try:
            return os.read(self._fd, PIPE_BYTES) or None
        except BlockingIOError:
            return b""

    def close(self) -> None:
        """Close it."""
        os.close(self._fd)


class Unpacker:
    """Splits what was read of the pipe, which may end in the middle of a frame, into frames."""

    def __init__(self) -> None:
        """Begin at a frame's head."""
        self._rest = b""

    def unpack(self, data: bytes) -> Iterator[tuple[float, Way, bytes]]:
        """Time [s], way and bytes of every frame that is whole.

        Raises:
            ValueError: these are no frames.
        """
        data, at = self._rest + data, 0
        while len(data) - at >= _HEAD.size:
            time, code, length = _HEAD.unpack_from(data, at)
            if code >= len(WAYS) or length > LONGEST:
                raise ValueError(f"no frame has way {code} and {length} bytes")
            end = at + _HEAD.size + length
            if end > len(data):
                break
            yield time, WAYS[code], data[at + _HEAD.size : end]
            at = end
        self._rest = data[at:]
