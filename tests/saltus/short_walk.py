"""A recorded walk in lock step: the folder of a run, and the frames that were sent."""

from runtime.messages import encode
from runtime.topics import (
    GROUND_TRUTH,
    LINE_SEARCH,
    MOTOR_COMMAND,
    PLAN,
    SENSOR_READING,
    SIMULATED_READING,
    STATE_ESTIMATE,
)
from saltus.configuration.launch import load_launch, write_config
from saltus.launch.lock_step import LockStep
from saltus.recording.recorder import RunRecorder

SECONDS = 0.3


def record_walk(folder, *assignments):
    """Record a walk of `SECONDS` into a folder, which has no summary; what was sent."""
    config = load_launch("sim", assignments, duration=SECONDS)
    write_config(config, folder / "launch.yaml")
    sent = []
    with RunRecorder(folder / "run.mcap", config) as recorder:
        for at, frames in frames_of_run(LockStep(config)):
            for topic, frame in frames:
                recorder.write(topic, frame, at)
                sent.append((at, topic, frame))
    return sent


def frames_of_run(run):
    """What is sent in each tick of a run in lock step, and when [ns]."""
    while run.simulation.tick < run.config.ticks:
        reading = run.simulation.reading()
        tick = run.step()
        yield round(tick.truth.time * 1e9), _frames_of(tick, reading)


def _frames_of(tick, reading):
    pairs = (
        (SIMULATED_READING, reading), (GROUND_TRUTH, tick.truth), (SENSOR_READING, reading),
        (STATE_ESTIMATE, tick.estimate), (PLAN, tick.plan), (LINE_SEARCH, tick.search),
        (MOTOR_COMMAND, tick.command),
    )  # fmt: skip
    return [(topic, encode(message)) for topic, message in pairs if message is not None]
