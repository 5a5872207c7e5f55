"""Feeds a recorded run through the stack.

In lock step the recorded readings go in, and everything else comes out to the last bit. In real
time, which message a process had when it computed is not recorded, nor how long a solve might go
on. So each core is fed alone, from the recording, with what it must have had: the estimator with
readings, the planner with the estimate that its plan names, the tracker with the reading that its
command names, the newest estimate before, and the plan that the command names.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.driving.commands import CommandIntake
from controller.planner_node import SolveGuard
from runtime.messages import Command, MotorCommand, Plan, SensorReading, StateEstimate, decode
from runtime.recording import read_frames
from runtime.topics import (
    COMMAND,
    MOTOR_COMMAND,
    PLAN,
    ROBOT_STATUS,
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
        topics = {topic.name: topic for topic in (*NEEDED, COMMAND, ROBOT_STATUS)}
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


STALE_S = 0.02  # age of a reading that no command answers: a bridge holds the robot by itself
LATE_NS = 50_000_000  # after a command, within which the plan that it follows is recorded
KEPT = 1000  # newest messages of a topic


class Cores:
    """Estimator, planner and tracker, each fed from the recording.

    Attributes:
        planner: of the launch.
        unplanned: plans whose estimate was not recorded.
    """

    def __init__(self, config: LaunchConfig, comparison: Comparison) -> None:
        """Build the cores.

        Raises:
            BadRequest: the configuration names what there is not.
        """
        self.unplanned = 0
        self._comparison = comparison
        self._estimator = assembly.make_estimator(config)
        self.planner = assembly.make_planner(config)
        self._tracker = assembly.make_tracker(config)
        self._whole = config.recording.plans == "all" and config.recording.gains != "none"
        self._guard = SolveGuard()
        self._readings: dict[int, SensorReading] = {}
        self._estimates: dict[int, StateEstimate] = {}
        self._plans: dict[int, Plan] = {}  # for the tracker, by their recorded id
        self._solved: dict[int, Plan] = {}  # of the newest solve, by their iterations
        self._solved_from: int | None = None  # tick of its estimate

    def estimate(self, reading: SensorReading) -> None:
        """Estimate from a recorded reading."""
        _keep(self._readings, reading.tick, reading)
        estimate = self._estimator.update(reading)
        self._comparison.take_replayed(STATE_ESTIMATE, (reading.tick,), estimate)

    def keep_estimate(self, estimate: StateEstimate) -> None:
        """Keep a recorded estimate for planner and tracker."""
        _keep(self._estimates, estimate.tick, estimate)

    def drive(self, command: Command, now: float) -> None:
        """Hand the planner what a driver asked for at `now` [s]."""
        if isinstance(self.planner.commands, CommandIntake):
            self.planner.commands.offer(command, now)

    def end(self) -> None:
        """Tell the planner that the robot is to sit down."""
        if self.planner.commands is not None:
            self.planner.commands.end()

    def plan(self, recorded: Plan) -> None:
        """Solve from the estimate that a recorded plan names, unless it was solved from already."""
        if recorded.tick != self._solved_from:
            self._solve(recorded)
        replayed = self._solved.get(recorded.iterations)
        if replayed is not None:
            self._comparison.take_replayed(PLAN, (recorded.id,), replayed)
        followed = recorded if self._whole else replayed
        if followed is not None:
            _keep(self._plans, recorded.id, msgspec.structs.replace(followed, id=recorded.id))

    def _solve(self, recorded: Plan) -> None:
        estimate = self._estimates.get(recorded.tick)
        self._solved_from, self._solved = recorded.tick, {}
        if estimate is None:
            self.unplanned += 1
            return
        if isinstance(self.planner.commands, CommandIntake):
            self.planner.commands.look(estimate.time)
        lead, plans = max(0.0, recorded.time - estimate.time), list[Plan]()
        last = self._guard.plan(
            estimate, lambda: self.planner.plan_from(estimate, lead, None, plans.append)
        )
        self._solved = {plan.iterations: plan for plan in (*plans, last)}

    def track(self, recorded: MotorCommand) -> None:
        """Command from what a recorded command names."""
        reading = self._readings.get(recorded.tick)
        if reading is None or recorded.time - reading.time > STALE_S:
            return
        newest_first = reversed(self._estimates.values())
        estimate = next((each for each in newest_first if each.tick < recorded.tick), None)
        plan = self._plans.get(recorded.plan_id)
        command = self._tracker.command(estimate, plan, recorded.time, reading)
        self._comparison.take_replayed(MOTOR_COMMAND, _key(recorded), command)


def replay_in_real_time(tape: Tape, comparison: Comparison, progress: RunProgress) -> str:
    """Feed each core what was recorded.

    Returns:
        What could not be replayed; empty where all could.
    """
    cores, begin = Cores(tape.config, comparison), None
    waiting = deque[tuple[MotorCommand, int]]()
    for topic, message, log_time_ns in tape.messages():
        while waiting and waiting[0][1] < log_time_ns - LATE_NS:
            cores.track(waiting.popleft()[0])
        if topic is SENSOR_READING:
            cores.estimate(message)
            begin = message.time if begin is None else begin
            progress.show(message.time - begin, "replayed")
        elif topic is STATE_ESTIMATE:
            comparison.take_recorded(topic, (message.tick,), message, log_time_ns)
            cores.keep_estimate(message)
        elif topic is PLAN:
            comparison.take_recorded(topic, (message.id,), message, log_time_ns)
            cores.plan(message)
        elif topic is MOTOR_COMMAND:
            comparison.take_recorded(topic, _key(message), message, log_time_ns)
            waiting.append((message, log_time_ns))
        elif topic is COMMAND:
            cores.drive(message, 1e-9 * log_time_ns)
        elif topic is ROBOT_STATUS and message.is_ending:
            cores.end()
    for command, _ in waiting:
        cores.track(command)
    comparison.close()
    if cores.unplanned:
        return f"{cores.unplanned} plans were not replayed: their estimates were not recorded"
    return ""


def _key(command: MotorCommand) -> tuple[int, ...]:
    """Of a command: ticks without a reading repeat a tick, so its time says which it is."""
    return command.tick, round(1e9 * command.time)


def _keep(messages: dict[int, Any], key: int, message: Any) -> None:
    """Keep a message and forget the oldest."""
    messages[key] = message
    if len(messages) > KEPT:
        del messages[next(iter(messages))]


class Replay(NamedTuple):
    """A run that was replayed.

    Attributes:
        lock_step: bits can be expected; else each core was fed alone.
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
    comparison = Comparison(config.recording, lock_step)
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
        notes.append("recorded in real time: who had which message when is not known to the tick")
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
    return Fact("FAILED" if result.lock_step else "WARNING", words)
