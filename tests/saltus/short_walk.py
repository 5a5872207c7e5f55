"""A recorded walk in lock step: the folder of a run, and the frames that were sent."""

from pathlib import Path
from typing import Any

from runtime.topics import Topic
from saltus.bench.recording import frames_of_run
from saltus.configuration.launch import load_launch, write_config
from saltus.launch.lock_step import LockStep
from saltus.recording.recorder import RunRecorder

SECONDS = 0.3

Sent = list[tuple[int, Topic[Any], bytes]]  # time [ns], topic, frame


def record_walk(folder: Path, *assignments: str) -> Sent:
    """Record a walk of `SECONDS` into a folder, which has no summary; what was sent."""
    config = load_launch("sim", assignments, duration=SECONDS)
    write_config(config, folder / "launch.yaml")
    sent: Sent = []
    with RunRecorder(folder / "run.mcap", config) as recorder:
        for at, frames in frames_of_run(LockStep(config)):
            for topic, frame in frames:
                recorder.write(topic, frame, at)
                sent.append((at, topic, frame))
    return sent
