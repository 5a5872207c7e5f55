"""One launch: processes started, listened to, recorded, shown, stopped, and summed up."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hw_bridge.operator.driving import HELP as KEYS
from hw_bridge.operator.keyboard import raw_keys
from runtime.bus import Bus
from runtime.signals import StopFlag
from runtime.topics import (
    BY_WATCHERS,
    COMMAND,
    GROUND_TRUTH,
    ROBOT_STATUS,
    STATE_ESTIMATE,
    TOPICS,
)
from saltus.common.compiled_code import code_version
from saltus.common.console import RunProgress, say
from saltus.common.errors import INTERRUPTED
from saltus.common.processes import PEER_GONE, Child
from saltus.configuration.launch import DRIVEN_S, LaunchConfig, write_config
from saltus.launch import assembly
from saltus.launch.announcement import (
    PREFIX,
    Announcer,
    check_free,
    endpoints_of,
)
from saltus.launch.cores import preferred
from saltus.launch.driving import words_of
from saltus.launch.hardware import check_at_hand, with_own_port
from saltus.launch.listener import Listener
from saltus.launch.outcome import (
    HANG_S,
    STALL_S,
    START_S,
    LaunchProblem,
    describe_stall,
    find_problems,
    launch_summary,
    robot_summary,
)
from saltus.launch.references import tilt_allowance
from saltus.launch.run_folder import RunFolder, preparing
from saltus.launch.supervisor import (
    BLACK_BOX,
    GRACE_S,
    LASTING,
    WATCHDOG,
    Death,
    Supervisor,
    black_box_command,
    black_box_pipe,
    grace_s,
    watchdog_command,
    watchdog_socket,
)
from saltus.launch.warmup import ensure_compiled
from saltus.metrics.run import run_metrics


def progress_of(config: LaunchConfig, listener: Listener, tick: int) -> tuple[float, str]:
    """Time of the run [s], and its progress in words."""
    metrics, command = listener.metrics, listener.command
    if tick < 0:
        return 0.0, f"waits at {config.emulator.address}:{config.emulator.port}" if (
            not config.kind.planned
        ) else "starting"
    way = f"{metrics.distance:.2f} m" if command is None else words_of(command)
    if listener.status is not None:
        hottest = listener.status.temperature.max()
        what = f"{listener.status.state}, {way}, motors to {hottest:.0f} degC"
        return metrics.summary()["simulated_s"], what
    seconds = max(tick, 1) * 1e-3
    rate = f"{listener.plans / seconds:.0f} plans/s"
    plans = f"{listener.plans} plans" if config.mode == "paused" else rate
    return seconds, f"{way}, {plans}" + (", THE PLANNER FAILS" if listener.planner_fails else "")


@contextmanager
def operator_keys(config: LaunchConfig) -> Iterator[None]:
    """Keys go one by one, unechoed, to the robot's bridge."""
    operated = config.kind.bridged and config.hardware.operator.keyboard
    # None where a shell has closed it: <&-
    if not (operated and sys.stdin and sys.stdin.isatty()):
        yield
        return
    print("u stand up, r run, d sit down, space or Esc STOP, Ctrl-C end", file=sys.stderr)
    if config.drive.source == "keyboard":
        print(f"{KEYS}; Ctrl-C ends", file=sys.stderr)
    with raw_keys(sys.stdin.fileno()):
        yield


CLOSE_S = 2.0  # in which it may close its pages


@contextmanager
def viewer(config: LaunchConfig) -> Iterator[None]:
    """Show this process's launch in the browser; what the view says is said here."""
    command = [sys.executable, "-m", "saltus.cli.main", "view", "--process", str(os.getpid())]
    if config.view.port is not None:
        command += ["--port", str(config.view.port)]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    lines = threading.Thread(target=_say_lines, args=(process,), daemon=True)
    lines.start()
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            process.kill()
        lines.join(CLOSE_S)


def _say_lines(process: subprocess.Popen[str]) -> None:
    """Pass on what the view says, and one line where it ends before the launch does."""
    assert process.stderr is not None
    for line in process.stderr:
        say(line.rstrip())
    status = process.wait()
    if status not in (0, -15, INTERRUPTED):
        say(f"view: ended with status {status}; the launch goes on; `saltus view` opens it again")


Meddle = Callable[[Supervisor, Listener], None]

PROGRAM = "saltus.launch.processes"
POLL_S = 0.02
LAST_ESTIMATE_S = 1.0  # longest wait for it, once the robot has stopped


class LaunchOutcome(NamedTuple):
    """End of a launch.

    Attributes:
        summary: what `saltus launch --json` prints.
        deaths: processes that ended without a request.
        completed: the run came to its end, be it a fall.
        interrupted: the user asked it to stop.
        reports: the counters of each process; empty for one that died.
        problems: what went wrong, the gravest first.
        next: the launch that a viewer asked for in its place.
    """

    summary: dict[str, Any]
    deaths: list[Death]
    completed: bool
    interrupted: bool
    reports: dict[str, dict[str, Any]]
    problems: list[LaunchProblem]
    next: LaunchConfig | None = None

    @property
    def ok(self) -> bool:
        """Whether the launch did what was asked: all of it, every process alive, no failure."""
        return self.completed and not any(problem.failure for problem in self.problems)


def launch(
    config: LaunchConfig,
    folder: Path | None = None,
    meddle: Meddle | None = None,
    modules: Mapping[str, str] | None = None,
    record: bool = True,
    stay: bool = False,
) -> LaunchOutcome:
    """Run a launch from start to end; nothing is left running, whatever happens.

    Args:
        config: what to run.
        folder: of the run, for its logs, reports, summary and recording; None keeps nothing.
        meddle: called with the processes and the listener, some fifty times a second; a study
            of faults does its harm here.
        modules: of processes that run in place of their own, by name.
        record: into the folder, if there is one.
        stay: after a fall, wait until a viewer begins the launch again or the user ends it.

    Raises:
        BadRequest: the configuration does not fit together, or the run folder or the endpoints
            cannot be had; nothing is running.
    """
    config = with_own_port(config)
    assembly.check(config)
    check_at_hand(config)
    kind = config.kind
    with preparing():
        temporary_folder = tempfile.TemporaryDirectory(prefix=PREFIX)
    with temporary_folder as temporary:
        sockets = Path(temporary) / "bus"
        endpoints = endpoints_of(config.bus, sockets)
        by_client = config.drive.source == "client"  # one may be there already
        others = (*BY_WATCHERS, COMMAND) if by_client else BY_WATCHERS
        check_free(endpoints, [topic for topic in TOPICS if topic not in others])
        files = RunFolder(folder or Path(temporary) / "run")
        with preparing():
            sockets.mkdir(exist_ok=True)  # what is not the bus's is there wherever that is
            ensure_compiled(config)
            write_config(config, files.configuration)
            announcer = Announcer(Path(temporary), files.configuration, sockets)
            if kind.bridged:
                os.mkfifo(black_box_pipe(sockets))
        with announcer, StopFlag() as stop, Bus(endpoints) as bus:
            metrics = run_metrics(config, tilt_allowance(config))
            recorder = None
            if folder and record:
                from saltus.recording.recorder import RunRecorder  # not every launch writes one

                with preparing():
                    recorder = RunRecorder(files.recording, config)
            listener = Listener(bus, metrics, recorder, lock_step=config.mode == "paused")
            run = _Run(config, listener, stop, announcer, files, meddle)
            programs = dict.fromkeys(kind.processes, PROGRAM) | dict(modules or {})
            children = [_child(name, config, files, sockets, programs) for name in programs]
            supervisor = Supervisor(
                children, kind.finishing, kind.expendable, LASTING, grace_s(config), say,
                lambda: stop.signals,
            )  # fmt: skip
            try:
                with operator_keys(config), supervisor:
                    with preparing():
                        supervisor.start()
                    with preferred(config):
                        run.follow(supervisor)
                listener.drain(most=None)
            finally:
                listener.close()
            outcome = run.conclude(supervisor.deaths)
            if stay and run.can_be_replaced and outcome.summary["fell"]:
                run.await_next()
        outcome.summary["folder"] = None if folder is None else str(folder)
        return outcome._replace(next=run.next)


def _summary(
    config: LaunchConfig, listener: Listener, reports: Mapping[str, dict[str, Any]],
    deaths: list[Death],
) -> dict[str, Any]:  # fmt: skip
    """Output of `saltus launch --json`."""
    metrics = listener.metrics
    # In real time truth is published too seldom to show a short touch of the ground.
    simulation = reports.get("simulation", {})
    if simulation.get("fell") and not metrics.fell:
        metrics.fell, metrics.fell_at_s = True, simulation["fell_at_s"]
    metrics.fell |= reports.get("emulator", {}).get("posture") == "fallen"
    summary = launch_summary(config, metrics, listener.plans, reports)
    summary["robot"] = {"name": config.robot}
    if config.kind.bridged:
        tracker, watchdog = (reports.get(name, {}) for name in ("tracker", WATCHDOG))
        summary["robot"] |= robot_summary(listener.status, tracker, watchdog, deaths) | {
            "limits": config.limit_profile, "without_doctor": config.hardware.without_doctor,
        }  # fmt: skip
    return summary


def _child(
    name: str, config: LaunchConfig, folder: RunFolder, sockets: Path, programs: Mapping[str, str]
) -> Child:
    command = [
        sys.executable, "-m", programs[name], name, str(folder.configuration),
        str(sockets), str(folder.report(name)), str(os.getpid()),
    ]  # fmt: skip
    if name == WATCHDOG:  # it shall not load, nor depend on, what is installed
        command = watchdog_command(watchdog_socket(sockets), folder.report(name), os.getpid())
    if name == BLACK_BOX:
        report = folder.report(name)
        command = black_box_command(config, sockets, folder.path, report, os.getpid())
    return Child(name, command, folder.log(name), name == WATCHDOG)


class _Run:
    """Follows one launch until it is over, for whatever reason.

    Attributes:
        listener: of its messages.
        completed: the launch came to its end.
        stall: which process waited for which, where it stood still; empty elsewhere.
        next: the launch that a viewer asks for in place of this one.
    """

    next: LaunchConfig | None = None

    def __init__(
        self, config: LaunchConfig, listener: Listener, stop: StopFlag, announcer: Announcer,
        files: RunFolder, meddle: Meddle | None,
    ) -> None:  # fmt: skip
        self.completed, self.stall = False, ""
        self._announcer, self._files, self._meddle = announcer, files, meddle
        self.listener = listener
        self._config, self._stop = config, stop
        self._beat = ROBOT_STATUS if config.kind.bridged else GROUND_TRUTH  # says that it lives
        self._last_tick, self._moved = -1, time.monotonic()

    def follow(self, supervisor: Supervisor) -> None:
        """Listen and watch until the run is complete, lost, stalled, or stopped by the user."""
        unit = "s run" if self._config.kind.bridged else "s simulated"
        duration = self._config.duration
        with RunProgress(duration if duration < DRIVEN_S else math.inf, unit) as progress:
            while not self._over(supervisor):
                self.listener.drain()
                if any(not d.fatal and d.name != BLACK_BOX for d in supervisor.watch()):
                    supervisor.child("tracker").signal(PEER_GONE)
                self._show(progress)
                if self._last_state_is_estimated():
                    supervisor.dismiss("tracker")  # else it would warn that the robot is silent
                if self._meddle is not None:
                    self._meddle(supervisor, self.listener)
                time.sleep(POLL_S)
        if self._tracker_hangs:
            supervisor.grace_s = GRACE_S  # the robot does not sit down any more
        if self.completed and self._config.kind.simulated:
            self._hear_the_rest()

    def conclude(self, deaths: list[Death]) -> LaunchOutcome:
        """Judge the end of the launch; write its ``summary.json``."""
        config, files, recording = self._config, self._files, self.listener.recording
        reports = {name: files.read_report(name) for name in config.kind.processes}
        summary = _summary(config, self.listener, reports, deaths)
        interrupted = self._stop()
        asked = interrupted or self.next is not None
        end = "complete" if self.completed else "interrupted" if asked else "broken"
        cause = recording["cause"] if recording else ""
        problems = find_problems(config, summary, reports, deaths, end, self.stall, cause)
        outcome = LaunchOutcome(summary, deaths, self.completed, interrupted, reports, problems)
        summary |= {"ok": outcome.ok, "problems": [problem._asdict() for problem in problems]}
        files.write_summary(summary | {
            "completed": self.completed, "code": code_version(),
            "deaths": [death._asdict() for death in deaths], "processes": reports,
            "recording": recording,
        })  # fmt: skip
        return outcome

    def await_next(self) -> None:
        """Wait until a viewer begins the launch again, or the user ends it."""
        self._announcer.update(fell=True)
        say("the robot fell; begin again on the page, or end with Ctrl-C")
        while not self._stop() and not self._is_replaced():
            time.sleep(POLL_S)

    @property
    def can_be_replaced(self) -> bool:
        """Whether a viewer may begin the launch again."""
        return self._config.kind.simulated and self._config.controllable

    def _is_replaced(self) -> bool:
        """Whether a viewer asks for another launch in place of this one."""
        if self.can_be_replaced:
            self.next = self._announcer.next()
        return self.next is not None

    def _hear_the_rest(self) -> None:
        """Stay until the last state is estimated too: both ends of a run are the same each time."""
        end, ticks = time.monotonic() + LAST_ESTIMATE_S, self.listener.ticks
        while time.monotonic() < end:
            time.sleep(5 * POLL_S)
            self.listener.drain()
            if ticks[STATE_ESTIMATE.name] >= ticks[GROUND_TRUTH.name]:
                return

    def _last_state_is_estimated(self) -> bool:
        """Whether the tracker is not needed any more in real time; in lock step it just waits."""
        ticks, config = self.listener.ticks, self._config
        last = min(ticks[GROUND_TRUTH.name], ticks[STATE_ESTIMATE.name])
        alone = config.kind.simulated and config.mode == "realtime"
        return alone and last >= config.ticks

    @property
    def _tracker_hangs(self) -> bool:
        """Whether the watchdog damps the robot, of which it leaves word at once."""
        return self._config.kind.bridged and self._files.report(WATCHDOG).exists()

    def _tick(self) -> int:
        return self.listener.ticks[self._beat.name]

    def _over(self, supervisor: Supervisor) -> bool:
        if self._stop() or supervisor.has_fatal_death:
            if self._config.kind.bridged and not supervisor.has_fatal_death:
                say("ending the launch; the robot sits down first")
            return True
        if self._is_replaced():
            return True
        if self._tick() < 0 and supervisor.deaths:
            say(f"the {supervisor.deaths[0].name} died before the robot moved; ending the launch")
            return True
        moved = self._moved
        if self._config.mode == "paused":  # time in real time does not stop
            moved = max(moved, self.listener.paced_at_s)
        still = time.monotonic() - moved
        if not self._config.kind.planned:
            still = 0.0  # it waits for a launch elsewhere, for as long as that takes
        longest = START_S if self._tick() < 0 else STALL_S
        if self._tick() >= 0 and still > HANG_S and self._tracker_hangs:
            longest = HANG_S
        if still > longest:
            waits = describe_stall(self._config, self.listener.ticks)
            self.stall = f"no tick for {longest:g} s, {waits}"
            say(f"{self.stall}: ending the launch")
        self.completed = supervisor.is_finished
        return self.completed or bool(self.stall)

    def _show(self, progress: RunProgress) -> None:
        tick = self._tick()
        if tick != self._last_tick:
            self._last_tick, self._moved = tick, time.monotonic()
            self._announcer.update(is_moving=True)
        progress.show(*progress_of(self._config, self.listener, tick))
