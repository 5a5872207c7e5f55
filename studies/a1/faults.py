"""Faults of the emulated robot, over its wire and in real time, and how each launch ends.

Every row is a launch of its own: the robot stands up, walks, something goes wrong, and it must end
on its feet or damped, within its limits, with the cause in one line and a recording that reads.
"""

from __future__ import annotations

import os
import pty
import resource
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from hw_bridge.operator.keyboard import QUERY, REPLY, raw_keys
from runtime.recording import read_frames
from saltus.common.processes import stolen_s
from saltus.configuration.launch import LaunchConfig, load_launch, make_config
from saltus.launch.launcher import LaunchOutcome, launch
from saltus.launch.listener import Listener
from saltus.launch.supervisor import Supervisor, free_port, pause_processes, send_as_stranger
from studies.a1.faults_failing import HOG, WAY
from studies.study import Criterion, StudyOptions, StudyResult, study

AT_S = 10.0  # of the emulator's time: after standing up (6 s) and some seconds of walking [s]
RUN_S = 8.0  # for which the robot walks when nothing stops it [s]
LONG = {"duration": 20.0}  # the silence ends it; on a busy machine it may begin late [s]
DOWN = frozenset({"lying", "fallen", "sinking"})  # damped, on the ground or on the way there
FAILING = "studies.a1.faults_failing"  # module of a process whose messages go wrong
HANG, STOP = 15.0, 3.0  # ticks of 1 ms until damping
SEATED = frozenset({"lying"})  # sat down in order at the end


class Fault(NamedTuple):
    """One row of the table.

    Attributes:
        name: of the fault.
        ends: postures accepted at the end.
        caused: words that the reported cause contains; "" where the robot must walk on.
        within: ticks of 1 ms from the harm or the button to the first damping command; 0: any.
        emulator: options of the emulator, over the launch file's.
        harm: actions from outside while the robot walks, each a verb and its objects; comma between
            two.
        spoiled: process that goes wrong: planner, estimator or tracker, and the way, see `failing`.
        launch: other keys over the launch file's.
    """

    name: str
    ends: frozenset[str] = SEATED
    caused: str = ""
    within: float = 0.0
    emulator: Mapping[str, Any] = {}
    harm: str = ""
    spoiled: str = ""
    launch: Mapping[str, Any] = {}


def _event(kind: str, **what: Any) -> dict[str, Any]:
    return {"events": [{"kind": kind, "at": AT_S, **what}]}


FAULTS = (
    Fault("none, but for a push of 1.0 m/s", emulator=_event("push", value=[0.0, 1.0, 0.0])),
    Fault("planner killed", caused="planner died", harm="kill planner"),
    Fault("estimator killed", caused="estimator died", harm="kill estimator"),
    Fault("tracker killed", DOWN, "tracker died", HANG, harm="kill tracker"),
    Fault("watchdog killed", caused="watchdog died", harm="kill watchdog"),
    Fault("black box killed", caused="black_box died", harm="kill black_box"),
    *(
        Fault(f"tracker stopped for {ms} ms", DOWN, "hung", HANG, harm=f"pause {ms} tracker")
        for ms in (20, 60, 200)
    ),
    Fault("tracker stopped for ever", DOWN, "hung", HANG, harm="pause 0 tracker"),
    Fault(
        "a thread of the tracker keeps Python's lock", DOWN, "hung", HANG, harm="hog tracker",
        spoiled="tracker",
    ),
    Fault(
        "gap in sending: the machine stands still for 60 ms", DOWN, "no command was sent",
        harm="pause 60 tracker watchdog",
    ),
    Fault("5 % of packets lost", emulator={"network": {"loss": 0.05}}),
    Fault("packets late by 0 to 20 ms", DOWN, emulator={"network": {"jitter_s": 0.02}}),
    Fault("30 % of packets doubled", emulator={"network": {"duplicate": 0.3}}),
    Fault("30 % of packets out of order", emulator={"network": {"reorder": 0.3}}),
    Fault("5 % of packets corrupted", emulator={"network": {"corrupt": 0.05}}),
    Fault("cable cut for 50 ms", DOWN, "protection", emulator=_event("cut", **{"for": 0.05})),
    Fault("cable cut for 2 s", DOWN, "ms old", emulator=_event("cut", **{"for": 2.0})),
    Fault("power cut", DOWN, "ms old", emulator=_event("power_cut")),
    Fault("encoder stuck", DOWN, "stuck", emulator=_event("stuck_encoder", motor=4)),
    Fault("NaN from the planner", caused="plan not finite", spoiled="planner NaN"),
    Fault(
        "plan states out of bounds", caused="plan states out of bounds", spoiled="planner states",
    ),
    Fault(
        "plan inputs out of bounds", caused="plan inputs out of bounds", spoiled="planner inputs",
    ),
    Fault("plan gains out of bounds", caused="plan gains out of bounds", spoiled="planner gains"),
    Fault(
        "estimate contradicts the encoders", caused="estimate contradicts encoders",
        spoiled="estimator joints",
    ),
    Fault(
        "estimate contradicts the gyroscope", caused="estimate contradicts gyroscope",
        spoiled="estimator turn",
    ),
    Fault(
        "estimated velocity out of bounds", caused="estimate too fast", spoiled="estimator speed",
    ),
    Fault(
        "velocity sensor stuck at zero", DOWN, "the speed is stuck at 0.00",
        emulator=_event("stuck_velocity", motor="FL_thigh"),
    ),
    # As it stands up: a planner walks on with a jammed joint and presses for 10 ms at most.
    Fault(
        "joint jammed", DOWN, "is jammed",
        emulator={"events": [{"kind": "jam", "at": 3.5, "motor": "FL_calf"}]},
    ),
    Fault(
        "joint driven to its limit", DOWN, "limit",
        emulator=_event("drive_joint", motor="FL_hip", torque=40.0, **{"for": 0.5}),
    ),
    Fault("motor overheated", caused="degC", emulator=_event("heat", motor=7, temperature=61.0)),
    Fault("disk full while recording", harm="fill disk"),
    Fault("a stranger's packets", harm="stranger"),
    Fault(
        "stop by the A1's remote", DOWN, "remote", STOP,
        emulator=_event("remote", buttons=["R2"], **{"for": 0.2}),
    ),
    Fault("stop by the keyboard", DOWN, "space key", STOP, harm="press key"),
    Fault("stop by the gamepad", DOWN, "gamepad button", STOP, harm="press gamepad"),
    Fault(
        "stop by the keyboard while the tracker hangs", DOWN, "space key", STOP,
        harm="pause 0 tracker, press key",
    ),
    Fault(
        "stop by the gamepad while the tracker hangs", DOWN, "gamepad button", STOP,
        harm="pause 0 tracker, press gamepad",
    ),
    Fault(
        "gamepad silent", caused="gamepad has been silent", harm="silence gamepad", launch=LONG,
    ),
    Fault(
        "terminal frozen", caused="terminal has been silent", harm="silence terminal", launch=LONG,
    ),
)  # fmt: skip


WALKED_S = 3.0  # before a harm from outside is done [s]
STOP_KEY = b" "
GAMEPAD_STOP = struct.pack("<IhBB", 0, 1, 1, 1)  # linux/joystick.h: time, value, button, number
GAMEPAD_MOVES = struct.pack("<IhBB", 0, 1, 2, 0)  # axis 0
LIFE_PERIOD_S = 0.05
STRANGER_PACKETS = 50  # of each kind, fifty times a second, for half a second
TORQUE_MARGIN = 1.02  # the emulator judges with its own encoders: one quantum of tau, and rounding


class Ports(NamedTuple):
    """UDP ports of one run, free at its start."""

    emulator: int
    bridge: int


class Harm:
    """Cause a fault once the robot has walked for a while; `launch` calls it as it polls.

    Inside the context the devices show life, until the fault: a stick of the gamepad moves, and the
    terminal answers. A thread of its own sees to that, for a busy machine lets `launch` wait.

    Attributes:
        done_at: time of the fault [s], monotonic; None before it.
    """

    def __init__(self, fault: Fault, ports: Ports, key: int, gamepad: int) -> None:
        """`key` and `gamepad` are file descriptors to write to."""
        self.done_at: float | None = None
        self._fault, self._ports = fault, ports
        self._key, self._gamepad = key, gamepad
        self._silent = threading.Event()
        self._life = threading.Thread(target=self._show_life, daemon=True)

    def __enter__(self) -> Self:
        """Show life."""
        self._life.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Show none any more."""
        self._silent.set()
        self._life.join()

    def __call__(self, supervisor: Supervisor, listener: Listener) -> None:
        """Cause the fault when it is due."""
        status = listener.status
        if not self._fault.harm or status is None or status.state != "running":
            return
        walked = listener.metrics.summary()["simulated_s"]
        if walked < WALKED_S or self.done_at is not None:
            return
        self.done_at = time.monotonic()
        for action in self._fault.harm.split(", "):
            verb, *objects = action.split()
            getattr(self, f"_{verb}")(supervisor, *objects)

    def _kill(self, supervisor: Supervisor, name: str) -> None:
        supervisor.child(name).signal(signal.SIGKILL)

    def _hog(self, supervisor: Supervisor, name: str) -> None:
        supervisor.child(name).signal(HOG)

    def _pause(self, supervisor: Supervisor, ms: str, *names: str) -> None:
        """Stop processes; let them go on after so many milliseconds, never after 0."""
        pause_processes(supervisor, names, 1e-3 * float(ms))

    def _press(self, _: Supervisor, what: str) -> None:
        if what == "key":
            os.write(self._key, STOP_KEY)
        else:
            os.write(self._gamepad, GAMEPAD_STOP)

    def _show_life(self) -> None:
        while not self._silent.wait(LIFE_PERIOD_S):
            with suppress(BlockingIOError):
                if "gamepad" in self._fault.harm:
                    os.write(self._gamepad, GAMEPAD_MOVES)
                elif "terminal" in self._fault.harm:
                    os.write(self._key, os.read(self._key, 4096).count(QUERY) * REPLY)

    def _silence(self, *_: object) -> None:
        self._silent.set()

    def _fill(self, *_: object) -> None:
        """Limit the size of the files of this process, which records: as a full disk does."""
        sys.dont_write_bytecode = True  # Python would keep cut files
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))

    def _stranger(self, *_: object) -> None:
        send_as_stranger(self._ports.bridge, STRANGER_PACKETS)


def run_fault(fault: Fault, folder: Path, settings: Sequence[str] = ()) -> dict[str, Any]:
    """Run one fault of a launch with `settings`, recorded into `folder`; the row of the table.

    `stolen_ms`: see `stolen_s`.
    """
    ports = Ports(free_port(), free_port())
    gamepad = folder / "gamepad"
    folder.mkdir(parents=True)
    os.mkfifo(gamepad)
    config = _config(fault, ports, gamepad, settings)
    process, _, os.environ[WAY] = fault.spoiled.partition(" ")  # of the processes to come
    modules = {process: FAILING} if process else None
    record, stolen = folder / "run", stolen_s()
    of_terminal = "terminal" in fault.harm
    with _standard_input(of_terminal) as key, _named_pipe(gamepad) as pad, _file_size_limit():
        with Harm(fault, ports, key, pad) as harm:
            outcome = launch(config, record, harm, modules)
    return _row(fault, config, outcome, harm, record, 1e3 * (stolen_s() - stolen))


def _config(fault: Fault, ports: Ports, gamepad: Path, settings: Sequence[str]) -> LaunchConfig:
    """The launch file a1-emulated with the fault, without its push, and with a shorter walk."""
    plain = msgspec.to_builtins(load_launch("a1-emulated", settings))
    plain |= {"duration": RUN_S, "perturbations": [], **fault.launch}
    plain["emulator"] |= {"port": ports.emulator, "events": [], **fault.emulator}
    plain["emulator"]["domain"] = 1 + ports.emulator % 230
    plain["hardware"]["link"]["local_port"] = ports.bridge
    device = str(gamepad) if "gamepad" in fault.harm else None
    plain["hardware"]["operator"] |= {"keyboard": True, "gamepad": device}
    return make_config(plain, f"fault {fault.name!r}")


def _row(
    fault: Fault, config: LaunchConfig, outcome: LaunchOutcome, harm: Harm, record: Path,
    stolen_ms: float,
) -> dict[str, Any]:
    robot, emulator = outcome.summary["robot"], outcome.reports.get("emulator", {})
    worst = emulator.get("worst", {})
    ended, cause = _final_posture(emulator), robot["cause"]
    stop_ticks = _stop_ticks(fault, harm, emulator)
    frames = sum(1 for _ in read_frames(record / "run.mcap"))
    torque = worst.get("torque_demand", float("nan"))
    ok = (
        ended in fault.ends
        and (fault.caused in cause if fault.caused else not cause)
        and torque <= TORQUE_MARGIN * config.robot_model.torque_limit.max()
        and frames > 0
        and (stop_ticks is None or stop_ticks <= fault.within)
    )
    return {
        "fault": fault.name,
        "ended": ended,
        "cause": cause,
        "ok": ok,
        "walked_s": robot.get("running_s"),
        "stop_ticks": stop_ticks,
        "torque_max": torque,
        "excursion_rad": worst.get("excursion", float("nan")),
        "temperature_max": worst.get("temperature", float("nan")),
        "frames_recorded": frames,
        "refused": {k: n for k, n in robot.get("frames", {}).items() if k != "accepted"},
        "stolen_ms": stolen_ms,
        "files": "" if ok else str(record.parent),
    }


def _final_posture(emulator: dict[str, Any]) -> str:
    """Posture at the end; a damped robot may still be sinking."""
    posture = emulator.get("posture", "unknown")
    return "sinking" if posture == "moving" and emulator["passive"] else posture


def _stop_ticks(fault: Fault, harm: Harm, emulator: dict[str, Any]) -> float | None:
    """From harm or button to the first damping command that the robot got [ticks of 1 ms]."""
    if not fault.within:
        return None
    pressed = emulator.get("button_pressed_at") or harm.done_at
    damped = emulator.get("first_damping_at")
    return float("nan") if pressed is None or damped is None else 1e3 * (damped - pressed)


@contextmanager
def _standard_input(of_terminal: bool) -> Iterator[int]:
    """A pipe or a terminal as this process's standard input; yields the end to write keys to."""
    write, read = pty.openpty() if of_terminal else reversed(os.pipe())
    os.set_blocking(write, False)
    kept = os.dup(0)
    os.dup2(read, 0)
    try:
        with raw_keys(0):
            yield write
    finally:
        os.dup2(kept, 0)
        for descriptor in (kept, read, write):
            os.close(descriptor)


@contextmanager
def _named_pipe(path: Path) -> Iterator[int]:
    """The end of a named pipe at which a gamepad's events are written."""
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _file_size_limit() -> Iterator[None]:
    """Restore the limit on the size of files on leaving."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield
    finally:
        sys.dont_write_bytecode = False
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


SHOWN = ("fault", "ended", "ok", "cause", "stop_ticks", "torque_max", "files")


@study("the emulated robot", "trials", "set")
def run(options: StudyOptions) -> StudyResult:
    """A row for each launch, ``trials`` of each fault; the files of those that fail are kept."""
    faults = [fault for fault in FAULTS for _ in range(options.count(1))]
    folder = Path(tempfile.mkdtemp(prefix="saltus-faults-"))
    rows = []
    for number, fault in enumerate(options.track(faults, lambda f: f.name)):
        rows.append(run_fault(fault, folder / str(number), options.settings))
        if rows[-1]["ok"]:
            shutil.rmtree(folder / str(number), ignore_errors=True)
    with suppress(OSError):  # it is not empty
        folder.rmdir()
    passed = sum(row["ok"] for row in rows)
    criteria = [Criterion("launches that ended as required", passed, ">=", len(rows))]
    return StudyResult(rows, columns=SHOWN, criteria=criteria)
