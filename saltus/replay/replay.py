"""Feeds the readings of a recorded run through the stack again; in real time, the estimator."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from runtime.messages import SensorReading, decode
from runtime.recording import read_frames
from runtime.topics import (
    MOTOR_COMMAND,
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


Made = Callable[[SensorReading], Sequence[tuple[Topic[Any], Any]]]  # what comes of a reading


def open_recording(path: Path) -> tuple[Run, LaunchConfig]:
    """A run folder, or its recording, and what was launched.

    Raises:
        BadRequest: there is no recording, one of another format, without a topic that is needed,
            or without a launch file beside it that this version accepts.
    """
    run = Run(path)
    missing = [topic.name for topic in NEEDED if topic.name not in run]
    if missing:
        there = ", ".join(run.topics) or "nothing"
        raise BadRequest(f"{path}: nothing of {', '.join(missing)} recorded; there is: {there}")
    file = run.file.parent / "launch.yaml"
    if not run.config:
        raise BadRequest(f"{file}: not there, or empty; it says what was launched")
    return run, make_config(run.config, str(file))


def feed(
    file: Path, make: Made, comparison: Comparison, lock_step: bool, progress: RunProgress
) -> str:
    """Feed the readings of a recording to `make`, in their order, and compare what it makes.

    Returns:
        Why the replay ended before the recording; empty where it did not.

    Raises:
        BadRequest: the recording is damaged, or another version made it.
    """
    topics, due, begin = {topic.name: topic for topic in NEEDED}, 0, None
    with readable(file):
        for frame in read_frames(file):
            topic = topics.get(frame.topic)
            if topic is None:
                continue
            message: Any = decode(topic.message, frame.data)
            if topic is not SENSOR_READING:
                # The tracker ends with a command that is later than the reading it names.
                farewell = topic is MOTOR_COMMAND and round(message.time / TICK_S) != message.tick
                if topic.name in comparison.tallies and not farewell:
                    comparison.take_recorded(topic, message, frame.log_time_ns)
                continue
            if lock_step and message.tick != due:
                comparison.close(before=due)
                return f"no reading of tick {due} was recorded: nothing after it can be compared"
            for each, made in make(message):
                if made is not None:
                    comparison.take_replayed(each, made)
            due, begin = due + 1, message.time if begin is None else begin
            progress.show(message.time - begin, "replayed")
    comparison.close()
    return ""


def _stack(config: LaunchConfig) -> Made:
    """The whole stack, for a recording in lock step."""
    stack = Stack(config)

    def make(reading: SensorReading) -> Sequence[tuple[Topic[Any], Any]]:
        answer = stack.answer(reading)
        return [*zip(COMPARED, (answer.estimate, answer.plan, answer.command), strict=True)]

    return make


def _estimator(config: LaunchConfig) -> Made:
    """The estimator alone, for a recording in real time.

    Which message planner and tracker had when they computed is not recorded, nor how long a solve
    might go on.
    """
    estimator = assembly.make_estimator(config)
    return lambda reading: [(STATE_ESTIMATE, estimator.update(reading))]


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
    run, config = open_recording(path)
    ensure_compiled(config)
    for name in ("controller", "estimator"):  # what they logged stands in the run's own logs
        logging.getLogger(name).addHandler(logging.NullHandler())
    lock_step = config.mode == "paused"
    comparison = Comparison(config.recording, COMPARED if lock_step else (STATE_ESTIMATE,))
    make = _stack(config) if lock_step else _estimator(config)
    with RunProgress(config.duration, "s recorded") as progress:
        end = feed(run.file, make, comparison, lock_step, progress)
    notes, recorded = [], (run.summary or {}).get("code", "")
    if recorded and recorded != code_version():
        notes.append(f"recorded by {recorded}; this is {code_version()}")
    if not lock_step:
        notes.append("recorded in real time: estimates alone are replayed")
    elif TUNING.name in run:
        notes.append("the planner was tuned by hand meanwhile, which is not replayed")
    if run.cause:
        notes.append(f"the recording is not complete: {run.cause}")
    notes += [end] if end else []
    identical = comparison.identical and not end
    return Replay(lock_step, identical, comparison.first, comparison.tallies, notes)


def as_json(result: Replay) -> dict[str, Any]:
    """What `saltus replay --json` prints."""
    return {
        "identical": result.identical,
        "first_difference": None if result.first is None else result.first._asdict(),
        "lock_step": result.lock_step,
        "topics": {
            topic: {
                "compared": tally.compared, "different": tally.different,
                "only_recorded": tally.only_recorded, "only_replayed": tally.only_replayed,
                "fields": {
                    name: {"largest": spread.largest, "rms": spread.rms, "unit": tally.unit(name)}
                    for name, spread in tally.spreads.items() if spread.largest > 0.0
                },
                "other_fields": {name: count for name, count in tally.others.items() if count},
            }
            for topic, tally in result.tallies.items()
        },
        "notes": result.notes,
    }  # fmt: skip


def facts(result: Replay) -> list[Fact]:
    """The verdict, and what may be its reason."""
    first, verdict = result.first, "FAILED"
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


