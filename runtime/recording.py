"""Recording frames to MCAP, which the field's own tools open, and reading them back."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from mcap.exceptions import EndOfFile, InvalidMagic
from mcap.records import Channel
from mcap.records import Message as Record
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer

from runtime.messages import Message, decode
from runtime.topics import TOPICS, Topic

PROFILE = "saltus"
ENCODING = "msgpack"


class Frame(NamedTuple):
    """One recorded frame: topic name, when it was recorded [ns], and its bytes."""

    topic: str
    log_time_ns: int
    data: bytes


class Recorder:
    """Writes frames to the MCAP file `path`; `close` finishes it.

    Frames go to disk in chunks of 1 MiB, so a process that is killed loses at most the last one.
    """

    def __init__(self, path: Path) -> None:
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")
        self._writer = Writer(self._file, compression=CompressionType.LZ4)
        self._writer.start(profile=PROFILE, library=PROFILE)
        self._channels: dict[str, int] = {}
        self._closed = False

    def write(self, topic: Topic[Any], frame: bytes, log_time_ns: int) -> None:
        """Append a frame of `topic` that arrived at `log_time_ns` [ns]."""
        channel = self._channels.get(topic.name)
        if channel is None:
            channel = self._channels[topic.name] = self._register(topic)
        self._writer.add_message(channel, log_time_ns, frame, log_time_ns)

    def close(self) -> None:
        """Write the index and close the file; once is enough."""
        if not self._closed:
            self._closed = True
            self._writer.finish()
            self._file.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _register(self, topic: Topic[Any]) -> int:
        schema = json.dumps(message_schema(topic.message)).encode()
        schema_id = self._writer.register_schema(topic.message.__name__, "jsonschema", schema)
        return self._writer.register_channel(topic.name, ENCODING, schema_id)


def message_schema(kind: type[Message]) -> dict[str, Any]:
    """JSON schema of a message as it stands on the wire, arrays as [dtype, shape, bytes]."""
    array = {
        "type": "array",
        "description": "dtype, shape, little-endian bytes in row-major order",
        "prefixItems": [{"const": "<f8"}, {"type": "array", "items": {"type": "integer"}}, {}],
    }
    return msgspec.json.schema(kind, schema_hook=lambda _: array)


def read_frames(path: Path) -> Iterator[Frame]:
    """The frames in the order in which they were written.

    A file that was cut off yields all its whole chunks. Raises ValueError where it is no MCAP file.
    """
    channels: dict[int, str] = {}
    with Path(path).open("rb") as file:
        try:
            for record in StreamReader(file).records:
                if isinstance(record, Channel):
                    channels[record.id] = record.topic
                elif isinstance(record, Record):
                    yield Frame(channels[record.channel_id], record.log_time, record.data)
        except (EndOfFile, struct.error):  # mcap raises either, by where the cut is
            return
        except InvalidMagic as error:
            raise ValueError(f"{path}: {error}") from None


def read_recording(path: Path) -> Iterator[tuple[str, Message]]:
    """(topic name, message) in recorded order; topics that are not in the table are passed over.

    Raises DecodeError where a frame does not decode: it was recorded by another version.
    """
    kinds = {topic.name: topic.message for topic in TOPICS}
    for frame in read_frames(path):
        if frame.topic in kinds:
            yield frame.topic, decode(kinds[frame.topic], frame.data)
