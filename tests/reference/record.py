"""The reference run: what the whole stack made of a short walk when it was recorded last.

`make reference` records it anew, and prints what has changed.
"""

from __future__ import annotations

import saltus as saltus  # before numpy and numba: it chooses BLAS kernels and the cache

# isort: split
import json
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding

from runtime.messages import encode
from runtime.recording import Recorder, read_recording
from runtime.topics import GROUND_TRUTH, MOTOR_COMMAND, PLAN, SENSOR_READING, STATE_ESTIMATE
from saltus.configuration.launch import TICK_S, RecordingOptions, load_launch
from saltus.launch.lock_step import LockStep
from saltus.recording.fields import columns_of
from saltus.recording.recorder import PlanThinner
from saltus.replay import Tally

FOLDER = Path(__file__).parent
LAUNCH, RECORDING, FACTS = FOLDER / "launch.yaml", FOLDER / "run.mcap", FOLDER / "facts.json"
# In the order of the data flow.
TOPICS = (
    GROUND_TRUTH, SENSOR_READING, STATE_ESTIMATE, PLAN, MOTOR_COMMAND
)  # fmt: skip
EVERY = 20  # ticks: a difference stays, so the next sample shows it
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "mujoco", "osqp", "pin")

PUSH_TICK = 800  # see launch.yaml: rounding grows slowly before, and much faster in the push
ROUNDING = 1e-6  # of a field's largest value, until the push
AFTER_PUSH_M = 0.01  # of the base

Messages = dict[str, dict[int, Any]]  # by topic and tick


class Made(NamedTuple):
    """What a run of the stack made.

    Attributes:
        messages: of every twentieth tick, plans without knots: their cost tells of these.
        facts: the run in numbers, and what computed it.
    """

    messages: Messages
    facts: dict[str, Any]


def make():
    """Run the stack, simulation included."""
    run = LockStep(load_launch(str(LAUNCH)))
    thinner, messages = PlanThinner(RecordingOptions()), {topic.name: {} for topic in TOPICS}
    statuses, iterations = Counter[str](), 0
    while run.simulation.tick < run.config.ticks:
        reading = run.simulation.reading()
        tick = run.step()
        if tick.plan is not None:
            statuses[tick.plan.status] += 1
            iterations += tick.plan.iterations
        if reading.tick % EVERY == 0:
            plan = None if tick.plan is None else thinner.keep(tick.plan, "head")
            made = tick.truth, reading, tick.estimate, plan, tick.command
            for topic, message in zip(TOPICS, made, strict=True):
                if message is not None:
                    messages[topic.name][message.tick] = message
    numbers = {key: value for key, value in run.metrics.summary().items() if value is not None}
    facts = {
        "computed_by": environment(),
        "run": numbers | {"iterations": iterations, "plans": dict(statuses)},
    }  # fmt: skip
    return Made(messages, facts)


def environment():
    """What may change the last bits of a result that no source has changed."""
    features = sorted(name for name, has in binding.get_host_cpu_features().items() if has)
    processor = f"{binding.get_host_cpu_name()} {' '.join(features)}"
    return {"processor": processor} | {name: version(name) for name in LIBRARIES}


def read():
    """The run that was recorded last."""
    messages = {topic.name: {} for topic in TOPICS}
    for name, message in read_recording(RECORDING, TOPICS):
        messages[name][message.tick] = message  # type: ignore[attr-defined]
    return Made(messages, json.loads(FACTS.read_text()))


def write(made):
    """Record a run in place of the one before."""
    with Recorder(RECORDING) as recorder:
        for tick in sorted({tick for each in made.messages.values() for tick in each}):
            for topic in TOPICS:
                if tick in made.messages[topic.name]:
                    frame = encode(made.messages[topic.name][tick])
                    recorder.write(topic, frame, round(tick * TICK_S * 1e9))
    FACTS.write_text(json.dumps(made.facts, indent=1) + "\n")


def compare(recorded, made, last=None):
    """Compare two runs by topic, up to the tick `last` where it is given."""
    tallies = {topic.name: Tally() for topic in TOPICS}
    for topic in TOPICS:
        there, tally = made[topic.name], tallies[topic.name]
        for tick, message in recorded[topic.name].items():
            if last is not None and tick > last:
                continue
            if tick in there:
                tally.add(topic, message, there[tick])
            else:
                tally.miss(topic, tick)
    return tallies


def changes(before, after):
    """What has changed from one run to the other, a line each; none where nothing has."""
    lines = []
    for name, tally in compare(before.messages, after.messages).items():
        if tally.first is None:
            continue
        first = tally.first
        lines.append(
            f"{name}: {tally.different} of {tally.compared} differ; first at tick {first.tick}: "
            f"{first.field} was {first.recorded!r}, is {first.replayed!r}"
        )
        largest = [f"{field} {size}" for field, size in tally.fields.items()]
        lines.append(f"  largest differences: {', '.join(largest) or 'none'}")
    for section in ("run", "computed_by"):
        old, new = before.facts.get(section, {}), after.facts[section]
        lines += [
            f"{key}: was {old.get(key)}, is {new.get(key)}"
            for key in {**old, **new} if old.get(key) != new.get(key)
        ]  # fmt: skip
    return lines


def unexplained(before, after):
    """What has changed that should not have, a line each.

    The processor that the run was recorded on gives the same bits, with the same libraries. Others
    round differently, and what they may make of that was measured: see CONTRIBUTING.md.
    """
    if before.facts["computed_by"] == after.facts["computed_by"]:
        return changes(before, after)
    lines = []
    early = compare(before.messages, after.messages, PUSH_TICK - 1)
    for topic in TOPICS:
        name, tally = topic.name, early[topic.name]
        lines += [
            f"{name}: {field} differs before the push, at most by {size}"
            for field, size in tally.fields.items()
            if size is None or size > ROUNDING * scale(before.messages[name], topic, field)
        ]
        lines += [f"{name}: messages are missing"] * (tally.only_recorded > 0)
    whole = compare(before.messages, after.messages)[GROUND_TRUTH.name]
    away = whole.fields.get("position_base", 0.0)
    if away is None or away > AFTER_PUSH_M:
        lines.append(f"the base is up to {away} m elsewhere")
    return lines


def scale(messages, topic, field):
    """The largest value of a field, at least 1."""
    source = columns_of(topic.message)[field].source
    values = [np.ravel(getattr(message, source)) for message in messages.values()]
    return max(1.0, float(np.nanmax(np.abs(np.concatenate(values)))))


def main():
    """Record the reference run anew, and say what has changed."""
    after = make()
    lines = changes(read(), after) if RECORDING.exists() else ["recorded for the first time"]
    print("\n".join(lines or ["nothing has changed"]))
    if lines:
        write(after)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
