"""Differences of replayed messages from recorded ones: which, where first, by how much."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from runtime.checked import Message
from runtime.messages import Plan
from runtime.topics import MOTOR_COMMAND, PLAN, STATE_ESTIMATE, Topic
from saltus.configuration.launch import RecordingOptions
from saltus.recording.fields import LOG_TIME, Column, columns_of, component_names
from saltus.recording.recorder import PlanThinner, Share

# Measured by the wall clock: no two runs agree in them, so they are not compared.
WALL_CLOCK = {PLAN.name: ("solve_s", "round_trip_s")}


class Difference(NamedTuple):
    """First difference of a message from the recorded one.

    Attributes:
        topic: its name.
        tick: of the message; a plan's is that of the estimate it starts from.
        field: with the component, such as ``velocity_base_x``.
        recorded, replayed: its value, or words about its shape.
        size: distance of the two [unit of the field]; 0 where only the sign of a zero differs, None
            where they are no numbers or have no distance.
    """

    topic: str
    tick: int
    field: str
    recorded: Any
    replayed: Any
    size: float | None


class Tally:
    """Counts the messages of one topic, and keeps how they differ.

    Attributes:
        compared: pairs of a recorded and a replayed message.
        different: of these, those that are not equal to the last bit.
        only_recorded: messages that were recorded, and are not there in the replay.
        only_replayed: the other way round.
        first: the first difference; None while there is none.
        largest: distance of the numbers of each field that differs, in its unit; None where a word,
            a count or a shape differs.
    """

    def __init__(self, topic: Topic[Any]) -> None:
        """Compare a topic; fields of `WALL_CLOCK` are not compared."""
        left_out = {LOG_TIME, *WALL_CLOCK.get(topic.name, ())}
        self._columns = {
            name: column for name, column in columns_of(topic.message).items()
            if not column.packed and name not in left_out
        }  # fmt: skip
        self.topic = topic
        self.compared = self.different = self.only_recorded = self.only_replayed = 0
        self.first: Difference | None = None
        self.largest: dict[str, float | None] = {}

    @property
    def identical(self) -> bool:
        """Whether all that was recorded came out again."""
        return not self.different and not self.only_recorded

    def add(self, recorded: Message, replayed: Message) -> None:
        """Compare two messages."""
        self.compared += 1
        earlier, differs = self._is_earlier(recorded), False
        for name, column in self._columns.items():
            own, other = _value(recorded, column), _value(replayed, column)
            if _bits(own) == _bits(other):
                continue
            where = _worst(name, column, own, other)
            size, before = where[-1], self.largest.get(name, 0.0)
            self.largest[name] = None if size is None or before is None else max(size, before)
            if earlier and not differs:
                self.first = Difference(self.topic.name, _tick(recorded), *where)
            differs = True
        self.different += differs

    def miss(self, recorded: Message) -> None:
        """Count a message that does not come in the replay."""
        self.only_recorded += 1
        if self._is_earlier(recorded):
            where = "message", "there", "missing", None
            self.first = Difference(self.topic.name, _tick(recorded), *where)

    def _is_earlier(self, message: Message) -> bool:
        return self.first is None or _tick(message) < self.first.tick


def _tick(message: Any) -> int:
    return message.tick


def _worst(name: str, column: Column, own: Any, other: Any) -> tuple[str, Any, Any, float | None]:
    """Name of the component that differs most, its two values, and their distance.

    The distance is 0 of two NaN, and None of one or of what is no number.
    """
    if not _is_number(own):
        return name, own, other, None
    if np.shape(own) != np.shape(other):
        return name, f"shape {np.shape(own)}", f"shape {np.shape(other)}", None
    a, b = np.ravel(np.asarray(own, float)), np.ravel(np.asarray(other, float))
    with np.errstate(invalid="ignore"):
        gaps = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    gaps = np.where(np.isnan(gaps), np.inf, gaps)
    at = int(np.argmax(np.where(a.view(np.int64) == b.view(np.int64), -1.0, gaps)))
    if column.varies:
        name += str([int(index) for index in np.unravel_index(at, np.shape(own))])
    else:
        name = component_names(name, column)[at]
    return name, float(a[at]), float(b[at]), float(gaps[at]) if np.isfinite(gaps[at]) else None


def _value(message: Message, column: Column) -> Any:
    value = getattr(message, column.source)
    return value if column.slots is None else value[column.slots]


def _is_number(value: Any) -> bool:
    return isinstance(value, (float, np.ndarray))


def _bits(value: Any) -> Any:
    """Form of a value that is equal where it is, to the last bit; for two NaN too."""
    return (np.shape(value), np.asarray(value).tobytes()) if _is_number(value) else value


COMPARED: tuple[Topic[Any], ...] = (STATE_ESTIMATE, PLAN, MOTOR_COMMAND)  # as a tick makes them


class Comparison:
    """Recorded messages beside replayed ones.

    Attributes:
        tallies: by name of the topic.
    """

    def __init__(self, options: RecordingOptions) -> None:
        """`options` say what was recorded of plans."""
        self._thinner = PlanThinner(options)
        self.tallies = {topic.name: Tally(topic) for topic in COMPARED}
        # By topic and tick, messages without a counterpart yet; of plans, how much was recorded.
        self._recorded: dict[tuple[str, int], tuple[Any, Share]] = {}
        self._replayed: dict[tuple[str, int], Any] = {}

    def take_recorded(self, topic: Topic[Any], message: Any, log_time_ns: int) -> None:
        """Take the next recorded message of a topic; plans in order, for few are whole."""
        share = self._thinner.share(log_time_ns) if topic is PLAN else "all"
        self._recorded[topic.name, message.tick] = message, share
        self._compare(topic.name, message.tick)

    def take_replayed(self, topic: Topic[Any], message: Any) -> None:
        """Take the next replayed message of a topic."""
        self._replayed[topic.name, message.tick] = message
        self._compare(topic.name, message.tick)

    def close(self, before: float = math.inf) -> None:
        """Count messages without a counterpart before the tick `before`."""
        for (name, tick), (message, _) in self._recorded.items():
            if tick < before:
                self.tallies[name].miss(message)
        for name, _ in self._replayed:
            self.tallies[name].only_replayed += 1

    @property
    def identical(self) -> bool:
        """Whether all that was recorded came out again, to the last bit."""
        return all(tally.identical for tally in self.tallies.values())

    @property
    def first(self) -> Difference | None:
        """The first difference by tick, and within a tick in the order of the data flow."""
        found = [tally.first for tally in self.tallies.values() if tally.first is not None]
        return min(found, key=lambda difference: difference.tick, default=None)

    def _compare(self, *key: Any) -> None:
        if key in self._recorded and key in self._replayed:
            (recorded, share), replayed = self._recorded.pop(key), self._replayed.pop(key)
            if isinstance(replayed, Plan):
                replayed = self._thinner.keep(replayed, share)
            self.tallies[key[0]].add(recorded, replayed)
