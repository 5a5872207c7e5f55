"""What the sensors said in a run and what was true, as arrays; recorded once and kept."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from runtime.messages import SensorReading
from saltus.common.code_version import code_version, fingerprint
from saltus.common.errors import BadRequest
from saltus.common.folders import cache_folder, keep_in_cache
from saltus.configuration.estimators import ESTIMATORS
from saltus.configuration.launch import LaunchConfig
from saltus.configuration.motions import motion_file, motion_names
from saltus.configuration.planners import PLANNERS
from saltus.launch.lock_step import LockStep

Array = NDArray[np.float64]

# A reading's arrays, and what each row of `Recording.readings` holds after the time.
FIELDS = {
    "quaternion_imu_in_world": 4, "angular_velocity_imu": 3, "linear_acceleration_imu": 3,
    "joint_position": 12, "joint_velocity": 12, "joint_torque": 12, "foot_force": 4,
}  # fmt: skip
# The sources that decide what a recording holds. A filter that is not in the loop is none of them:
# whoever works on one need not record anew.
SOURCES = (
    "hybrid/*", "hybrid/hilqr/**/*", "runtime/**/*", "robots/**/*", "controller/**/*",
    "sim_bridge/**/*", "estimator/*", "estimator/health/*", "saltus/launch/lock_step.py",
    "saltus/bench/estimators/recording.py",
)  # fmt: skip


class Recording(NamedTuple):
    """One run, a row a tick of 1 ms.

    Attributes:
        readings: (n, 51) time [s] and then `FIELDS`, in a SensorReading's units.
        q: (n, 19) true configuration.
        v: (n, 18) true velocity.
        contact: (n, 4) whether each foot truly touched the ground.
        fell: (1,) the run ends early, because the robot fell.
    """

    readings: Array
    q: Array
    v: Array
    contact: NDArray[np.bool_]
    fell: NDArray[np.bool_]

    def messages(self) -> Iterator[SensorReading]:
        """The readings as they were sent."""
        ends = np.cumsum([1, *FIELDS.values()])
        for tick, row in enumerate(self.readings):
            parts = np.split(row, ends[:-1])[1:]
            yield SensorReading(
                tick=tick, time=float(row[0]), **dict(zip(FIELDS, parts, strict=True))
            )


def record(config: LaunchConfig) -> Recording:
    """Run a launch in lock step to its end or to a fall."""
    logging.getLogger("controller").addHandler(logging.NullHandler())  # that it starts is no news
    run = LockStep(config)
    readings, truths = [], []
    while run.simulation.tick < config.ticks and not run.simulation.fell:
        reading = run.simulation.reading()
        readings.append(np.concatenate([[reading.time], *(getattr(reading, f) for f in FIELDS)]))
        truths.append(run.step().truth)
    return Recording(
        np.array(readings),
        np.array([truth.q for truth in truths]),
        np.array([truth.v for truth in truths]),
        np.array([truth.contact > 0.5 for truth in truths]),
        np.array([run.simulation.fell]),
    )


def path_of(config: LaunchConfig, name: str) -> Path:
    """The file of the run `name`: one of its own for all sources and options it depends on."""
    relevant = msgspec.to_builtins(config)
    for other in {*PLANNERS, *ESTIMATORS} - {config.planner, config.estimator}:
        del relevant[other]
    if config.reference in motion_names():
        relevant["motion"] = motion_file(config.reference, config.robot).read_text()
    code = fingerprint(relevant, code_version(SOURCES))
    return cache_folder() / "streams" / f"{name}-{code}.npz"


def record_and_keep(config: LaunchConfig, path: Path) -> None:
    """Record a run into a file, and forget those of the same name from other sources.

    Raises:
        BadRequest: the folder cannot be written.
    """
    recording = record(config)
    keep_in_cache(path, lambda part: np.savez(part, **recording._asdict()), "a sensor stream")
    for old in path.parent.glob(f"{path.name.rpartition('-')[0]}-*.npz"):
        if old != path:
            old.unlink(missing_ok=True)


def read_recording(path: Path) -> Recording:
    """Read what `record_and_keep` wrote.

    Raises:
        BadRequest: the file is damaged.
    """
    try:
        with np.load(path) as arrays:
            return Recording(*(arrays[name] for name in Recording._fields))
    except (OSError, ValueError, KeyError) as error:
        raise BadRequest(f"{path}: no sensor stream: {error}; delete it") from error
