"""The runs whose sensor readings every filter is given: the same ones to each.

Leg odometry is in the loop of all of them, whatever the launch's default is: a filter under test
must not change what it is tested on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from robots.conventions import FOOT_NAMES
from saltus.bench.estimators.recording import path_of, record_and_keep
from saltus.common.console import say
from saltus.common.folders import find_file
from saltus.common.progress import RunProgress
from saltus.configuration.launch import LaunchConfig, load_launch
from saltus.launch.first_compilation import ensure_compiled
from saltus.sweep.parallel import backend_ready, default_jobs, run_all
from saltus.sweep.trials import make_trials
from sim_bridge.options import StartOptions
from sim_bridge.suites import read_suite

WALK_S = 60.0  # length of the undisturbed walk and trot [s]
SLIPPERY_S = 20.0  # [s]
SLIPPERY = 0.1  # friction of wet ice, on which the A1 still walks; the default is 0.8
PUSHES = (1.0, 1.5)  # [m/s]
FLIGHTS = ("backflip", "jump-up", "leap")  # motions
TERRAIN = {
    "slope": "slope of 10 degrees up",
    "step": "step of 8 cm up",
    "stairs": "stairs of 5 cm up",
    "boxes": "boxes of 6 cm",
    "patch": "icy patch",
}  # stream: group of the suite `terrain`


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
        """What its rows are called."""
        return self.recording if self.ground_known else f"{self.recording}_unknown"

    def launch_of(self, estimator: str) -> LaunchConfig:
        """The launch that a filter is made for."""
        belief = "known" if self.ground_known else "estimated"
        return replace(self.runs[0], estimator=estimator, terrain_belief=belief)

    @property
    def paths(self) -> list[Path]:
        """The files of the recorded runs, whether they are there or not."""
        return [path_of(run, f"{self.recording}-{i}") for i, run in enumerate(self.runs)]


def streams() -> list[Stream]:
    """Walk, trot, pushes of two strengths, blocked motors, slippery ground, flights, and terrain.

    The same recordings serve filters that do not know the height of the ground.
    """
    terrain = [Stream(name, (_trot_on(group),)) for name, group in TERRAIN.items()]
    flat = [
        Stream("walk", (_launch("sim", WALK_S),)),
        Stream("trot", (_launch("trot", WALK_S),)),
        *(Stream(f"push_{speed:.1f}", _pushes(speed)) for speed in PUSHES),
        Stream("motor_block", _motor_blocks()),
        Stream("slippery", (_launch("sim", SLIPPERY_S, f"simulation.friction={SLIPPERY}"),)),
        *(Stream(name, (_launch("backflip", None, f"reference={name}"),)) for name in FLIGHTS),
    ]
    unknown = [each._replace(ground_known=False) for each in (*flat[:2], *terrain)]
    return [*flat, *terrain, *unknown]


def record_missing(streams: Sequence[Stream]) -> None:
    """Record the runs that no file holds yet, several at a time, and keep them.

    Raises:
        BadRequest: the cache cannot be written.
    """
    pairs = [each for stream in streams for each in zip(stream.paths, stream.runs, strict=True)]
    missing = [(run, path) for path, run in dict(pairs).items() if not path.is_file()]
    if not missing:
        return
    seconds = sum(run.duration for run, _ in missing)
    runs = f"{len(missing)} run{'s' if len(missing) > 1 else ''}"
    say(f"recording {runs} of the walking A1, {seconds:g} s in all (minutes, once)")
    ensure_compiled(missing[0][0])
    with backend_ready("loky", None, default_jobs("loky")), RunProgress(seconds, "s") as progress:
        done = 0.0
        for length in run_all(_record, sorted(missing, key=lambda item: -item[0].duration)):
            done += length
            progress.show(done, "recorded")


def _record(missing: tuple[LaunchConfig, Path]) -> float:
    """Record one run into its file; its length [s]."""
    run, path = missing
    record_and_keep(run, path)
    return run.duration


def _launch(name: str, duration: float | None = None, *assignments: str) -> LaunchConfig:
    return _for_recording(load_launch(name, assignments, "paused", duration))


def _pushes(speed: float) -> tuple[LaunchConfig, ...]:
    """The walk of `saltus launch push`, pushed sideways as each of the feet lifts off."""
    at = "{{kind: base_velocity, at: {{foot: {}, phase: swing, cycle: 2}}, value: [0.0, {}, 0.0]}}"
    pushes = [f"perturbations=[{at.format(foot, speed)}]" for foot in FOOT_NAMES]
    return tuple(_launch("push", None, push) for push in pushes)


def _motor_blocks() -> tuple[LaunchConfig, ...]:
    """The trials of table 6.2, which differ in the sensors' noise."""
    path = find_file("config", "table-6.2")
    trials = make_trials(read_suite(path), "hilqr", "paused", str(path))
    return tuple(_for_recording(trial.config) for trial in trials)


def _trot_on(name: str) -> LaunchConfig:
    """The first trot of a group of the suite `terrain`."""
    path = find_file("config", "terrain")
    groups = [one for one in read_suite(path) if (one.name, one.reference) == (name, "trot")]
    return _for_recording(make_trials(groups, "hilqr", "paused", str(path))[0].config)


def _for_recording(config: LaunchConfig) -> LaunchConfig:
    """Leg odometry in the loop, from the origin, and one thread for the physics.

    So recordings do not change with the machine, several of which are made at the same time, and
    a filter finds the ground where it is.
    """
    simulation = replace(config.simulation, start=StartOptions("stand", 0.0, (0.0, 0.0)))
    return replace(config.with_threads(1), estimator="leg_odometry", simulation=simulation)
