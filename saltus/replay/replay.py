"""Feeds the readings of a run that was recorded in lock step through the stack again."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NamedTuple

from runtime.messages import decode
from runtime.recording import read_frames
from runtime.topics import (
    MOTOR_COMMAND,
    SENSOR_READING,
    TUNING,
)
from saltus.common.compiled_code import code_version
from saltus.common.console import Fact, RunProgress
from saltus.common.errors import BadRequest
from saltus.configuration.launch import TICK_S, LaunchConfig, make_config
from saltus.launch.lock_step import Stack
from saltus.launch.outcome import shown_value
from saltus.launch.warmup import ensure_compiled
from saltus.recording.reading import readable
from saltus.recording.run import Run
from saltus.replay.difference import COMPARED, Comparison, Difference, Tally

NEEDED = (SENSOR_READING, *COMPARED)


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


def feed(file: Path, stack: Stack, comparison: Comparison, progress: RunProgress) -> str:
    """Feed the readings of a recording to the stack, in their order, and compare what it makes.

    Returns:
        Why the replay ended before the recording; empty where it did not.

    Raises:
        BadRequest: the recording is damaged, or another version made it.
    """
    topics, due = {topic.name: topic for topic in NEEDED}, 0
    with readable(file):
        for frame in read_frames(file):
            topic = topics.get(frame.topic)
            if topic is None:
                continue
            message: Any = decode(topic.message, frame.data)
            if topic is not SENSOR_READING:
                # The tracker ends with a command that is later than the reading it names.
                farewell = topic is MOTOR_COMMAND and round(message.time / TICK_S) != message.tick
                if not farewell:
                    comparison.take_recorded(topic, message, frame.log_time_ns)
                continue
            if message.tick != due:
                comparison.close(before=due)
                return f"no reading of tick {due} was recorded: nothing after it can be compared"
            answer = stack.answer(message)
            made = answer.estimate, answer.plan, answer.command
            for each, message_made in zip(COMPARED, made, strict=True):
                if message_made is not None:
                    comparison.take_replayed(each, message_made)
            due += 1
            progress.show(due * TICK_S, "replayed")
    comparison.close()
    return ""


class Replay(NamedTuple):
    """A run that was replayed.

    Attributes:
        identical: all that was recorded came out again, to the last bit.
        first: the first difference; None where there is none.
        tallies: by topic.
        notes: what may be the reason of a difference, and what could not be compared.
    """

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
    comparison = Comparison(config.recording)
    with RunProgress(config.duration, "s recorded") as progress:
        end = feed(run.file, Stack(config), comparison, progress)
    notes, recorded = [], (run.summary or {}).get("code", "")
    if recorded and recorded != code_version():
        notes.append(f"recorded by {recorded}; this is {code_version()}")
    if TUNING.name in run:
        notes.append("the planner was tuned by hand meanwhile, which is not replayed")
    if run.cause:
        notes.append(f"the recording is not complete: {run.cause}")
    notes += [end] if end else []
    return Replay(comparison.identical and not end, comparison.first, comparison.tallies, notes)


def as_json(result: Replay) -> dict[str, Any]:
    """Output of `saltus replay --json`."""
    return {
        "identical": result.identical,
        "first_difference": None if result.first is None else result.first._asdict(),
        "topics": {
            topic: {
                "compared": tally.compared, "different": tally.different,
                "only_recorded": tally.only_recorded, "only_replayed": tally.only_replayed,
                "fields": tally.largest,
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


def table(result: Replay) -> list[dict[str, Any]]:
    """A row for each topic, with the largest difference of each field that differs."""
    return [
        {"topic": name} | topic | {"fields": shown_value(topic["fields"], 9)}
        for name, topic in as_json(result)["topics"].items()
    ]
