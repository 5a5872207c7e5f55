"""Recording frames to MCAP, and reading them back.

A recording has two kinds of channels: every frame as it came over the wire, in msgpack, which
Saltus reads back; and open channels in JSON, for the field's viewers, which Saltus never reads.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import msgspec
from mcap.data_stream import RecordBuilder
from mcap.records import Channel, McapRecord
from mcap.records import Message as Record
from mcap.writer import MCAP0_MAGIC, CompressionType, Writer

from runtime.chunk_file import ChunkFile
from runtime.chunks import chunks, mapped, summary_channels
from runtime.messages import Message, decode
from runtime.topics import TOPICS, Topic

PROFILE = "saltus"
ENCODING = "msgpack"  # of the frames
OPEN_ENCODING = "json"


class RecordedFrame(NamedTuple):
    """One recorded frame: topic name, when it was recorded [ns], and its bytes."""

    topic: str
    log_time_ns: int
    data: bytes


class OpenChannel(NamedTuple):
    """A channel that a viewer decodes: its name, and name and JSON schema of its messages."""

    name: str
    schema_name: str
    schema: bytes


class Recorder(AbstractContextManager["Recorder"]):
    """Writes frames to the MCAP file `path`; `close` finishes it.

    Frames go to disk in chunks of 1 MiB, then compressed, so a process that is killed loses at most
    the last one. The frames' channels stand after each chunk again, so that one which is damaged
    takes no other's, where no summary follows.
    Where the disk refuses (it is full, or broken), the recording stops and keeps its whole chunks;
    the recording process goes on: neither the writers nor `close` raise OSError.

    Attributes:
        failure: why the recording stopped before its end; empty while it has not.
        kept: number of frames in the file's whole chunks: all of them once it is closed well.
        kept_until_ns: newest log time of these [ns].
    """

    def __init__(self, path: Path, about: dict[str, str] | None = None) -> None:
        """Begin the file, with what it is `about` as its metadata.

        Raises:
            OSError: it cannot be made or begun.
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.failure, self.kept, self.kept_until_ns = "", 0, 0
        self._written, self._newest_ns, self._whole = 0, 0, 0
        self._file = ChunkFile(path)
        self._writer = Writer(cast(IO[Any], self._file), compression=CompressionType.ZSTD)
        try:
            self._writer.start(profile=PROFILE, library=PROFILE)
            self._writer.add_metadata(PROFILE, about or {})
        except OSError:
            self._file.close()
            raise
        self._channels: dict[str, int] = {}
        self._names = b""  # the records of the frames' channels
        self._closed = False

    @property
    def size(self) -> int:
        """Length of the file so far [bytes]."""
        return self._file.tell()

    def flush(self, sync: bool = False) -> None:
        """End the chunk, so that it survives a kill of this process, or with `sync` no power."""
        if self.failure or self._closed:
            return
        try:
            self._writer.flush()
            if sync:
                self._file.sync()
        except OSError as error:
            self._stop(error)
        self._count()

    def close(self) -> None:
        """Write the index and close the file; once is enough."""
        if self._closed:
            return
        self._closed = True
        try:
            if not self.failure:
                self._writer.finish()
            self._file.close()
        except OSError as error:
            self._stop(error)
        self._count()

    def write(self, topic: Topic[Any], frame: bytes, log_time_ns: int) -> None:
        """Append a frame of `topic` that arrived at `log_time_ns` [ns]; nothing once stopped."""
        self.append(topic, frame, log_time_ns)

    def append(self, kind: Topic[Any] | OpenChannel, data: bytes, log_time_ns: int) -> None:
        """Append a frame, or a JSON message of an open channel, as it is."""
        if self.failure:
            return
        try:
            channel = self._channels.get(kind.name)
            if channel is None:
                channel = self._channels[kind.name] = self._register(kind)
                self._count()
            if isinstance(kind, Topic):
                self._written += 1
                self._newest_ns = max(self._newest_ns, log_time_ns)
            self._writer.add_message(channel, log_time_ns, data, log_time_ns)
        except OSError as error:
            self._stop(error)
        self._count()

    def _stop(self, error: OSError) -> None:
        self.failure = error.strerror or str(error)
        self._file.end_early()

    def _count(self) -> None:
        """Count what the file's whole chunks hold, whenever one has come to them."""
        if self._file.whole == self._whole:
            return
        is_chunk, self._whole = self._whole > 0, self._file.whole  # the first is the header
        self.kept, self.kept_until_ns = self._written, self._newest_ns
        if is_chunk and not (self.failure or self._closed):
            try:
                self._file.write(self._names)
            except OSError as error:
                self._stop(error)

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _register(self, kind: Topic[Any] | OpenChannel) -> int:
        if isinstance(kind, OpenChannel):
            schema_id = self._writer.register_schema(kind.schema_name, "jsonschema", kind.schema)
            return self._writer.register_channel(kind.name, OPEN_ENCODING, schema_id)
        schema = json.dumps(message_schema(kind.message)).encode()
        schema_id = self._writer.register_schema(kind.message.__name__, "jsonschema", schema)
        number = self._writer.register_channel(kind.name, ENCODING, schema_id)
        names = RecordBuilder()
        Channel(number, kind.name, ENCODING, {}, schema_id).write(names)
        self._names += names.end()
        return number


def message_schema(kind: type[Message]) -> dict[str, Any]:
    """JSON schema of a message as it stands on the wire, arrays as [dtype, shape, bytes]."""
    array = {
        "type": "array",
        "description": "dtype, shape, little-endian bytes in row-major order",
        "prefixItems": [{"const": "<f8"}, {"type": "array", "items": {"type": "integer"}}, {}],
    }
    return msgspec.json.schema(kind, schema_hook=lambda _: array)


class Gap(NamedTuple):
    """A damaged part of a recording: log times of the frames around it [ns], None at its ends."""

    after_ns: int | None
    before_ns: int | None


def read_frames(path: Path, gaps: list[Gap] | None = None) -> Iterator[RecordedFrame]:
    """The frames in the order in which they were written; open channels are passed over.

    A file that was cut off yields all its whole chunks. Damaged chunks alone are left out, and
    added to `gaps`.

    Raises:
        ValueError: it is no MCAP file, or nothing in it can be read.
    """
    channels: dict[int, str] = {}
    last_ns, is_damaged = None, False
    with Path(path).open("rb") as file, mapped(file) as data:
        for records in chunks(data):
            if records is None:
                is_damaged = True
                _name(summary_channels(data), channels)
                continue
            _name(records, channels)
            for record in records:
                if not isinstance(record, Record) or record.channel_id not in channels:
                    continue
                if is_damaged and gaps is not None:
                    gaps.append(Gap(last_ns, record.log_time))
                last_ns, is_damaged = record.log_time, False
                yield RecordedFrame(channels[record.channel_id], last_ns, record.data)
    if is_damaged and last_ns is None:
        raise ValueError(f"{path}: not a valid MCAP file, or nothing in it can be read")
    if is_damaged and gaps is not None:
        gaps.append(Gap(last_ns, None))


def _name(records: Iterable[McapRecord], channels: dict[int, str]) -> None:
    """Add the topics of frames to `channels`."""
    for record in records:
        if isinstance(record, Channel) and record.message_encoding == ENCODING:
            channels[record.id] = record.topic


def is_whole(path: Path) -> bool:
    """Whether a recording was finished: one that was cut off, as by a kill, lacks its end."""
    with Path(path).open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - len(MCAP0_MAGIC)))
        return file.read() == MCAP0_MAGIC


def read_recording(
    path: Path, topics: Collection[Topic[Any]] = TOPICS, gaps: list[Gap] | None = None
) -> Iterator[tuple[str, Message]]:
    """(topic name, message) of these topics, in recorded order; all others are passed over.

    Damaged parts are left out, and added to `gaps`.

    Raises DecodeError where a frame does not decode: it was recorded by another version.
    """
    kinds = {topic.name: topic.message for topic in topics}
    for frame in read_frames(path, gaps):
        if frame.topic in kinds:
            yield frame.topic, decode(kinds[frame.topic], frame.data)
