"""A file that is being written as MCAP, and stays readable when the disk takes no more."""

import os
from contextlib import suppress
from pathlib import Path

from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import DataEnd, Footer
from mcap.writer import MCAP0_MAGIC

# A record of these kinds, written whole, leaves a file that can be read up to there.
WHOLE_AFTER = (Opcode.HEADER, Opcode.METADATA, Opcode.CHUNK, Opcode.MESSAGE_INDEX)


class ChunkFile:
    """Output of mcap's Writer: unbuffered, so that a refusal is known at once.

    The writer hands over whole records: the first byte of each call is an opcode, or the magic.

    Attributes:
        whole: length of the file up to the end of its last whole chunk [bytes].
    """

    def __init__(self, path: Path) -> None:
        """Make the file, empty.

        Raises:
            OSError: it cannot be made.
        """
        self.whole = 0
        self._length = 0
        self._file = path.open("wb", buffering=0)

    def write(self, data: bytes) -> int:
        """Append all of `data`.

        Raises:
            OSError: the disk took none of it, or a part.
        """
        rest = memoryview(data)
        while rest:  # a disk that is about to be full takes a part first
            rest = rest[self._file.write(rest) :]
        self._length += len(data)
        if data[:1] and data[0] in WHOLE_AFTER:
            self.whole = self._length
        return len(data)

    def tell(self) -> int:
        """Length of what was written [bytes]."""
        return self._length

    def flush(self) -> None:
        """Nothing waits here."""

    def sync(self) -> None:
        """Wait until the disk has what was written.

        Raises:
            OSError: it cannot take it.
        """
        os.fdatasync(self._file.fileno())

    def end_early(self) -> None:
        """Cut what follows the last whole chunk, end the file there, and close it; never raises.

        The end has no index: it takes 50 bytes, which the cut has made room for in most cases.
        Without them, all but the readers that insist on an end still read the file.
        """
        with suppress(OSError, ValueError):  # ValueError: it is closed already
            self._cut()
            try:
                self.write(_end())
            except OSError:
                self._cut()
        with suppress(OSError):
            self._file.close()

    def close(self) -> None:
        """Close the file.

        Raises:
            OSError: the disk refuses what it had seemed to take.
        """
        self._file.close()

    def _cut(self) -> None:
        self._file.truncate(self.whole)
        self._file.seek(self.whole)
        self._length = self.whole


def _end() -> bytes:
    """The shortest end of an MCAP file: no summary, hence no index."""
    builder = RecordBuilder()
    DataEnd(data_section_crc=0).write(builder)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(builder)
    return builder.end() + MCAP0_MAGIC
