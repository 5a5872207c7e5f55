"""Runs a soak: one launch for as long as it lasts, a new one for what is left, and the sums."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.tracker_node import TICK_RESOLUTION_US
from runtime.bus import Bus
from runtime.endpoints import Endpoints
from runtime.histogram import LogHistogram
from runtime.signals import StopFlag
from runtime.topics import COMMAND
from saltus.common.console import RunProgress, say
from saltus.common.criterion import Criterion
from saltus.common.errors import BadRequest, refusing
from saltus.common.files import read_table, write_file
from saltus.common.stalls import StallWatch, longest_stall
from saltus.configuration.launch import LaunchConfig, load_launch, make_config
from saltus.launch.launcher import LaunchOutcome, launch
from saltus.launch.listener import Listener
from saltus.launch.outcome import Numbers
from saltus.launch.supervisor import Supervisor, free_port
from saltus.launch.warmup import ensure_compiled
from saltus.soak.samples import SampleFile, Watch, memory_growth, read_samples
from saltus.soak.schedule import Player, Schedule, draw_schedule

# Causes of the bridge that are falls. One may come before the trunk is seen to have fallen.
FALLS = ("the trunk is tilted", "the tracker gave up: a fall")
COMPLETE_S = 1.0  # that a whole run may lack: states are judged a little later than the bridge's


class LaunchEnd(NamedTuple):
    """End of a launch.

    Attributes:
        launch: its number, from 0.
        ran_s: how long the robot ran.
        whole: it ran as long as it was asked to. A robot may have fallen meanwhile and gone on.
        fell: the trunk touched the ground or tilted past 60 deg, or the robot was damped for that.
        cause: of the early end, or of the first fall, in one line; empty without either.
        died: processes that ended without a request, or hung.
        interrupted: the user stopped it.
        stall_ms: the longest stall of the machine beside an early end; None without one.
    """

    launch: int
    ran_s: float
    whole: bool
    fell: bool
    cause: str
    died: tuple[str, ...] = ()
    interrupted: bool = False
    stall_ms: float | None = None

    @property
    def restarts(self) -> int:
        """Processes that died or hung; else 1 for an early end."""
        return len(self.died) or int(not (self.whole or self.interrupted))

    @property
    def words(self) -> str:
        """Course of the launch in words, and whether the machine stood still."""
        words = (f"{', '.join(self.died)} died; " if self.died else "") + self.cause
        if self.stall_ms is not None:
            words += f"; the machine stood still for {self.stall_ms:.0f} ms"
        return words


def judge(
    launch: int, asked_s: float, outcome: LaunchOutcome, fell_at_s: float | None,
    stall_ms: float | None = None,
) -> LaunchEnd:  # fmt: skip
    """Judge the end of a launch that was asked to run for `asked_s`, beside such a stall.

    `fell_at_s`: when the robot was first seen to fall, since it ran [s].
    """
    summary, deaths = outcome.summary, outcome.deaths
    ran, cause = float(summary["simulated_s"]), str(summary["robot"].get("cause", ""))
    fell = bool(summary["fell"]) or cause.startswith(FALLS)
    whole = not cause and not deaths and ran > asked_s - COMPLETE_S
    if not cause and fell:
        cause = "the robot fell" + ("" if fell_at_s is None else f" at {fell_at_s:.1f} s")
    elif not cause and not whole:
        cause = "; ".join(problem.words for problem in outcome.problems)
    return LaunchEnd(
        launch, ran, whole, fell, cause, tuple(death.name for death in deaths),
        outcome.interrupted, None if whole else stall_ms,
    )  # fmt: skip


STANDING_UP_S = 5.3  # of the emulator's time, before the robot runs
LEAST_S = 30.0  # that a launch counts for, however short; less than that is not worth a new one
IN_VAIN = 3  # launches in a row in which the robot does not run, after which the soak ends
GROWTH_MB_PER_H = 10.0  # at most
BLACK_BOX_MB = 100  # of each launch: its last five minutes
STALL_S = 0.1  # around the end of a launch, in which a stall of the machine counts as beside it
NUMBERS: Numbers = read_table(__file__, "summary.yaml")
SAMPLES, STALLS, SUMMARY = "samples.csv", "stalls.csv", "summary.json"

Launch = Callable[..., LaunchOutcome]


class SoakResult(NamedTuple):
    """Result of a soak.

    Attributes:
        summary: plain values; see `run_soak`.
        criteria: the bounds.
        ends: of the launches.
        interrupted: the user stopped it.
    """

    summary: dict[str, Any]
    criteria: list[Criterion]
    ends: list[LaunchEnd]
    interrupted: bool


def run_soak(hours: float, seed: int, folder: Path, start: Launch | None = None) -> SoakResult:
    """Run launches until the robot has run for so long, or the user stops it.

    The folder gets ``samples.csv`` and ``stalls.csv`` as it goes, a folder for each launch, and
    ``summary.json``.

    Args:
        hours: that the robot runs.
        seed: of everything random.
        folder: is made.
        start: runs a launch, in place of `saltus.launch.launcher.launch`.

    Returns:
        The result, with this summary: ``hours`` that the robot ran; ``falls``; ``restarts``:
        processes that died or hung, and launches that ended early with all processes alive, falls
        included; those of them beside a stall of the machine as ``restarts_at_stalls``; ``stalls``
        of the machine, how many and the longest, None where they are not watched; ``missed`` ticks
        of the tracker, of ``ticks``; ``memory_growth_mb_per_h``, see `memory_growth`; ``tick_us``:
        quantiles of the time that a tick of the tracker takes, waiting left out; ``launches``, how
        each ended.

    Raises:
        BadRequest: the folder cannot be written, or no launch can be begun.
    """
    seconds = 3600.0 * hours
    with refusing(f"--folder {folder}"):
        folder.mkdir(parents=True)
        soak = _Soak(seed, folder, start or launch)
    try:
        if start is None:  # here, where Ctrl-C ends it at once
            ensure_compiled(soak_config(draw_schedule(seed, 0, seconds), seconds, folder))
        with StopFlag() as stop, RunProgress(seconds, "s run") as progress:
            soak.run(seconds, stop, progress)
        return soak.conclude()
    finally:
        soak.close()


class _Soak:
    """One soak: its launches, and what they add up to."""

    def __init__(self, seed: int, folder: Path, start: Launch) -> None:
        self._seed, self._folder, self._start = seed, folder, start
        self._begun = time.monotonic()
        self._file = SampleFile(folder / SAMPLES)
        self._stalls = StallWatch(folder / STALLS, self._begun)
        self._ends: list[LaunchEnd] = []
        self._tick_us = LogHistogram(TICK_RESOLUTION_US)
        self._missed = self._ticks = 0
        self._refusal = ""

    def run(self, left: float, stop: StopFlag, progress: RunProgress) -> None:
        """Launch until the time is over; a launch that ends early counts for half a minute."""
        while left > 0.0 and not stop():
            try:
                end = self._launch(left, progress)
            except BadRequest as error:
                if not self._ends:
                    raise
                self._refusal = str(error)
                say(f"soak: no new launch: {error}")
                return
            self._ends.append(end)
            if end.interrupted:
                return
            left -= max(end.ran_s, LEAST_S)
            if end.cause:
                say(f"soak: launch {end.launch} of {end.ran_s:.0f} s: {end.words}")
            if sum(not each.ran_s for each in self._ends[-IN_VAIN:]) == IN_VAIN:
                say("soak: the robot does not run; ending")
                return
            left = left if left >= LEAST_S else 0.0

    def _launch(self, seconds: float, progress: RunProgress) -> LaunchEnd:
        """One launch on a bus of its own."""
        number = len(self._ends)
        schedule = draw_schedule(self._seed, number, seconds)
        with tempfile.TemporaryDirectory(prefix="saltus-soak-") as sockets:
            config = soak_config(schedule, seconds, Path(sockets))
            with Bus(Endpoints.ipc(Path(sockets))) as bus:
                follower = _Follower(
                    Player(schedule, bus.publisher(COMMAND), config.hardware.link.local_port),
                    Watch(self._file, number, self._begun), progress, self._ends,
                )  # fmt: skip
                outcome = self._start(
                    config, self._folder / f"launch-{number}", follower, record=False
                )
        tracker = outcome.reports.get("tracker", {})  # empty for one that died or hung
        self._missed += tracker.get("missed", 0)
        self._ticks += tracker.get("ticks", 0)
        counts = {int(each): n for each, n in tracker.get("tick_us_counts", {}).items()}
        self._tick_us.merge(counts, tracker.get("tick_us", {}).get("max", 0.0))
        end_s = follower.last_run - self._begun
        stall = longest_stall(self._stalls.stalls() or (), end_s - STALL_S, end_s + STALL_S)
        return judge(number, seconds, outcome, follower.fell_at_s, stall)

    def close(self) -> None:
        """Close the files, and end the watch of stalls."""
        self._file.close()
        self._stalls.close()

    def conclude(self) -> SoakResult:
        """Sum up, and write the summary."""
        ends, growth = self._ends, memory_growth(read_samples(self._folder / SAMPLES))
        stalls = self._stalls.stalls()
        interrupted = any(end.interrupted for end in ends)
        falls = sum(end.fell for end in ends)
        restarts = sum(end.restarts for end in ends) + bool(self._refusal)
        quantiles = self._tick_us.quantiles() if self._tick_us.count else None
        longest = max((each.late_ms for each in stalls or ()), default=0.0)
        summary = {
            "hours": sum(end.ran_s for end in ends) / 3600.0,
            "falls": falls,
            "restarts": restarts,
            "restarts_at_stalls": sum(end.restarts for end in ends if end.stall_ms is not None),
            "stalls": None if stalls is None else {"count": len(stalls), "longest_ms": longest},
            "missed": self._missed,
            "ticks": self._ticks,
            "memory_growth_mb_per_h": growth,
            "tick_us": {
                name: getattr(quantiles, name, None) for name in ("p50", "p99", "p999", "max")
            },
            "seed": self._seed,
            "launches": [end._asdict() for end in ends],
            "folder": str(self._folder),
        }
        criteria = [Criterion("falls", falls, "<=", 0), Criterion("restarts", restarts, "<=", 0)]
        if growth is not None:
            what = "growth of the memory after ten minutes [MB/h]"
            criteria.append(Criterion(what, growth, "<", GROWTH_MB_PER_H))
        record = summary | {"criteria": [each.record() for each in criteria]}
        try:
            text = msgspec.json.format(msgspec.json.encode(record))
            write_file(self._folder / SUMMARY, text + b"\n")
        except OSError as error:
            say(f"{SUMMARY} could not be written: {error}")
        return SoakResult(summary, criteria, ends, interrupted)


class _Follower:
    """Callback of a launch that polls: plays the schedule, samples, and shows the progress.

    Attributes:
        fell_at_s: when the robot was first seen to fall, since it ran [s]; None where it was not.
        last_run: when the robot was last seen running [s], monotonic.
    """

    def __init__(
        self, player: Player, watch: Watch, progress: RunProgress, ends: Sequence[LaunchEnd]
    ) -> None:
        self.fell_at_s: float | None = None
        self.last_run = math.nan
        self._player, self._watch, self._progress = player, watch, progress
        self._done = sum(end.ran_s for end in ends)
        self._early = sum(not end.whole for end in ends)

    def __call__(self, supervisor: Supervisor, listener: Listener) -> None:
        metrics = listener.metrics
        self.fell_at_s = metrics.fell_at_s
        running_s = 1e-3 * max(0, metrics.last_tick - metrics.first_tick)
        self._watch.look(supervisor, listener, running_s)
        if listener.status is None or listener.status.state != "running":
            return
        self.last_run = time.monotonic()
        self._player.play(supervisor, listener, running_s)
        early = f", {self._early} launches ended early" if self._early else ""
        self._progress.show(self._done + running_s, f"{listener.status.state}{early}")


def soak_config(schedule: Schedule, seconds: float, sockets: Path) -> LaunchConfig:
    """The launch file a1-emulated, driven by a client for so long, under a schedule.

    The ground is not known to planner and estimator: the estimate of the position drifts in an
    hour by more than an obstacle's size.

    Args:
        schedule: of the launch.
        seconds: that the robot runs.
        sockets: folder of the bus.
    """
    plain = msgspec.to_builtins(load_launch("a1-emulated"))
    plain |= {
        "duration": seconds, "perturbations": [], "terrain": schedule.terrain,
        "terrain_belief": "estimated",
    }  # fmt: skip
    plain["drive"]["source"] = "client"
    plain["bus"]["folder"] = str(sockets)
    plain["emulator"] |= {
        "network": schedule.network, "events": schedule.events(STANDING_UP_S),
    }  # fmt: skip
    plain["hardware"]["link"]["local_port"] = free_port()
    plain["hardware"]["black_box"]["size_mb"] = BLACK_BOX_MB
    plain["hardware"]["operator"]["keyboard"] = False  # the terminal may be anything, for hours
    return make_config(plain, "soak")
