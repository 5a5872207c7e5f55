"""The chunks of an MCAP file in their order; a damaged one costs no other."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Final

from mcap.data_stream import ReadDataStream
from mcap.exceptions import EndOfFile, McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, McapRecord, Message
from mcap.stream_reader import breakup_chunk
from mcap.writer import MCAP0_MAGIC
from zstandard import ZstdError

Records = list[McapRecord]

# What mcap raises for bytes that are wrong; the last three for lengths and texts that are none.
DAMAGED: Final = (
    McapError, EndOfFile, struct.error, ZstdError, ValueError, OverflowError, MemoryError,
)  # fmt: skip
HEAD: Final = 9  # of a record: its opcode (u8) and length (u64) [bytes]
FOOTER: Final = HEAD + 20  # the last record [bytes]
LARGEST: Final = 2**30  # of a chunk [bytes]
COMPRESSION: Final = b"\x04\x00\x00\x00zstd"  # stands in each chunk ...
COMPRESSION_AT: Final = HEAD + 28  # ... after two times, a size and a checksum [bytes]


@contextmanager
def mapped(file: IO[bytes]) -> Iterator[bytes | mmap.mmap]:
    """The bytes of a file."""
    if not file.seek(0, 2):
        yield b""
        return
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def chunks(data: bytes | mmap.mmap) -> Iterator[Records | None]:
    """The channels and messages of each chunk; None where something is damaged.

    A file that was cut off ends with its last whole chunk.
    """
    start, at = data[: len(MCAP0_MAGIC)], len(MCAP0_MAGIC)
    if not MCAP0_MAGIC.startswith(start):
        yield None
        at = _next_chunk(data, 0)
    while 0 <= at <= len(data) - HEAD:
        opcode, length = struct.unpack_from("<BQ", data, at)
        end = at + HEAD + length
        if opcode == Opcode.FOOTER:
            return
        if not opcode or end > len(data):
            is_cut = opcode and data[-len(MCAP0_MAGIC) :] != MCAP0_MAGIC
            at = _next_chunk(data, at + 1)
            if at >= 0 or not is_cut:
                yield None
            continue
        if opcode in (Opcode.CHUNK, Opcode.CHANNEL, Opcode.MESSAGE):
            yield _records(opcode, data[at + HEAD : end])
        at = end


def summary_channels(data: bytes | mmap.mmap) -> Records:
    """The channels that stand at the end of a finished file too."""
    found: Records = []
    footer = len(data) - len(MCAP0_MAGIC) - FOOTER
    if footer < 0 or data[footer] != Opcode.FOOTER:
        return found
    (at,) = struct.unpack_from("<Q", data, footer + HEAD)
    while 0 < at <= footer - HEAD:
        opcode, length = struct.unpack_from("<BQ", data, at)
        if opcode == Opcode.CHANNEL:
            found += _records(opcode, data[at + HEAD : at + HEAD + length]) or []
        at += HEAD + length
    return found


def _records(opcode: int, content: bytes) -> Records | None:
    """Content of a record; None where it is damaged."""
    stream = ReadDataStream(BytesIO(content))
    try:
        if opcode == Opcode.CHANNEL:
            return [Channel.read(stream)]
        if opcode == Opcode.MESSAGE:
            return [Message.read(stream, len(content))]
        chunk = Chunk.read(stream)
        if chunk.uncompressed_size > LARGEST:
            return None
        return breakup_chunk(chunk, validate_crc=True)
    except DAMAGED:
        return None


def _next_chunk(data: bytes | mmap.mmap, at: int) -> int:
    """Place of the next compressed chunk; -1 without one."""
    while (found := data.find(COMPRESSION, at + COMPRESSION_AT)) >= 0:
        begin = found - COMPRESSION_AT
        opcode, length = struct.unpack_from("<BQ", data, begin)
        if opcode == Opcode.CHUNK and length < LARGEST:
            return begin
        at = begin + 1
    return -1
