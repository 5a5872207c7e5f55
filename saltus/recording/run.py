"""A recorded run as numpy arrays: what ``saltus.open_run`` gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.checked import Message
from runtime.messages import DecodeError, decode
from runtime.recording import Gap, is_whole, read_frames
from runtime.topics import RECORDED, Topic
from saltus.common.errors import BadRequest
from saltus.configuration.options import read_mapping
from saltus.recording.fields import LOG_TIME, columns_of, component_names
from saltus.recording.reading import (
    damage_of,
    readable,
    recording_file,
    summary_of_run,
)

BY_NAME = {topic.name: topic for topic in RECORDED}


class Messages:
    """The messages of one topic: each field is an attribute, an array with one row a message.

    A field whose shape varies from message to message is a list of arrays. Fields ``q`` and ``v``
    of the robot's state are there whole and in parts, such as ``velocity_base``.

    Attributes:
        topic: name of the topic.
        fields: names of the fields; docs/topics.md says what each one means. `log_time` is
            when a message was recorded [s].
        undecodable: number of messages that are left out, because they do not decode.
    """

    def __init__(
        self, topic: Topic[Any], messages: list[Message], log_time: NDArray[np.float64],
        undecodable: int = 0,
    ) -> None:  # fmt: skip
        """Hold at least one message."""
        self.topic, self.undecodable = topic.name, undecodable
        self._columns: dict[str, Any] = {}
        for name, column in columns_of(topic.message).items():
            if column.slots is not None:
                values = self._columns[column.source][:, column.slots]
            elif name == LOG_TIME:
                values = log_time
            else:
                values = [getattr(message, name) for message in messages]
                if not column.varies:  # a height that was not commanded, None, becomes NaN
                    lacks = column.shape == () and None in values
                    values = np.array(values, dtype=float if lacks else None)
            self._columns[name] = values
        self.fields = tuple(self._columns)

    def __len__(self) -> int:
        """Number of messages."""
        return len(self._columns[LOG_TIME])

    def __getattr__(self, name: str) -> Any:
        """The array of a field."""
        columns = self.__dict__.get("_columns", {})
        if name not in columns:
            raise AttributeError(
                f"messages of {self.__dict__.get('topic')!r} have no field {name!r}; "
                f"there are: {', '.join(columns)}"
            )
        return columns[name]

    def table(self) -> dict[str, NDArray[Any]]:
        """One column (n,) a number, by its name and unit, such as ``velocity_base_x [m/s]``.

        A field that holds several quantities is there in its parts alone. One whose shape varies is
        left out.
        """
        table: dict[str, NDArray[Any]] = {}
        for name, column in columns_of(BY_NAME[self.topic].message).items():
            if not (column.varies or column.packed):
                unit = f" [{column.field.unit}]" if column.field.unit else ""
                names = [f"{each}{unit}" for each in component_names(name, column)]
                table |= zip(names, self._columns[name].reshape(len(self), -1).T, strict=True)
        return table

    def to_dataframe(self) -> Any:
        """`table` as a data frame of pandas, which is not installed with Saltus.

        Raises:
            ImportError: pandas is missing.
        """
        return import_module("pandas").DataFrame(self.table())

    def __dir__(self) -> list[str]:
        """The fields too, for completion of names."""
        return [*super().__dir__(), *self.fields]

    def __repr__(self) -> str:
        """Topic, number of messages, and fields."""
        return f"<{len(self)} messages of {self.topic!r}: {', '.join(self.fields)}>"


class Run:
    """A recorded run: ``run["ground_truth"].velocity_base`` is an array, (n, 3).

    A recording that was cut off or damaged gives what it holds. A topic is read when it is first
    asked for.

    Attributes:
        file: the recording.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        """Open a recording.

        Args:
            path: of a run folder, or of the MCAP file itself.

        Raises:
            BadRequest: there is no recording, or it is none of Saltus's.
        """
        self._path = Path(path)
        self.file = recording_file(self._path)
        self._read: dict[str, Messages] = {}
        self._gaps: list[Gap] = []  # once `topics` has been asked for
        with readable(self._path):
            self._whole = is_whole(self.file)
            next(read_frames(self.file), None)

    @cached_property
    def topics(self) -> dict[str, int]:
        """Number of messages by topic, of the topics that the recording holds."""
        with readable(self._path):
            counts = Counter(frame.topic for frame in read_frames(self.file, self._gaps))
        return {name: counts[name] for name in BY_NAME if name in counts}

    @cached_property
    def config(self) -> dict[str, Any]:
        """The launch file, every default written out; empty where there is none beside.

        Raises:
            BadRequest: it is no YAML.
        """
        file = self.file.parent / "launch.yaml"
        return read_mapping(file) if file.is_file() else {}

    @cached_property
    def summary(self) -> dict[str, Any] | None:
        """Summary that the launch printed at its end; None of one that broke off before."""
        return summary_of_run(self.file.parent)

    @property
    def complete(self) -> bool:
        """Whether the recording holds all that was sent."""
        return not self.cause

    @property
    def cause(self) -> str:
        """The reason why the recording is not complete; empty where it is."""
        stopped = ((self.summary or {}).get("recording") or {}).get("cause", "")
        if stopped or not self._whole:
            return stopped or "it was cut off"
        damaged = self.topics and self._gaps
        return f"it {damage_of(self.file, self._gaps)}" if damaged else ""

    def __getitem__(self, topic: str) -> Messages:
        """The messages of a topic.

        Raises:
            BadRequest: the recording holds none; those that it holds are named.
        """
        if topic not in self._read:
            self._read[topic] = self.read(topic)
        return self._read[topic]

    def plot(self, topic: str, *fields: str) -> Any:
        """A figure of matplotlib: fields of a topic, of fixed shape, over time.

        Raises:
            BadRequest: the recording holds no such topic.
            AttributeError: the topic has no such field.
        """
        from matplotlib import pyplot  # slow to load

        messages, columns = self[topic], columns_of(BY_NAME[topic].message)
        figure, axes = pyplot.subplots(len(fields), sharex=True, squeeze=False)
        for axis, name in zip(axes[:, 0], fields, strict=True):
            values, column = getattr(messages, name), columns[name]
            lines = axis.plot(messages.log_time, values.reshape(len(messages), -1))
            if len(lines) > 1 and not column.packed:
                axis.legend(lines, component_names(name, column))
            axis.set_ylabel(f"{name} [{column.field.unit}]")
        axes[-1, 0].set_xlabel("time [s]")
        return figure

    def __contains__(self, topic: object) -> bool:
        """Whether the recording holds messages of a topic."""
        return topic in self.topics

    def __iter__(self) -> Iterator[str]:
        """The topics that the recording holds."""
        return iter(self.topics)

    def read(self, topic: str) -> Messages:
        """The messages of a topic, read anew and not kept: for large recordings.

        Raises:
            BadRequest: the recording holds none; those that it holds are named.
        """
        kind = BY_NAME.get(topic)
        messages, times, undecodable, error = [], [], 0, ""
        with readable(self._path):
            for frame in read_frames(self.file) if kind else ():
                if kind and frame.topic == topic:
                    try:
                        messages.append(decode(kind.message, frame.data))
                        times.append(frame.log_time_ns)
                    except DecodeError as failure:
                        undecodable, error = undecodable + 1, str(failure)
        if kind and messages:
            return Messages(kind, messages, 1e-9 * np.array(times), undecodable)
        if undecodable:
            raise BadRequest(f"{self.file}: {topic} was recorded by another version? {error}")
        there = ", ".join(self.topics) or "nothing: it is empty, or was cut off"
        raise BadRequest(f"{self.file}: holds no messages of topic {topic!r}; there is: {there}")

    def __repr__(self) -> str:
        """File and topics."""
        return f"<run {self.file}: {', '.join(self.topics)}>"
