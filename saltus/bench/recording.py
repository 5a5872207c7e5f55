"""``saltus bench recording``: what a recording of a run takes, on the disk and of a core.

The frames are those of a walk in lock step, a plan every 10 ms, so that the bytes are the same in
every run. The recorder takes them as it does in a launch.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import thread_time
from typing import Any

from runtime.messages import SensorReading, encode
from runtime.topics import (
    GROUND_TRUTH,
    LINE_SEARCH,
    MOTOR_COMMAND,
    PLAN,
    SENSOR_READING,
    SIMULATED_READING,
    STATE_ESTIMATE,
    Topic,
)
from saltus.bench.catalogue import BenchResult
from saltus.bench.timing import Times
from saltus.common.console import say
from saltus.common.criterion import Criterion
from saltus.configuration.launch import LaunchConfig, load_launch
from saltus.launch.lock_step import LockStep, Tick
from saltus.recording.recorder import RunRecorder

SECONDS = 6.0
AT_MOST_BYTES, AT_MOST_SHARE = 15_000_000, 0.1  # of six seconds; of a core
SETTINGS: tuple[tuple[str, ...], ...] = (
    (), ("recording.gains=none",), ("recording.plans=all", "recording.gains=float64"),
)  # fmt: skip

Frame = tuple[Topic[Any], bytes]


def run(seconds: float = SECONDS) -> BenchResult:
    """Measure; the ratio is the bytes of the recording as launched to what it may take."""
    say(f"walking {seconds:g} s in lock step (compiles on the first run)")
    with tempfile.TemporaryDirectory() as folder:
        configs = [load_launch("sim", each, "paused", seconds) for each in SETTINGS]
        rows = measure(configs, Path(folder))
    for row, setting in zip(rows, SETTINGS, strict=True):
        row["recording"] = " ".join(setting) or "as launched"
    rows[0] |= {"at_most_bytes": AT_MOST_BYTES, "at_most_core_share": AT_MOST_SHARE}
    criteria = [
        Criterion("bytes as launched", rows[0]["bytes"], "<=", AT_MOST_BYTES),
        Criterion("share of a core as launched", rows[0]["core_share"], "<=", AT_MOST_SHARE),
    ]
    return BenchResult(rows, rows[0]["bytes"] / AT_MOST_BYTES, criteria=criteria)


def measure(configs: Sequence[LaunchConfig], folder: Path) -> list[dict[str, Any]]:
    """Bytes and share of a core of recordings of one run, one for each of `configs`."""
    frames = list(frames_of_run(LockStep(configs[0])))
    rows = []
    for number, config in enumerate(configs):
        path, times = folder / f"{number}.mcap", Times(thread_time)
        times.call("recording", _record, path, config, frames)
        share = times.median("recording") / config.duration
        rows.append({"recording": "", "bytes": path.stat().st_size, "core_share": share,
                     "at_most_bytes": None, "at_most_core_share": None})  # fmt: skip
    return rows


def _record(path: Path, config: LaunchConfig, frames: Sequence[tuple[int, list[Frame]]]) -> None:
    """Write the frames of a run into one file."""
    with RunRecorder(path, config) as recorder:
        for time_ns, sent in frames:
            for topic, frame in sent:
                recorder.write(topic, frame, time_ns)


def frames_of_run(run: LockStep) -> Iterator[tuple[int, list[Frame]]]:
    """What is sent in each tick of a run in lock step, and when [ns]."""
    while run.simulation.tick < run.config.ticks:
        reading = run.simulation.reading()
        tick = run.step()
        yield round(tick.truth.time * 1e9), _frames_of(tick, reading)


def _frames_of(tick: Tick, reading: SensorReading) -> list[Frame]:
    pairs = (
        (SIMULATED_READING, reading), (GROUND_TRUTH, tick.truth), (SENSOR_READING, reading),
        (STATE_ESTIMATE, tick.estimate), (PLAN, tick.plan), (LINE_SEARCH, tick.search),
        (MOTOR_COMMAND, tick.command),
    )  # fmt: skip
    return [(topic, encode(message)) for topic, message in pairs if message is not None]
