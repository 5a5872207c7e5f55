"""Feeds a run recorded in lock step through the stack again, and compares what comes out."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from runtime.checked import Message
from runtime.messages import Plan, decode
from runtime.recording import read_frames
from runtime.topics import MOTOR_COMMAND, PLAN, SENSOR_READING, STATE_ESTIMATE, TUNING, Topic
from saltus.common.compiled_code import code_version
from saltus.common.console import Fact, RunProgress
from saltus.common.errors import BadRequest
from saltus.configuration.launch import TICK_S, LaunchConfig, make_config
from saltus.launch.lock_step import Stack
from saltus.launch.outcome import shown_value
from saltus.launch.warmup import ensure_compiled
from saltus.recording.fields import LOG_TIME, Column, columns_of, component_names
from saltus.recording.reading import readable
from saltus.recording.recorder import PlanThinner, Share
from saltus.recording.run import Run

COMPARED: tuple[Topic[Any], ...] = (STATE_ESTIMATE, PLAN, MOTOR_COMMAND)  # as a tick makes them
NEEDED = (SENSOR_READING, *COMPARED)
# Measured by the wall clock: no two runs agree in them, so they are not compared.
WALL_CLOCK = {PLAN.name: ("solve_s", "round_trip_s")}


class Difference(msgspec.Struct):
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


class Tally(msgspec.Struct):
    """Counts the messages of one topic, and keeps how they differ.

    Attributes:
        compared: pairs of a recorded and a replayed message.
        different: of these, those that are not equal to the last bit.
        only_recorded: messages that were recorded, and are not there in the replay.
        only_replayed: the other way round.
        fields: distance of the numbers of each field that differs, in its unit; None where a word,
            a count or a shape differs.
        first: the first difference; None while there is none.
    """

    compared: int = 0
    different: int = 0
    only_recorded: int = 0
    only_replayed: int = 0
    fields: dict[str, float | None] = {}
    first: Difference | None = None

    def add(self, topic: Topic[Any], recorded: Any, replayed: Any) -> None:
        """Compare two messages of a topic, but for its fields of `WALL_CLOCK`."""
        found = list[Difference]()
        for name, column in _columns(topic).items():
            own, other = _value(recorded, column), _value(replayed, column)
            if _bits(own) != _bits(other):
                worst = _worst(name, column, own, other)
                size, before = worst[-1], self.fields.get(name, 0.0)
                self.fields[name] = None if size is None or before is None else max(size, before)
                found.append(Difference(topic.name, recorded.tick, *worst))
        self.compared += 1
        self.different += bool(found)
        self._note(*found[:1])

    def miss(self, topic: Topic[Any], tick: int) -> None:
        """Count a message that does not come in the replay."""
        self.only_recorded += 1
        self._note(Difference(topic.name, tick, "message", "there", "missing", None))

    def _note(self, *found: Difference) -> None:
        both = [*found, *([self.first] if self.first else [])]
        self.first = min(both, key=lambda difference: difference.tick, default=None)


class Replay(msgspec.Struct):
    """Output of `saltus replay --json`.

    Attributes:
        identical: all that was recorded came out again, to the last bit.
        first_difference: by tick, and within a tick in the order of the data flow; None where there
            is none.
        topics: tallies by topic.
        notes: what may be the reason of a difference, and what could not be compared.
    """

    identical: bool
    first_difference: Difference | None
    topics: dict[str, Tally]
    notes: list[str]


@cache
def _columns(topic: Topic[Any]) -> dict[str, Column]:
    """The columns of a topic that are compared."""
    left_out = {LOG_TIME, *WALL_CLOCK.get(topic.name, ())}
    return {name: column for name, column in columns_of(topic.message).items()
            if not column.packed and name not in left_out}  # fmt: skip


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


def open_recording(path: Path) -> tuple[Run, LaunchConfig]:
    """A run folder, or its recording, and what was launched.

    Raises:
        BadRequest: there is no recording, one of another format, without a topic that is needed,
            in real time, or without a launch file beside it that this version accepts.
    """
    run = Run(path)
    missing = [topic.name for topic in NEEDED if topic.name not in run]
    if missing:
        there = ", ".join(run.topics) or "nothing"
        raise BadRequest(f"{path}: nothing of {', '.join(missing)} recorded; there is: {there}")
    file = run.file.parent / "launch.yaml"
    if not run.config:
        raise BadRequest(f"{file}: not there, or empty; it says what was launched")
    config = make_config(run.config, str(file))
    if config.mode != "paused":
        raise BadRequest(
            f"{path}: was recorded in real time, where which message each process had is not "
            "recorded; replay a run of mode paused"
        )
    return run, config


Recorded = dict[tuple[Topic[Any], int], tuple[bytes, Share]]


def recorded_messages(file: Path, thinner: PlanThinner) -> Recorded:
    """Frames of the compared messages by topic and tick, and how much was kept of a plan."""
    topics, found = {topic.name: topic for topic in COMPARED}, Recorded()
    for frame in read_frames(file):
        if (topic := topics.get(frame.topic)) is not None:
            message = decode(topic.message, frame.data)
            # The tracker ends with a command that is later than the reading it names.
            if topic is not MOTOR_COMMAND or round(message.time / TICK_S) == message.tick:
                share = thinner.share(frame.log_time_ns) if topic is PLAN else "all"
                found[topic, message.tick] = frame.data, share
    return found


def feed(file: Path, config: LaunchConfig, tallies: dict[str, Tally], progress: RunProgress) -> str:
    """Feed the readings of a recording to the stack, in their order, and compare what it makes.

    Returns:
        Why the replay ended before the recording; empty where it did not.

    Raises:
        BadRequest: the recording is damaged, or another version made it.
    """
    stack, thinner = Stack(config), PlanThinner(config.recording)
    due, end = 0, ""
    with readable(file):
        recorded = recorded_messages(file, thinner)
        for frame in read_frames(file):
            if frame.topic != SENSOR_READING.name:
                continue
            reading = decode(SENSOR_READING.message, frame.data)
            if reading.tick != due:
                end = f"no reading of tick {due} was recorded: nothing after it can be compared"
                break
            answer = stack.answer(reading)
            made = answer.estimate, answer.plan, answer.command
            for topic, message in zip(COMPARED, made, strict=True):
                if message is None:
                    continue
                data, share = recorded.pop((topic, message.tick), (b"", "all"))
                if not data:
                    tallies[topic.name].only_replayed += 1
                    continue
                if isinstance(message, Plan):
                    message = thinner.keep(message, share)
                tallies[topic.name].add(topic, decode(topic.message, data), message)
            due += 1
            progress.show(due * TICK_S, "replayed")
    for topic, tick in recorded:
        if not end or tick < due:
            tallies[topic.name].miss(topic, tick)
    return end


def replay(path: Path) -> Replay:
    """Replay a run folder, or its recording.

    Raises:
        BadRequest: it cannot be read, lacks a topic, or this version cannot launch it.
    """
    run, config = open_recording(path)
    ensure_compiled(config)
    tallies = {topic.name: Tally() for topic in COMPARED}
    with RunProgress(config.duration, "s recorded") as progress:
        end = feed(run.file, config, tallies, progress)
    notes, recorded = [], (run.summary or {}).get("code", "")
    if recorded and recorded != code_version():
        notes.append(f"recorded by {recorded}; this is {code_version()}")
    if TUNING.name in run:
        notes.append("the planner was tuned by hand meanwhile, which is not replayed")
    if run.cause:
        notes.append(f"the recording is not complete: {run.cause}")
    notes += [end] if end else []
    found = [tally.first for tally in tallies.values() if tally.first is not None]
    first = min(found, key=lambda difference: difference.tick, default=None)
    return Replay(not (found or end), first, tallies, notes)


def facts(result: Replay) -> list[Fact]:
    """The verdict, and what may be its reason."""
    first, verdict = result.first_difference, "FAILED"
    if result.identical:
        verdict, words = "OK", "identical to the last bit"
    elif first is None:
        words = "not all could be compared; what was is identical to the last bit"
    else:
        size = "" if first.size is None else f" (difference {first.size:.3g})"
        words = (
            f"first difference: {first.topic} of tick {first.tick}, {first.field}: recorded "
            f"{first.recorded!r}, replayed {first.replayed!r}{size}"
        )
    return [Fact(verdict, words), *(Fact("note", note) for note in result.notes)]


def table(result: Replay) -> list[dict[str, Any]]:
    """A row for each topic, with the largest difference of each field that differs."""
    return [
        {"topic": name, "compared": tally.compared, "different": tally.different,
         "only_recorded": tally.only_recorded, "only_replayed": tally.only_replayed,
         "fields": shown_value(tally.fields, 9)}
        for name, tally in result.topics.items()
    ]  # fmt: skip
