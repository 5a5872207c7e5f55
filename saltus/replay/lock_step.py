"""Replays a run in lock step: the recorded readings in, and everything else to the last bit."""

from __future__ import annotations

from typing import Any

from runtime.messages import SensorReading
from runtime.topics import MOTOR_COMMAND, PLAN, SENSOR_READING, STATE_ESTIMATE, Topic
from saltus.common.progress import RunProgress
from saltus.configuration.launch import TICK_S
from saltus.launch.lock_step import Stack
from saltus.replay.comparison import COMPARED, Comparison
from saltus.replay.tape import Tape


def replay_in_lock_step(tape: Tape, comparison: Comparison, progress: RunProgress) -> str:
    """Feed the readings through the stack, tick by tick.

    Returns:
        Why the replay ended before the recording; empty where it did not.
    """
    stack, due = Stack(tape.config), 0
    for topic, message, log_time_ns in tape.messages():
        if topic in COMPARED and not _is_farewell(topic, message):
            comparison.take_recorded(topic, (message.tick,), message, log_time_ns)
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
            comparison.take_replayed(topic, (message.tick,), message)


def _is_farewell(topic: Topic[Any], message: Any) -> bool:
    """Whether it is the command that the tracker ends with, later than the reading it names."""
    return topic is MOTOR_COMMAND and round(message.time / TICK_S) != message.tick
