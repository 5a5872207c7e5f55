"""Feeds the readings of a recorded run through the stack again; in real time, the estimator."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from runtime.messages import SensorReading, decode
from runtime.recording import read_frames
from runtime.topics import (
    MOTOR_COMMAND,
    PLAN,
    SENSOR_READING,
    STATE_ESTIMATE,
    TUNING,
    Topic,
)
from saltus.common.compiled_code import code_version
from saltus.common.console import Fact, RunProgress
from saltus.common.errors import BadRequest
from saltus.configuration.launch import TICK_S, LaunchConfig, make_config
from saltus.launch import assembly
from saltus.launch.lock_step import Stack
from saltus.launch.warmup import ensure_compiled
from saltus.recording.reading import readable
from saltus.recording.run import Run
from saltus.replay.difference import COMPARED, Comparison, Difference, Tally

NEEDED = (SENSOR_READING, *COMPARED)


class Taped(NamedTuple):
    """A recorded message, its topic, and when it was recorded [ns]."""

    topic: Topic[Any]
    message: Any
    log_time_ns: int


class Tape:
    """A recorded run.

    Attributes:
        run: the same as arrays.
        config: what was launched.
    """

    def __init__(self, path: Path) -> None:
        """Open a run folder, or its recording, with the launch file beside it.

        Raises:
            BadRequest: there is no recording, one of another format, without a topic that is
                needed, or without a launch file that this version accepts.
        """
        self.run = Run(path)
        missing = [topic.name for topic in NEEDED if topic.name not in self.run]
        if missing:
            there = ", ".join(self.run.topics) or "nothing"
            raise BadRequest(f"{path}: nothing of {', '.join(missing)} recorded; there is: {there}")
        file = self.run.file.parent / "launch.yaml"
        if not self.run.config:
            raise BadRequest(f"{file}: not there, or empty; it says what was launched")
        self.config: LaunchConfig = make_config(self.run.config, str(file))

    @property
    def tunings(self) -> int:
        """How often the planner's options were changed by hand."""
        return self.run.topics.get(TUNING.name, 0)

    def messages(self) -> Iterator[Taped]:
        """All that a replay needs, in recorded order.

        Raises:
            BadRequest: the recording is damaged, or another version made it.
        """
        topics = {topic.name: topic for topic in NEEDED}
        with readable(self.run.file):
            for frame in read_frames(self.run.file):
                if topic := topics.get(frame.topic):
                    yield Taped(topic, decode(topic.message, frame.data), frame.log_time_ns)


def replay_in_lock_step(tape: Tape, comparison: Comparison, progress: RunProgress) -> str:
    """Feed the readings through the stack, tick by tick.

    Returns:
        Why the replay ended before the recording; empty where it did not.
    """
    stack, due = Stack(tape.config), 0
    for topic, message, log_time_ns in tape.messages():
        if topic in COMPARED and not _is_farewell(topic, message):
            comparison.take_recorded(topic, message, log_time_ns)
        elif topic is SENSOR_READING:
            if message.tick != due:
                comparison.close(before=due)
                return f"no reading of tick {due} was recorded: nothing after it can be compared"
            _answer(stack, message, comparison)
            due += 1
            progress.show(message.time, "replayed")
    comparison.close()
    return ""


def _answer(stack: Stack, reading: SensorReading, comparison: Comparison) -> None:
    answer = stack.answer(reading)
    made = (STATE_ESTIMATE, answer.estimate), (PLAN, answer.plan), (MOTOR_COMMAND, answer.command)
    for topic, message in made:
        if message is not None:
            comparison.take_replayed(topic, message)


def _is_farewell(topic: Topic[Any], message: Any) -> bool:
    """Whether it is the command that the tracker ends with, later than the reading it names."""
    return topic is MOTOR_COMMAND and round(message.time / TICK_S) != message.tick


def replay_in_real_time(tape: Tape, comparison: Comparison, progress: RunProgress) -> str:
    """Feed the readings to the estimator alone.

    Which message planner and tracker had when they computed is not recorded, nor how long a solve
    might go on.
    """
    estimator, begin = assembly.make_estimator(tape.config), None
    for topic, message, log_time_ns in tape.messages():
        if topic is STATE_ESTIMATE:
            comparison.take_recorded(topic, message, log_time_ns)
        elif topic is SENSOR_READING:
            comparison.take_replayed(STATE_ESTIMATE, estimator.update(message))
            begin = message.time if begin is None else begin
            progress.show(message.time - begin, "replayed")
    comparison.close()
    return ""


class Replay(NamedTuple):
    """A run that was replayed.

    Attributes:
        lock_step: of the whole stack; else of the estimator alone.
        identical: all that was recorded came out again, to the last bit.
        first: the first difference; None where there is none.
        tallies: by topic.
        notes: what may be the reason of a difference, and what could not be compared.
    """

    lock_step: bool
    identical: bool
    first: Difference | None
    tallies: dict[str, Tally]
    notes: list[str]


def replay(path: Path) -> Replay:
    """Replay a run folder, or its recording.

    Raises:
        BadRequest: it cannot be read, lacks a topic, or this version cannot launch it.
    """
    tape = Tape(path)
    config = tape.config
    ensure_compiled(config)
    for name in ("controller", "estimator"):  # what they logged stands in the run's own logs
        logging.getLogger(name).addHandler(logging.NullHandler())
    lock_step = config.mode == "paused"
    topics = COMPARED if lock_step else (STATE_ESTIMATE,)
    comparison = Comparison(config.recording, topics)
    with RunProgress(config.duration, "s recorded") as progress:
        run = replay_in_lock_step if lock_step else replay_in_real_time
        end = run(tape, comparison, progress)
    identical = comparison.identical and not end
    notes = [*_causes(tape), *([end] if end else [])]
    return Replay(lock_step, identical, comparison.first, comparison.tallies, notes)


def _causes(tape: Tape) -> list[str]:
    """Why a replay may differ that changed nothing else."""
    notes, run = [], tape.run
    recorded = (run.summary or {}).get("code", "")
    if recorded and recorded != code_version():
        notes.append(f"recorded by {recorded}; this is {code_version()}")
    if tape.config.mode != "paused":
        notes.append("recorded in real time: estimates alone are replayed")
    elif tape.tunings:
        notes.append("somebody tuned the planner meanwhile, which is not replayed")
    if run.cause:
        notes.append(f"the recording is not complete: {run.cause}")
    return notes


def as_json(result: Replay) -> dict[str, Any]:
    """What `saltus replay --json` prints."""
    return {
        "identical": result.identical,
        "first_difference": None if result.first is None else result.first._asdict(),
        "lock_step": result.lock_step,
        "topics": {name: _counts(tally) for name, tally in result.tallies.items()},
        "notes": result.notes,
    }


def _counts(tally: Tally) -> dict[str, Any]:
    spreads = {name: spread for name, spread in tally.spreads.items() if spread.largest > 0.0}
    return {
        "compared": tally.compared, "different": tally.different,
        "only_recorded": tally.only_recorded, "only_replayed": tally.only_replayed,
        "fields": {
            name: {"largest": spread.largest, "rms": spread.rms, "unit": tally.unit(name)}
            for name, spread in spreads.items()
        },
        "other_fields": {name: count for name, count in tally.others.items() if count},
    }  # fmt: skip


def facts(result: Replay) -> list[Fact]:
    """The verdict, and what may be its reason."""
    return [_headline(result), *(Fact("note", note) for note in result.notes)]


def tables(result: Replay) -> dict[str, list[dict[str, Any]]]:
    """By title, a row for each topic, and one for each field that differs."""
    counts, fields = [], []
    for name, topic in as_json(result)["topics"].items():
        differences, others = topic.pop("fields"), topic.pop("other_fields")
        counts.append({"topic": name} | topic)
        fields += [
            {"topic": name, "field": field, "largest": f"{each['largest']:.3g}",
             "RMS": f"{each['rms']:.3g}", "unit": each["unit"]}
            for field, each in differences.items()
        ]  # fmt: skip
        fields += [
            {"topic": name, "field": field, "largest": "", "RMS": "", "unit": f"{count} messages"}
            for field, count in others.items()
        ]
    return {"Messages": counts} | ({"Differences": fields} if fields else {})


def _headline(result: Replay) -> Fact:
    if result.identical:
        return Fact("OK", "identical to the last bit")
    first = result.first
    if first is None:
        return Fact("FAILED", "not all could be compared; what was is identical to the last bit")
    size = "" if first.size is None else f" (difference {first.size:.3g})"
    words = (
        f"first difference: {first.topic} of tick {first.tick}, {first.field}: recorded "
        f"{first.recorded!r}, replayed {first.replayed!r}{size}"
    )
    return Fact("FAILED", words)
