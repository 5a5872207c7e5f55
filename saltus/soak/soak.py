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
from saltus.common.files import write_file
from saltus.common.stalls import StallWatch, longest_stall
from saltus.configuration.launch import LaunchConfig, load_launch, make_config
from saltus.launch.launcher import LaunchOutcome, launch
from saltus.launch.listener import Listener
from saltus.launch.supervisor import Supervisor, black_box_folder, free_port
from saltus.launch.warmup import ensure_compiled
from saltus.metrics.run import RunMetrics
from saltus.soak.samples import FallFrames, SampleFile, Watch, memory_growth, read_samples
from saltus.soak.schedule import HARD, Player, Schedule, draw_schedule

BLAMED_S = 5.0  # for which a push counts as what the robot fell of
# Causes of the bridge that are falls. One may come before the trunk is seen to have fallen.
FALLS = ("the trunk is tilted", "the tracker gave up: a fall")
COMPLETE_S = 1.0  # that a whole run may lack: states are judged a little later than the bridge's


class LaunchEnd(NamedTuple):
    """How a launch ended.

    Attributes:
        launch: its number, from 0.
        ran_s: how long the robot ran.
        whole: it ran as long as it was asked to. A robot may have fallen meanwhile and gone on.
        fell: the trunk touched the ground or tilted past 60 deg, or the robot was damped for that.
        after_hard_push: it fell, or was stopped, within 5 s after a push above 2 m/s.
        fell_at_s: when it was first seen to, since the robot ran [s]; None where it was not.
        cause: of the early end, or of the first fall, in one line; empty without either.
        push_m_s: size of the last push before that; None where there was none.
        push_ago_s: time from that push to it.
        died: processes that ended without a request, or hung.
        interrupted: the user stopped it.
        stall_ms: the longest stall of the machine beside an early end; None without one.
    """

    launch: int
    ran_s: float
    whole: bool
    fell: bool
    after_hard_push: bool
    fell_at_s: float | None
    cause: str
    push_m_s: float | None
    push_ago_s: float | None
    died: tuple[str, ...] = ()
    interrupted: bool = False
    stall_ms: float | None = None

    @property
    def counts_as_fall(self) -> bool:
        """A fall that no hard push explains."""
        return self.fell and not self.after_hard_push

    @property
    def restarts(self) -> int:
        """Processes that died or hung; else 1 for an early end that no hard push explains."""
        early = not (self.whole or self.interrupted or self.after_hard_push)
        return len(self.died) or int(early)

    @property
    def words(self) -> str:
        """What happened, the last push before that, and whether the machine stood still."""
        words = (f"{', '.join(self.died)} died; " if self.died else "") + self.cause
        if self.push_m_s is not None and self.push_ago_s is not None:
            words += f" ({self.push_ago_s:.1f} s after a push of {self.push_m_s:.2f} m/s)"
        if self.stall_ms is not None:
            words += f"; the machine stood still for {self.stall_ms:.0f} ms"
        return words


def judge(
    launch: int, asked_s: float, outcome: LaunchOutcome, metrics: RunMetrics,
    stall_ms: float | None = None,
) -> LaunchEnd:  # fmt: skip
    """How a launch ended that was asked to run for `asked_s`, beside such a stall."""
    summary, robot = outcome.summary, outcome.summary["robot"]
    ran = float(summary["simulated_s"])
    cause = str(robot.get("cause", ""))
    fell = bool(summary["fell"]) or cause.startswith(FALLS)
    whole = not cause and not outcome.deaths and ran > asked_s - COMPLETE_S
    well = whole and not fell
    end_ms, fell_at_s = float(metrics.last_tick), metrics.fell_at_s
    if fell_at_s is not None:
        end_ms = metrics.first_tick + 1e3 * fell_at_s
    emulator = outcome.reports.get("emulator", {})
    pushes = [  # time before the end [s], and size [m/s]
        (1e-3 * (end_ms - at_ms), math.hypot(*value))
        for at_ms, value in emulator.get("pushes", ()) if at_ms <= end_ms
    ]  # fmt: skip
    hard = any(ago <= BLAMED_S and size > HARD for ago, size in pushes)
    ago, size = pushes[-1] if pushes else (None, None)
    if not cause and fell:
        cause = "the robot fell" + ("" if fell_at_s is None else f" at {fell_at_s:.1f} s")
    elif not cause and not well:
        cause = "; ".join(problem.words for problem in outcome.problems)
    return LaunchEnd(
        launch, ran, whole, fell, hard and not well and not outcome.deaths, fell_at_s, cause, size,
        ago, tuple(death.name for death in outcome.deaths), outcome.interrupted,
        None if whole else stall_ms,
    )  # fmt: skip


STANDING_UP_S = 5.3  # of the emulator's time, before the robot runs
LEAST_S = 30.0  # that a launch counts for, however short; less than that is not worth a new one
IN_VAIN = 3  # launches in a row in which the robot does not run, after which the soak ends
GROWTH_MB_PER_H = 10.0  # at most
BLACK_BOX_MB = 100  # of each launch: its last five minutes
STALL_S = 0.1  # around the end of a launch, in which a stall of the machine counts as beside it
SAMPLES, STALLS, SUMMARY = "samples.csv", "stalls.csv", "summary.json"
FALL = "fall"  # in a launch's folder

Launch = Callable[..., LaunchOutcome]


class SoakOptions(NamedTuple):
    """What is asked for.

    Attributes:
        hours: that the robot runs.
        seed: of everything random.
        hard_pushes: a few above 2 m/s among the others.
        record: keep the recording of every launch, some GB an hour.
    """

    hours: float
    seed: int = 0
    hard_pushes: bool = False
    record: bool = False


class SoakResult(NamedTuple):
    """What came of it.

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


def run_soak(options: SoakOptions, folder: Path, start: Launch | None = None) -> SoakResult:
    """Run launches until the robot has run for so long, or the user stops it.

    The folder gets ``samples.csv`` and ``stalls.csv`` as it goes, a folder for each launch, which
    has the black box's files around a fall in ``fall``, and ``summary.json``.

    Args:
        options: of the soak.
        folder: is made.
        start: runs a launch, in place of `saltus.launch.launcher.launch`.

    Returns:
        The result, with this summary: ``hours`` that the robot ran; ``falls``, without those within
        5 s after a push above 2 m/s; those as ``falls_after_hard_pushes``, with stops of the robot;
        ``restarts``: processes that died or hung, and launches that ended early with all processes
        alive, falls included, unless within 5 s after such a push; those of them beside a stall of
        the machine as ``restarts_at_stalls``; ``stalls`` of the machine, how many and the longest,
        None where they are not watched; ``missed`` ticks of the tracker, of ``ticks``;
        ``memory_growth_mb_per_h``, see `memory_growth`; ``tick_us``: quantiles of the time that a
        tick of the tracker takes, waiting left out; ``launches``, how each ended.

    Raises:
        BadRequest: the folder cannot be written, or no launch can be begun.
    """
    with refusing(f"--folder {folder}"):
        folder.mkdir(parents=True)
        soak = _Soak(options, folder, start or launch)
    try:
        if start is None:  # here, where Ctrl-C ends it at once
            schedule = draw_schedule(options.seed, 0, 3600.0 * options.hours, options.hard_pushes)
            ensure_compiled(soak_config(schedule, 3600.0 * options.hours, folder))
        with StopFlag() as stop, RunProgress(3600.0 * options.hours, "s run") as progress:
            soak.run(stop, progress)
        return soak.conclude()
    finally:
        soak.close()


class _Soak:
    """One soak: its launches, and what they add up to."""

    def __init__(self, options: SoakOptions, folder: Path, start: Launch) -> None:
        self._options, self._folder, self._start = options, folder, start
        self._begun = time.monotonic()
        self._file = SampleFile(folder / SAMPLES)
        self._stalls = StallWatch(folder / STALLS, self._begun)
        self._ends: list[LaunchEnd] = []
        self._tick_us = LogHistogram(TICK_RESOLUTION_US)
        self._missed = self._ticks = 0
        self._refusal = ""

    def run(self, stop: StopFlag, progress: RunProgress) -> None:
        """Launch until the time is over; a launch that ends early counts for half a minute."""
        left = 3600.0 * self._options.hours
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
        number, options = len(self._ends), self._options
        folder = self._folder / f"launch-{number}"
        schedule = draw_schedule(options.seed, number, seconds, options.hard_pushes)
        with tempfile.TemporaryDirectory(prefix="saltus-soak-") as sockets:
            config = soak_config(schedule, seconds, Path(sockets))
            with Bus(Endpoints.ipc(Path(sockets))) as bus:
                follower = _Follower(
                    Player(schedule, bus.publisher(COMMAND), config.hardware.link.local_port),
                    Watch(self._file, number, self._begun),
                    FallFrames(black_box_folder(config, folder), folder / FALL),
                    progress,
                    self._ends,
                )
                outcome = self._start(config, folder, follower, record=options.record)
        tracker = outcome.reports.get("tracker", {})  # empty for one that died or hung
        self._missed += tracker.get("missed", 0)
        self._ticks += tracker.get("ticks", 0)
        counts = {int(each): n for each, n in tracker.get("tick_us_counts", {}).items()}
        self._tick_us.merge(counts, tracker.get("tick_us", {}).get("max", 0.0))
        end_s = follower.last_run - self._begun
        stall = longest_stall(self._stalls.stalls() or (), end_s - STALL_S, end_s + STALL_S)
        return judge(number, seconds, outcome, follower.metrics, stall)


    def close(self) -> None:
        """Close the files, and end the watch of stalls."""
        self._file.close()
        self._stalls.close()

    def conclude(self) -> SoakResult:
        """Sum up, and write the summary."""
        ends, growth = self._ends, memory_growth(read_samples(self._folder / SAMPLES))
        stalls = self._stalls.stalls()
        interrupted = any(end.interrupted for end in ends)
        falls = sum(end.counts_as_fall for end in ends)
        restarts = sum(end.restarts for end in ends) + bool(self._refusal)
        quantiles = self._tick_us.quantiles() if self._tick_us.count else None
        longest = max((each.late_ms for each in stalls or ()), default=0.0)
        summary = {
            "hours": sum(end.ran_s for end in ends) / 3600.0,
            "falls": falls,
            "falls_after_hard_pushes": sum(end.after_hard_push for end in ends),
            "restarts": restarts,
            "restarts_at_stalls": sum(end.restarts for end in ends if end.stall_ms is not None),
            "stalls": None if stalls is None else {"count": len(stalls), "longest_ms": longest},
            "missed": self._missed,
            "ticks": self._ticks,
            "memory_growth_mb_per_h": growth,
            "tick_us": {
                name: getattr(quantiles, name, None) for name in ("p50", "p99", "p999", "max")
            },
            "seed": self._options.seed,
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
    """What a launch calls as it polls: plays the schedule, samples, and shows how far it is.

    Attributes:
        metrics: of the launch.
        last_run: when the robot was last seen running [s], monotonic.
    """

    def __init__(
        self, player: Player, watch: Watch, fall_frames: FallFrames, progress: RunProgress,
        ends: Sequence[LaunchEnd],
    ) -> None:  # fmt: skip
        self.metrics, self.last_run = RunMetrics(), math.nan
        self._player, self._watch, self._progress = player, watch, progress
        self._fall_frames = fall_frames
        self._done = sum(end.ran_s for end in ends)
        self._early = sum(not end.whole for end in ends)

    def __call__(self, supervisor: Supervisor, listener: Listener) -> None:
        self.metrics = metrics = listener.metrics
        running_s = 1e-3 * max(0, metrics.last_tick - metrics.first_tick)
        self._watch.look(supervisor, listener, running_s)
        self._fall_frames.look(metrics.fell_at_s, running_s)
        if listener.status is None or listener.status.state != "running":
            return
        self.last_run = time.monotonic()
        self._player.play(supervisor, listener, running_s)
        early = f", {self._early} launches ended early" if self._early else ""
        self._progress.show(self._done + running_s, f"{listener.status.state}{early}")


def soak_config(schedule: Schedule, seconds: float, sockets: Path) -> LaunchConfig:
    """The launch file a1-emulated, driven by a client for so long, under a schedule.

    Nobody knows the ground: where a robot is drifts in an hour by more than an obstacle's size.

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
