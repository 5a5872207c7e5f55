"""The runs whose sensor readings every filter is given: recorded once, as arrays, and kept.

Leg odometry is in the loop of all of them, whatever the launch's default is: a filter under test
must not change what it is tested on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from runtime.checked import Array
from runtime.messages import SensorReading
from runtime.rows import layout_of
from saltus.common.compiled_code import code_version, fingerprint
from saltus.common.console import RunProgress, say
from saltus.common.errors import BadRequest, refusing
from saltus.common.files import cache_folder, find_file, keep_in_cache, read_table
from saltus.configuration.launch import LaunchConfig, load_launch
from saltus.configuration.motions import motion_file, motion_names
from saltus.configuration.planners import ESTIMATORS, PLANNERS
from saltus.launch.lock_step import LockStep
from saltus.launch.warmup import ensure_compiled
from saltus.sweep.running import run_all, workers
from saltus.sweep.trials import make_trials
from sim_bridge.options import StartOptions
from sim_bridge.suites import read_suite

# The sources that decide what a recording holds. A filter that is not in the loop is none of them:
# a change of one needs no new recording.
SOURCES = (
    "saltation/*", "saltation/hilqr/**/*", "runtime/**/*", "robots/**/*", "controller/**/*",
    "sim_bridge/**/*", "estimator/*", "estimator/health/*", "saltus/launch/lock_step.py",
    "saltus/bench/streams.*",
)  # fmt: skip


class Recording(NamedTuple):
    """One run, a row a tick of 1 ms.

    Attributes:
        readings: (n, 52) in the layout of `runtime.rows`.
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
        return map(layout_of(SensorReading).message, self.readings)


class Stream(NamedTuple):
    """Runs under one name: their errors make one row for each filter, which starts anew in each.

    Attributes:
        recording: its name.
        runs: what is recorded.
        ground_known: whether the filters know the ground; leg odometry in the loop does.
    """

    recording: str
    runs: tuple[LaunchConfig, ...]
    ground_known: bool = True

    @property
    def name(self) -> str:
        """Name of its rows."""
        return self.recording if self.ground_known else f"{self.recording}_unknown"

    def launch_of(self, estimator: str) -> LaunchConfig:
        """The launch that a filter is made for."""
        belief = "known" if self.ground_known else "estimated"
        return replace(self.runs[0], estimator=estimator, terrain_belief=belief)

    @property
    def paths(self) -> list[Path]:
        """The files of the recorded runs, whether they are there or not."""
        return [
            path_of(run, f"{run.robot_model.name}-{self.recording}-{i}")
            for i, run in enumerate(self.runs)
        ]


def streams(*settings: str) -> list[Stream]:
    """The streams of ``streams.yaml``: walk, trot, pushes, faults, flights, and terrain.

    Some recordings serve filters that do not know the height of the ground too.

    Args:
        settings: ``KEY=VALUE`` of every launch, as ``robot=go2``.

    Raises:
        BadRequest: a key or value that no launch has.
    """
    rows = read_table(__file__, "streams.yaml")
    found = [Stream(row["name"], tuple(map(_for_recording, _runs(row, settings)))) for row in rows]
    unknown = [stream._replace(ground_known=False)
               for stream, row in zip(found, rows, strict=True) if row.get("unknown")]  # fmt: skip
    return [*found, *unknown]


def _runs(row: Mapping[str, Any], settings: Sequence[str]) -> list[LaunchConfig]:
    """The launches of a row, or the trials of its suite."""
    if suite := row.get("suite"):
        path = find_file("config", suite)
        groups = [each for each in read_suite(path)
                  if each.name == row.get("group", each.name)
                  and each.reference == row.get("reference", each.reference)]  # fmt: skip
        trials = make_trials(groups, "hilqr", "paused", str(path), settings)
        return [trial.config for trial in trials[: row.get("most")]]
    return [
        load_launch(row["launch"], (*settings, *more), "paused", row.get("duration"))
        for more in row.get("runs", [[]])
    ]


def record_missing(streams: Sequence[Stream]) -> None:
    """Record the runs that no file holds yet, several at a time, and keep them.

    A motion of which no plan is found leaves no file; a line says so.

    Raises:
        BadRequest: the cache cannot be written.
    """
    pairs = [each for stream in streams for each in zip(stream.paths, stream.runs, strict=True)]
    missing = [(run, path) for path, run in dict(pairs).items() if not path.is_file()]
    if not missing:
        return
    seconds = sum(run.duration for run, _ in missing)
    runs = f"{len(missing)} run{'s' if len(missing) > 1 else ''}"
    say(f"recording {runs} of a walking robot, {seconds:g} s in all (minutes, once)")
    ensure_compiled(missing[0][0])
    with workers(), RunProgress(seconds, "s") as progress:
        done = 0.0
        for length in run_all(_record, sorted(missing, key=lambda item: -item[0].duration)):
            done += length
            progress.show(done, "recorded")


def _record(missing: tuple[LaunchConfig, Path]) -> float:
    """Record one run into its file; its length [s]."""
    run, path = missing
    try:
        record_and_keep(run, path)
    except BadRequest as error:
        if run.reference not in motion_names():
            raise
        say(f"{path.stem}: {error}")
    return run.duration


def _for_recording(config: LaunchConfig) -> LaunchConfig:
    """Leg odometry in the loop, from the origin, and one thread for the physics.

    So recordings do not change with the machine, several of which are made at the same time, and
    a filter finds the ground where it is.
    """
    simulation = replace(config.simulation, start=StartOptions("stand", 0.0, (0.0, 0.0)))
    return replace(config.with_threads(1), estimator="leg_odometry", simulation=simulation)


def record(config: LaunchConfig) -> Recording:
    """Run a launch in lock step to its end or to a fall."""
    run = LockStep(config)
    ticks = []
    while run.simulation.tick < config.ticks and not run.simulation.fell:
        ticks.append(run.step())
    return Recording(
        np.array([tick.reading.row for tick in ticks]),
        np.array([tick.truth.q for tick in ticks]),
        np.array([tick.truth.v for tick in ticks]),
        np.array([tick.truth.contact > 0.5 for tick in ticks]),
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
    with refusing(f"{path}: no sensor stream", OSError, ValueError, KeyError, remedy="delete it"):
        with np.load(path) as arrays:
            return Recording(*(arrays[name] for name in Recording._fields))
