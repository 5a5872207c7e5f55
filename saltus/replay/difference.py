"""How replayed messages differ from those recorded: which, where first, by how much."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.checked import Message
from runtime.messages import Plan
from runtime.topics import MOTOR_COMMAND, PLAN, STATE_ESTIMATE, Topic
from saltus.configuration.launch import RecordingOptions
from saltus.recording.fields import LOG_TIME, Column, columns_of, component_names
from saltus.recording.recorder import PlanThinner, Share

# Measured by the wall clock: no two runs agree in them, so nobody compares them.
WALL_CLOCK = {PLAN.name: ("solve_s", "round_trip_s")}


class Difference(NamedTuple):
    """Where a message first differs from the recorded one.

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


@dataclass
class Spread:
    """Differences of one field in all messages.

    Attributes:
        largest: of all numbers [unit of the field]; inf where one has no distance.
        scale: the largest recorded value, without its sign.
        squares: sum of the differences' squares.
        count: of the numbers.
    """

    largest: float = 0.0
    scale: float = 0.0
    squares: float = 0.0
    count: int = 0

    def add(self, own: NDArray[np.float64], gaps: NDArray[np.float64]) -> None:
        """Count the recorded numbers of a message, and their distances to those replayed."""
        self.scale = max(self.scale, float(np.abs(own[np.isfinite(own)]).max(initial=0.0)))
        self.largest = max(self.largest, float(gaps.max(initial=0.0)))
        self.squares += float(gaps @ gaps)
        self.count += gaps.size

    @property
    def rms(self) -> float:
        """Root of the mean square over all numbers of all messages."""
        return math.sqrt(self.squares / self.count) if self.count else 0.0


class Tally:
    """Counts the messages of one topic, and keeps how they differ.

    Attributes:
        compared: pairs of a recorded and a replayed message.
        different: of these, those that are not equal to the last bit.
        only_recorded: messages that were recorded, and are not there in the replay.
        only_replayed: the other way round.
        first: the first difference; None while there is none.
        spreads: of each field that holds floating point numbers.
        others: by field, in how many messages a word, a count or a shape differs.
    """

    def __init__(self, topic: Topic[Any]) -> None:
        """Of a topic; fields of `WALL_CLOCK` are not compared."""
        left_out = {LOG_TIME, *WALL_CLOCK.get(topic.name, ())}
        self._columns = {
            name: column for name, column in columns_of(topic.message).items()
            if not column.packed and name not in left_out
        }  # fmt: skip
        self.topic = topic
        self.compared = self.different = self.only_recorded = self.only_replayed = 0
        self.first: Difference | None = None
        self.spreads: dict[str, Spread] = {}
        self.others: Counter[str] = Counter()

    @property
    def identical(self) -> bool:
        """Whether all that was recorded came out again."""
        return not self.different and not self.only_recorded

    def unit(self, name: str) -> str:
        """Unit of a field."""
        return self._columns[name].field.unit

    def add(self, recorded: Message, replayed: Message) -> None:
        """Compare two messages."""
        self.compared += 1
        differs = False
        for name, column in self._columns.items():
            own, other = _value(recorded, column), _value(replayed, column)
            same = _bits(own) == _bits(other)
            if _is_number(own) and np.shape(own) == np.shape(other):
                gaps = np.zeros(np.size(own)) if same else distances(own, other)
                self.spreads.setdefault(name, Spread()).add(np.ravel(own), gaps)
            else:
                self.others[name] += not same
            if same:
                continue
            if not differs and self._is_earlier(recorded):
                self._note(recorded, *_worst(name, column, own, other))
            differs = True
        self.different += differs

    def miss(self, recorded: Message) -> None:
        """Count a message that does not come in the replay."""
        self.only_recorded += 1
        if self._is_earlier(recorded):
            self._note(recorded, "message", "there", "missing", None)

    def _is_earlier(self, message: Any) -> bool:
        return self.first is None or message.tick < self.first.tick

    def _note(self, message: Any, *where: Any) -> None:
        self.first = Difference(self.topic.name, message.tick, *where)


def distances(own: Any, other: Any) -> NDArray[np.float64]:
    """Distance of each number to its counterpart; 0 for two NaN, inf for one."""
    a, b = np.ravel(np.asarray(own, float)), np.ravel(np.asarray(other, float))
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        gaps = np.where(equal, 0.0, np.abs(a - b))
    return np.where(np.isnan(gaps), np.inf, gaps)


def _worst(name: str, column: Column, own: Any, other: Any) -> tuple[str, Any, Any, float | None]:
    """Name of the component that differs most, its two values, and their distance."""
    if not _is_number(own):
        return name, own, other, None
    if np.shape(own) != np.shape(other):
        return name, f"shape {np.shape(own)}", f"shape {np.shape(other)}", None
    a, b = np.ravel(np.asarray(own, float)), np.ravel(np.asarray(other, float))
    gaps = distances(own, other)
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
    """What is equal where a value is, to the last bit; unlike numbers, for two NaN too."""
    return (np.shape(value), np.asarray(value).tobytes()) if _is_number(value) else value


COMPARED: tuple[Topic[Any], ...] = (STATE_ESTIMATE, PLAN, MOTOR_COMMAND)  # as a tick makes them


class _Recorded(NamedTuple):
    message: Any
    share: Share  # of a plan that was recorded


class Comparison:
    """What was recorded beside what is replayed.

    Attributes:
        tallies: by name of the topic.
    """

    def __init__(self, options: RecordingOptions, topics: Sequence[Topic[Any]]) -> None:
        """Of messages of `topics`; `options` say what was recorded of plans."""
        self._thinner = PlanThinner(options)
        self.tallies = {topic.name: Tally(topic) for topic in topics}
        self._recorded: dict[str, dict[int, _Recorded]] = {topic.name: {} for topic in topics}
        self._replayed: dict[str, dict[int, Any]] = {topic.name: {} for topic in topics}

    def take_recorded(self, topic: Topic[Any], message: Any, log_time_ns: int) -> None:
        """Take the next recorded message of a topic; plans in order, for few are whole."""
        share = self._thinner.share(log_time_ns) if topic is PLAN else "gains"
        recorded = _Recorded(message, share)
        replayed = self._replayed[topic.name].pop(message.tick, None)
        if replayed is None:
            self._recorded[topic.name][message.tick] = recorded
        else:
            self._compare(topic, recorded, replayed)

    def take_replayed(self, topic: Topic[Any], message: Any) -> None:
        """Take the next replayed message of a topic."""
        recorded = self._recorded[topic.name].pop(message.tick, None)
        if recorded is None:
            self._replayed[topic.name][message.tick] = message
        else:
            self._compare(topic, recorded, message)

    def close(self, before: int | None = None) -> None:
        """Count what has no counterpart; nothing from tick `before` on, where it is given."""
        for name, tally in self.tallies.items():
            for recorded in self._recorded[name].values():
                if before is None or recorded.message.tick < before:
                    tally.miss(recorded.message)
            tally.only_replayed = len(self._replayed[name])

    @property
    def identical(self) -> bool:
        """Whether all that was recorded came out again, to the last bit."""
        return all(tally.identical for tally in self.tallies.values())

    @property
    def first(self) -> Difference | None:
        """The first difference by tick, and within a tick in the order of the data flow."""
        found = [tally.first for tally in self.tallies.values() if tally.first is not None]
        return min(found, key=lambda difference: difference.tick, default=None)

    def _compare(self, topic: Topic[Any], recorded: _Recorded, replayed: Message) -> None:
        if isinstance(replayed, Plan):
            replayed = self._thinner.keep(replayed, recorded.share)
        self.tallies[topic.name].add(recorded.message, replayed)
